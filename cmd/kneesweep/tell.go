package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/analysis/regress"
	"kneesweep/load"
	"kneesweep/record/prom"
	"kneesweep/sweep"
)

// The environment's addresses, which other users of the machine cannot see there.
const (
	webhookVariable = "KNEESWEEP_WEBHOOK"
	gatewayVariable = "KNEESWEEP_PUSHGATEWAY"
)

// tellTimeout is how long a sweep that has ended waits for each of those it tells.
const tellTimeout = 30 * time.Second

// tellFlags say who is told when a sweep has ended.
func tellFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: category, Name: "webhook", DefaultText: "that of " + webhookVariable, Usage: "post the verdict as JSON to a `URL` when the sweep has ended"},
		&cli.StringFlag{Category: category, Name: "webhook-format", DefaultText: "slack for hooks.slack.com, else json", Usage: "json (docs/telling.md) or slack, which others read as well"},
		&cli.StringFlag{Category: category, Name: "metrics-file", Usage: "write Prometheus metrics to `FILE`.prom, for the textfile collector of node_exporter"},
		&cli.StringFlag{Category: category, Name: "pushgateway", DefaultText: "that of " + gatewayVariable, Usage: "push Prometheus metrics to the Pushgateway at a `URL`"},
	}
}

// telling is who is told, checked.
type telling struct {
	webhook, format string
	file, gateway   string
}

// newTelling reads the flags. Its errors show no address: it may be a credential.
func newTelling(c *cli.Context) (t telling, err error) {
	given := func(flag, variable string) (string, string) {
		if c.IsSet(flag) {
			return c.String(flag), "--" + flag
		}
		return os.Getenv(variable), variable
	}
	var errs []error
	address := func(flag, variable string) string {
		text, name := given(flag, variable)
		if text == "" && !c.IsSet(flag) {
			return ""
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			errs = append(errs, fmt.Errorf("%s: not an address such as https://host/path", name))
		}
		return text
	}
	t.webhook, t.gateway, t.file = address("webhook", webhookVariable), address("pushgateway", gatewayVariable), c.String("metrics-file")
	t.format = c.String("webhook-format")
	switch {
	case c.IsSet("webhook-format") && t.webhook == "":
		errs = append(errs, errors.New("--webhook-format: works with --webhook, the address"))
	case t.format == "":
		t.format = formatOf(t.webhook)
	case t.format != "json" && t.format != "slack":
		errs = append(errs, fmt.Errorf("--webhook-format: %q, need json or slack", t.format))
	}
	if c.IsSet("metrics-file") {
		if !strings.HasSuffix(t.file, ".prom") {
			errs = append(errs, fmt.Errorf("--metrics-file: %q must end in .prom, or node_exporter does not read it", t.file))
		} else if info, err := os.Stat(filepath.Dir(t.file)); err != nil || !info.IsDir() {
			errs = append(errs, fmt.Errorf("--metrics-file: %s is no folder", filepath.Dir(t.file)))
		}
	}
	if c.IsSet("target") {
		for _, flag := range []string{"webhook", "metrics-file", "pushgateway"} {
			if c.IsSet(flag) {
				errs = append(errs, fmt.Errorf("--%s and --target: give one of them; sweeps of one endpoint are told", flag))
			}
		}
	}
	return t, errors.Join(errs...)
}

// counted is the sink that keeps the metrics of a running sweep up to date.
func counted(m *prom.Metrics) sweep.Sink {
	return func(e sweep.Event) {
		switch {
		case e.Sample != nil:
			m.Sample(e.Sample)
		case e.Visit != nil:
			m.Level(e.Visit.Level.Concurrency)
		}
	}
}

// tell tells everybody how a sweep ended. Its result is on disk by then: who cannot be
// told is warned of, and the exit code stays.
func (o *sweepOptions) tell(c *cli.Context, m *prom.Metrics, curve analysis.Curve, failure string, past *judged) {
	result := prom.Result{
		Steps: curve.Steps, Verdict: string(curve.Knee.Verdict), Status: curve.Run.Status, Knee: curve.Knee.Concurrency, Plateau: curve.Knee.Plateau,
		Recommended: curve.Recommended.Concurrency, Usable: failure == "", Ended: time.Now(),
	}
	if past != nil {
		result.Regression = load.Some(past.report.Verdict == regress.Regression)
	}
	m.Finish(result)
	warn := func(flag string, err error) {
		if err != nil {
			fmt.Fprintf(c.App.ErrWriter, "warning: --%s: %s\n", flag, strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	if o.telling.file != "" {
		warn("metrics-file", bare(m.WriteFile(o.telling.file)))
	}
	// A run that a signal ended is told of as well.
	ctx := context.WithoutCancel(c.Context)
	if o.telling.gateway != "" {
		ctx, stop := context.WithTimeout(ctx, tellTimeout)
		defer stop()
		warn("pushgateway", m.Push(ctx, o.telling.gateway, teller))
	}
	if o.telling.webhook != "" {
		ctx, stop := context.WithTimeout(ctx, tellTimeout)
		defer stop()
		warn("webhook", post(ctx, o.telling.webhook, o.telling.message(curve, failure, past)))
	}
}

// teller goes where it is sent and no further: what follows a redirect could be anybody.
var teller = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
