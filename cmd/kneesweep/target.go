package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/workload"
)

// The request shape when nothing else is said: short questions, so that a slot
// decodes most of the time even on a server that reads prompts slowly.
const (
	defaultInput  = 64
	defaultOutput = 128
)

// targetFlags say what is asked, of whom: shared by sweep and ping.
func targetFlags() []cli.Flag {
	const target, shape = "Target:", "Request shape:"
	return slices.Concat(tlsFlags(target), []cli.Flag{configFlag(target)}, dialectFlags(target), []cli.Flag{
		&cli.StringFlag{Category: target, Name: "url", Usage: "base `ADDRESS` of the endpoint, e.g. http://host:8000/v1, or else that of the environment variable " + baseURLVariable + "; without both, or with '', the embedded simulated endpoint is used"},
		&cli.StringFlag{Category: target, Name: "model", Usage: "model `NAME`"},
		&cli.StringFlag{Category: target, Name: "api-key-env", Value: "OPENAI_API_KEY", Usage: "`NAME` of the environment variable that holds the key"},
		&cli.StringFlag{Category: target, Name: "api-key", Usage: "the `KEY` itself (others can see it in the list of processes)"},
		&cli.StringSliceFlag{Category: target, Name: "header", Usage: "send a header, `'K: V'` (repeatable)"},
		&cli.BoolFlag{Category: target, Name: "new-connection", Usage: "open a new connection for each request"},
		&cli.IntFlag{Category: target, Name: "retries", Usage: "attempts after a failed one; latency runs from the first"},
		&cli.DurationFlag{Category: target, Name: "timeout-connect", Value: client.DefaultTimeoutConnect, Usage: "limit on dialling and TLS"},
		&cli.DurationFlag{Category: target, Name: "timeout-first-token", Value: client.DefaultTimeoutFirstToken, Usage: "limit on the wait for the first token"},
		&cli.DurationFlag{Category: target, Name: "timeout-idle", Value: client.DefaultTimeoutIdle, Usage: "limit on silence after the first token"},
		&cli.StringFlag{Category: shape, Name: "input-tokens", DefaultText: "64", Usage: "prompt length in `TOKENS` (random common words): 512, uniform:100:900, normal:512:100, lognormal:512:0.5 or file:lengths.csv"},
		&cli.StringFlag{Category: shape, Name: "output-tokens", DefaultText: "128; 40 on the embedded endpoint", Usage: "longest answer in `TOKENS`, likewise"},
		&cli.IntFlag{Category: shape, Name: "shared-prefix", Usage: "begin prompts with so many `TOKENS` more, which many of them share"},
		&cli.StringFlag{Category: shape, Name: "prefix-hit", Value: "100%", Usage: "`SHARE` of the prompts whose beginning of --shared-prefix is a common one"},
		&cli.IntFlag{Category: shape, Name: "turns", Value: 1, Usage: "ask conversations of `N` requests, each with all that was said before"},
		&cli.StringFlag{Category: shape, Name: "prompts", Usage: "ask the prompts of `FILE`: JSON lines of {\"prompt\":…} or {\"messages\":[…]}, ShareGPT, or a batch for OpenAI"},
		&cli.BoolFlag{Category: shape, Name: "skip-bad-lines", Usage: "leave lines of a file out that cannot be used, and say how many"},
		&cli.Uint64Flag{Category: shape, Name: "seed", Value: 1, Usage: "seed of everything random"},
	})
}

// target is the endpoint of a command: a real one, or the embedded simulation.
type target struct {
	config   client.Config
	source   workload.Prompts
	embedded bool
	insecure bool // the server may be anybody
}

// address is where an endpoint is and how it is asked for.
type address struct {
	url, model, key string
	headers         http.Header
}

