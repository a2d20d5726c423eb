package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/workload"
)

const maxModelsShown = 12

// preflight sends one request, so that a wrong address, key, model or parameter
// costs one request and not a sweep. Its error says what the server said and
// which flag to change.
func preflight(c *cli.Context, cl *client.Client, t *target) (load.Sample, error) {
	p := t.source.Prompt(workload.Preflight)
	s := cl.Send(c.Context, p)
	if code, ok := interruptCode(c.Context); ok {
		return s, exitError{code, errors.New("interrupted before the first measurement")}
	}
	if !s.Failed() {
		if s.TokenSource != load.SourceServer {
			fmt.Fprintln(c.App.ErrWriter, "hint: the server sends no usage, so tokens are counted by chunks and marked as estimated")
		}
		return s, nil
	}
	text := fmt.Sprintf("preflight: one request to %s failed (%s)", cl.Endpoint(), s.Cause)
	if s.Error != "" {
		text += ": " + s.Error
	}
	return s, failed(fmt.Errorf("%s\nnothing was measured; %s", text, mend(c.Context, cl, &t.config, &s)))
}

// mend names what to change after a failed preflight.
func mend(ctx context.Context, cl *client.Client, config *client.Config, s *load.Sample) string {
	if flag := refusedField(s.Error, config); flag != "" && s.Status >= 400 && s.Status < 500 {
		return "the server names a field of the request: try " + flag
	}
	switch {
	case s.Cause == load.CauseConnect && strings.Contains(s.Error, "HTTPS_PROXY"):
		return "check the proxy that the environment names; hosts in NO_PROXY are asked without one"
	case s.Cause == load.CauseConnect:
		return "check --url, and that the server is up"
	case s.Cause == load.CauseTLS && strings.Contains(s.Error, "--client-cert"):
		return "a certificate of yours is given by --client-cert and --client-key"
	case strings.Contains(s.Error, "speaks only HTTP/2"):
		return "check --url"
	case s.Cause == load.CauseTLS:
		return "check --url; an authority of your own is given by --ca-cert"
	case s.Status == 401 || s.Status == 403:
		return "check the key (--api-key-env), how it is sent (--auth) and the headers (--header)"
	case s.Status == 404 || strings.Contains(strings.ToLower(s.Error), "model"):
		return models(ctx, cl, config.Model)
	case s.Status == 400 || s.Status == 422:
		return "if the server refuses a field, leave it out with --omit-field; if it speaks another format, choose it with --dialect"
	case s.Status == 429:
		return "the endpoint is throttling already"
	case s.Cause == load.CauseTimeoutFirstToken:
		return "if the server is that slow, raise --timeout-first-token"
	}
	return "kneesweep ping shows one request in detail"
}

// models compares the name asked for with what the server serves.
func models(ctx context.Context, cl *client.Client, model string) string {
	names, err := cl.Models(ctx)
	switch {
	case err != nil:
		return fmt.Sprintf("check the path in --url and the name in --model (%v), or try another --dialect", err)
	case slices.Contains(names, model):
		return fmt.Sprintf("the server has a model %q: check the path in --url, and --dialect", model)
	case len(names) == 0:
		return "check --model: the server lists no models"
	}
	more := ""
	if len(names) > maxModelsShown {
		more = fmt.Sprintf(" and %d more", len(names)-maxModelsShown)
		names = names[:maxModelsShown]
	}
	return fmt.Sprintf("check --model: the server has %s%s", strings.Join(names, ", "), more)
}
