package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
	"kneesweep/record/history"
)

func sweepCommand() *cli.Command {
	const levels, measuring, output = "Levels:", "Measuring:", "Output:"
	return &cli.Command{
		Name:  "sweep",
		Usage: "ramp concurrency, find the knee and draw the capacity curve (the main job)",
		Flags: append(slices.Concat(targetFlags(), priceFlags(), rateFlags(levels), replayFlags(levels), tellFlags("Telling:")),
			targetsFlag("Target:"),
			matrixFlag("Request shape:"),
			cacheFlag("Request shape:"),
			canaryFlag("Request shape:"),
			canaryShareFlag("Request shape:"),
			&cli.StringFlag{Category: "Request shape:", Name: "trace", Usage: "take prompt and answer lengths from the recorded traffic of `FILE` (CSV or JSON lines), and its p95 in flight as a level if it tells how long requests took"},
			&cli.StringFlag{Category: levels, Name: "levels", Usage: "`LIST` of concurrency levels: 1,2,4,8 or 50:100:10 or 1:256:x2", DefaultText: "chosen around the knee while it runs"},
			&cli.IntFlag{Category: levels, Name: "max-concurrency", Value: 256, Usage: "highest level without --levels; with --rates, most requests in flight"},
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
			&cli.Float64Flag{Category: measuring, Name: "money-budget", DefaultText: "none", Usage: "`MONEY` to spend at most, by the prices"},
			&cli.StringFlag{Category: output, Name: "out", DefaultText: "kneesweep-YYYYMMDD-HHMMSS", Usage: "`FOLDER` for curve.json, journal.jsonl, curve.png, report.md and report.html"},
			resumeFlag(output),
			&cli.StringFlag{Category: output, Name: "journal", Value: load.KeepChunks, Usage: "what the journal keeps: chunks (any figure can be computed again), requests (without the arrivals of their tokens) or none (only the levels)"},
			&cli.StringFlag{Category: output, Name: "label", Usage: "`NAME` of this run in charts"},
			historyFlag(output),
			&cli.BoolFlag{Category: output, Name: "json", Usage: "print the curve as one JSON document instead of the table"},
			&cli.BoolFlag{Category: output, Name: "quiet", Usage: "no progress"},
			uiFlag(output),
			tuiFlag(output),
			&cli.BoolFlag{Category: output, Name: "v", Usage: "say every failed request"},
			&cli.BoolFlag{Category: output, Name: "dry-run", Usage: "say what the sweep would take at most, and send nothing"},
		),
		Action: configured(func(c *cli.Context) error {
			if c.IsSet("matrix") {
				return runMatrix(c)
			}
			o, err := newSweepOptions(c)
			if err != nil {
				return err
			}
			if c.Bool("dry-run") {
				return o.dryRun(c)
			}
			if len(o.targets) > 0 {
				return runTargets(c, o)
			}
			return runSweep(c, o)
		}),
	}
}

// sweepOptions are the flags of sweep, checked.
type sweepOptions struct {
	target      target        // the first of several
	targets     []namedTarget // several, swept in turn; empty = one
	plan        levelPlan
	open        openOptions
	settings    load.Settings
	budget      time.Duration
	tokenBudget int
	money       float64 // 0 = no such budget
	out, label  string
	history     *history.Address // nil = not kept
	telling     telling
	earlier     *earlier // what an interrupted sweep left; nil = a new sweep
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
	several := c.IsSet("target")
	embedded := c.String("url") == "" && !several
	plan, err := newLevelPlan(c)
	note(err)
	if several {
		plan.doubled(c)
	}
	rate, err := parseShare("--max-error-rate", c.String("max-error-rate"))
	note(err)
	limits, err := parseSLO(c)
	note(err)
	prices, err := parsePrices(c)
	note(err)
	open, err := newOpenOptions(c)
	note(err)
	o = sweepOptions{
		plan: plan, open: open,
		settings: load.Settings{
			Window: c.Duration("window"), Measurements: c.Int("measurements"), Passes: c.Int("passes"),
			Requests: c.Int("requests"), Think: c.Duration("think"), Warmup: c.Int("warmup"), MaxErrorRate: rate, Precision: plan.precision, SLO: limits, Prices: prices,
			Journal: c.String("journal"),
		},
		budget: c.Duration("budget"), tokenBudget: c.Int("token-budget"),
		out: c.String("out"), label: c.String("label"), ui: c.String("ui"), tui: c.Bool("tui"),
		confirm: c.Bool("confirm"), json: c.Bool("json"), quiet: c.Bool("quiet"), verbose: c.Bool("v"),
	}
	o.open.setOpen(&o.settings)
	if embedded && !c.IsSet("window") && !c.IsSet("requests") && !o.settings.Open() {
		o.settings.Window = embeddedWindow
	}
	note(o.checkNumbers(c))
	if err == nil {
		note(o.checkMoney(c))
	}
	if at, given, err := historyAddress(c); given {
		o.history = &at
		note(err)
	}
	note(checkResume(c))
	o.telling, err = newTelling(c)
	note(err)
	note(checkMetrics(c.String("metrics")))
	note(o.checkViews(c))
	grid := o.plan.grid()
	if o.settings.Passes = grid.Effective(); o.settings.Replay {
		o.settings.Passes = 1
	}
	note(o.aim(c, several))
	if err := errors.Join(errs...); err != nil {
		return o, usage(err)
	}
	return o, o.resume(c)
}

// aim reads what is to be swept: one target, or several.
func (o *sweepOptions) aim(c *cli.Context, several bool) (err error) {
	connections := 1
	if len(o.plan.levels) > 0 {
		connections = o.plan.highest()
	}
	if !several {
		o.target, err = newTarget(c, c.App.ErrWriter, connections)
		return err
	}
	if o.targets, err = newTargets(c, connections); err == nil {
		o.target = o.targets[0].target
	}
	return err
}

// checkViews reports a view that cannot be had, or that would show nothing.
func (o *sweepOptions) checkViews(c *cli.Context) error {
	err := errors.Join(checkUI(o.ui), checkTUI(c))
	if (o.ui != "" || o.tui) && (c.IsSet("target") || c.IsSet("matrix") || o.settings.Open()) {
		err = errors.Join(err, errors.New("--ui and --tui: follow the levels of one target; leave them out with --target, --matrix, --rates and --replay"))
	}
	return err
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
	bad(!slices.Contains([]string{load.KeepChunks, load.KeepRequests, load.KeepNone}, s.Journal), "--journal: %.40q is unknown; give chunks, requests or none", s.Journal)
	bad(o.confirm && s.Journal == load.KeepNone, "--journal: none keeps nothing to compute --confirm from; give requests")
	bad(o.budget <= 0, "--budget: %v, need a positive duration such as 15m", o.budget)
	return errors.Join(errs...)
}
