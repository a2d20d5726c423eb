package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
)

func sweepCommand() *cli.Command {
	const levels, measuring, output = "Levels:", "Measuring:", "Output:"
	return &cli.Command{
		Name:  "sweep",
		Usage: "ramp concurrency, find the knee and draw the capacity curve (the main job)",
		Flags: append(targetFlags(),
			&cli.StringFlag{Category: "Request shape:", Name: "trace", Usage: "take prompt and answer lengths from the recorded traffic of `FILE` (CSV or JSON lines), and its p95 in flight as a level if it tells how long requests took"},
			&cli.StringFlag{Category: levels, Name: "levels", Usage: "`LIST` of concurrency levels: 1,2,4,8 or 50:100:10 or 1:256:x2", DefaultText: "chosen around the knee while it runs"},
			&cli.IntFlag{Category: levels, Name: "max-concurrency", Value: 256, Usage: "highest level without --levels"},
			&cli.StringFlag{Category: levels, Name: "precision", Value: "0.10", Usage: "without --levels: measure until the knee is known within this share of it"},
			&cli.IntFlag{Category: measuring, Name: "warmup", Value: 5, Usage: "discarded requests per visit of a level, at least"},
			&cli.IntFlag{Category: measuring, Name: "measurements", Value: 10, Usage: "windows per level; the level's figure is their median"},
			&cli.DurationFlag{Category: measuring, Name: "window", DefaultText: "the larger of 1 s and half the median E2E; 300ms on the embedded endpoint", Usage: "length of a window"},
			&cli.IntFlag{Category: measuring, Name: "requests", Usage: "measure until at least so many requests per level were sent and have ended, instead of windows of a length"},
			&cli.IntFlag{Category: measuring, Name: "passes", Value: 2, Usage: "visits of every level: up, down, then shuffled"},
			&cli.DurationFlag{Category: measuring, Name: "think", Usage: "pause of a stream between two requests"},
			&cli.StringFlag{Category: measuring, Name: "max-error-rate", Value: "5%", Usage: "failed share above which a level is not valid"},
			sloFlag(measuring),
			metricsFlag(measuring),
			&cli.BoolFlag{Category: measuring, Name: "confirm", Usage: "afterwards send at the rate of the recommended level, whatever the answers do (open loop), and say whether it holds"},
			&cli.DurationFlag{Category: measuring, Name: "budget", Value: 15 * time.Minute, Usage: "longest time to measure"},
			&cli.IntFlag{Category: measuring, Name: "token-budget", Value: 2_000_000, Usage: "prompt and output tokens to spend at most"},
			&cli.StringFlag{Category: output, Name: "out", DefaultText: "kneesweep-YYYYMMDD-HHMMSS", Usage: "`FOLDER` for curve.json, journal.jsonl, curve.png, report.md and report.html"},
			&cli.StringFlag{Category: output, Name: "label", Usage: "`NAME` of this run in charts"},
			&cli.BoolFlag{Category: output, Name: "json", Usage: "print the curve as one JSON document instead of the table"},
			&cli.BoolFlag{Category: output, Name: "quiet", Usage: "no progress"},
			uiFlag(output),
			tuiFlag(output),
			&cli.BoolFlag{Category: output, Name: "v", Usage: "say every failed request"},
			&cli.BoolFlag{Category: output, Name: "dry-run", Usage: "say what the sweep would take at most, and send nothing"},
		),
		Action: configured(func(c *cli.Context) error {
			o, err := newSweepOptions(c)
			if err != nil {
				return err
			}
			if c.Bool("dry-run") {
				return o.dryRun(c)
			}
			return runSweep(c, o)
		}),
	}
}

// sweepOptions are the flags of sweep, checked.
type sweepOptions struct {
	target      target
	plan        levelPlan
	settings    load.Settings
	budget      time.Duration
	tokenBudget int
	out, label  string
	ui          string
	confirm     bool
	json, quiet bool
	tui         bool
	verbose     bool
}

func newSweepOptions(c *cli.Context) (o sweepOptions, err error) {
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	embedded := c.String("url") == ""
	plan, err := newLevelPlan(c)
	note(err)
	rate, err := parseShare("--max-error-rate", c.String("max-error-rate"))
	note(err)
	limits, err := parseSLO(c)
	note(err)
	o = sweepOptions{
		plan: plan,
		settings: load.Settings{
			Window: c.Duration("window"), Measurements: c.Int("measurements"), Passes: c.Int("passes"),
			Requests: c.Int("requests"), Think: c.Duration("think"), Warmup: c.Int("warmup"), MaxErrorRate: rate, Precision: plan.precision, SLO: limits,
		},
		budget: c.Duration("budget"), tokenBudget: c.Int("token-budget"),
		out: c.String("out"), label: c.String("label"), ui: c.String("ui"), tui: c.Bool("tui"),
		confirm: c.Bool("confirm"), json: c.Bool("json"), quiet: c.Bool("quiet"), verbose: c.Bool("v"),
	}
	if embedded && !c.IsSet("window") && !c.IsSet("requests") {
		o.settings.Window = embeddedWindow
	}
	note(o.checkNumbers(c))
	note(checkMetrics(c.String("metrics")))
	note(checkUI(o.ui))
	note(checkTUI(c))
	grid := o.plan.grid()
	o.settings.Passes = grid.Effective()
	connections := 1
	if len(plan.levels) > 0 {
		connections = plan.highest()
	}
	o.target, err = newTarget(c, c.App.ErrWriter, connections)
	note(err)
	if err := errors.Join(errs...); err != nil {
		return o, usage(err)
	}
	return o, nil
}

// The largest counts that make sense; more would only use up memory.
const (
	maxWindows = 100_000
	maxPasses  = 1000
)

// checkNumbers reports every count and duration that cannot be.
func (o *sweepOptions) checkNumbers(c *cli.Context) error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	s := o.settings
	bad(s.Measurements < 1 || s.Measurements > maxWindows, "--measurements: %d, need 1 to %d", s.Measurements, maxWindows)
	bad(s.Passes < 1 || s.Passes > maxPasses, "--passes: %d, need 1 to %d", s.Passes, maxPasses)
	bad(o.tokenBudget < 1, "--token-budget: %d, need at least 1", o.tokenBudget)
	bad(c.IsSet("requests") && s.Requests < 1, "--requests: %d, need at least 1", s.Requests)
	bad(c.IsSet("requests") && c.IsSet("window"), "--requests and --window: measure by count or by time, not both")
	bad(s.Warmup < 0, "--warmup: %d is negative", s.Warmup)
	bad(s.Think < 0, "--think: %v is negative", s.Think)
	bad(c.IsSet("window") && s.Window <= 0, "--window: %v, need a positive duration such as 1s", s.Window)
	bad(strings.ContainsFunc(o.label, unicode.IsControl), "--label: %q holds a control character", o.label)
	bad(o.budget <= 0, "--budget: %v, need a positive duration such as 15m", o.budget)
	return errors.Join(errs...)
}