// newTarget reads the flags. Connections is the size of the pool.
func newTarget(c *cli.Context, stderr io.Writer, connections int) (target, error) {
	headers, headerErr := parseHeaders(c.StringSlice("header"))
	key, keyErr := apiKey(c, stderr)
	a := address{url: c.String("url"), model: c.String("model"), key: key, headers: headers}
	t, errs := targetAt(c, a, connections)
	errs = append(errs, headerErr, keyErr)
	if t.embedded {
		t.config.URL, t.config.APIKey = "http://127.0.0.1", "" // the real address is known when it listens
		t.config.Model = embeddedModel
		if m := c.String("model"); m != "" && m != embeddedModel {
			errs = append(errs, fmt.Errorf("--model: %q needs --url; the embedded endpoint serves %q", m, embeddedModel))
		}
	} else if t.config.Model == "" {
		errs = append(errs, fmt.Errorf("--model: needed with %s (--url '' sweeps the embedded endpoint)", urlSource(c)))
	}
	errs = append(errs, checkTimeouts(c))
	if err := t.config.Validate(); err != nil {
		if sourcesOf(c).environment {
			err = fmt.Errorf("%w (the address comes from %s)", err, baseURLVariable)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return t, usage(err)
	}
	t.warnInsecure(stderr)
	return t, nil
}

// targetAt is the endpoint at an address, asked as the flags say. Its configuration
// is still to be validated.
func targetAt(c *cli.Context, a address, connections int) (t target, errs []error) {
	t.embedded = a.url == ""
	source, sourceErr := newPrompts(c, t.embedded)
	t.source = source
	trust, tlsErr := tlsConfig(c)
	t.config = client.Config{
		URL: a.url, Model: a.model, APIKey: a.key, Headers: a.headers, TLS: trust,
		NewConnection: c.Bool("new-connection"), Retries: c.Int("retries"), Connections: connections,
		TimeoutConnect: c.Duration("timeout-connect"), TimeoutFirstToken: c.Duration("timeout-first-token"),
		TimeoutIdle: c.Duration("timeout-idle"), Seed: c.Uint64("seed"), Epoch: time.Now(), Secrets: sourcesOf(c).secrets,
	}
	ask(c, &t.config)
	errs = []error{sourceErr, tlsErr}
	if sourceErr == nil {
		errs = append(errs, checkLeast(t.config.MinTokens, source.Describe().OutputTokensAsked))
	}
	t.insecure = c.Bool("insecure") && !t.embedded
	return t, errs
}

// warnInsecure says that the server may be anybody, if so.
func (t *target) warnInsecure(stderr io.Writer) {
	if t.insecure {
		fmt.Fprintln(stderr, "warning: "+load.InsecureText)
	}
}

// checkTimeouts refuses limits that no request can keep.
func checkTimeouts(c *cli.Context) error {
	var errs []error
	for _, flag := range []string{"timeout-connect", "timeout-first-token", "timeout-idle"} {
		if c.Duration(flag) == 0 {
			errs = append(errs, fmt.Errorf("--%s: 0 would end every request; give a positive duration such as 30s", flag))
		}
	}
	return errors.Join(errs...)
}

// urlSource says where the address was given.
func urlSource(c *cli.Context) string {
	if s := sourcesOf(c); !s.environment {
		return s.where("--url")
	}
	return baseURLVariable
}

// conventional is how names of environment variables look.
var conventional = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// apiKey returns the key, which is never written anywhere.
func apiKey(c *cli.Context, stderr io.Writer) (string, error) {
	if key := c.String("api-key"); key != "" {
		fmt.Fprint(stderr, sourcesOf(c).keyHint())
		return key, nil
	}
	name := c.String("api-key-env")
	key := os.Getenv(name)
	switch {
	case key != "" || !c.IsSet("api-key-env"):
		return key, nil
	case !conventional.MatchString(name): // perhaps the key itself: not shown
		return "", errors.New("--api-key-env: there is no such environment variable; give the name of one, such as OPENAI_API_KEY, not the key")
	}
	return "", fmt.Errorf("--api-key-env: the environment variable %s is empty", name)
}

// parseHeaders reads what was given as 'Name: value'. A value may hold a secret, and
// so may a text without a name: neither is shown.
func parseHeaders(list []string) (http.Header, error) {
	h := http.Header{}
	for i, s := range list {
		name, value, ok := strings.Cut(s, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("--header: number %d is not 'Name: value'; write the name, a colon and the value, all in quotes", i+1)
		case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
			return nil, fmt.Errorf("--header: %.40q is not a header name; write it without spaces, e.g. 'X-Api-Key: value'", name)
		case strings.ContainsAny(value, "\r\n\x00"):
			return nil, fmt.Errorf("--header: the value of %.40s contains a line end; remove it, and give each header a --header of its own", name)
		}
		h.Add(name, value)
	}
	return h, nil
}
