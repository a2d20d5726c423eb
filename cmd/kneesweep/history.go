package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/record/history"
	"kneesweep/report"
)

// historyVariable is the environment's --history; a URL with a password is not
// seen there by other users.
const historyVariable = "KNEESWEEP_HISTORY"

// historyTimeout is how long a sweep that has ended waits for its history.
const historyTimeout = time.Minute

func historyFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "history", DefaultText: "that of " + historyVariable, Usage: "keep the run in the history of a `FILE` or postgres://… (docs/history.md)"}
}

func historyCommand() *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "print one JSON document"}
	sub := func(name, usage, args string, action func(*cli.Context, *history.DB) error, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: args, HideHelpCommand: true, Flags: append([]cli.Flag{historyFlag("")}, flags...),
			Action: func(c *cli.Context) error { return withHistory(c, action) },
		}
	}
	return &cli.Command{
		Name: "history", Usage: "past sweeps: list, show, trend, week, starts, baseline, import, export, prune",
		Subcommands: []*cli.Command{
			sub("list", "the runs, the newest first", "", historyList, append(filterFlags(50), asJSON)...),
			sub("show", "one run as the sweep printed it", "ID", historyShow, asJSON),
			sub("trend", "knee and plateau of one endpoint, model and shape of request over time", "", historyTrend, append(filterFlags(0), asJSON,
				&cli.StringFlag{Name: "o", Usage: "draw it as `FILE`.png, .svg or .pdf"})...),
			sub("week", "draw a figure of one series by hour and weekday", "", historyWeek, append(filterFlags(0), weekFlags()...)...),
			sub("starts", "what became of the starts of nightly jobs, the newest first: done, failed, missed, skipped", "", historyStarts, asJSON,
				&cli.StringFlag{Name: "outcome", Usage: "only starts with this `OUTCOME`"},
				&cli.IntFlag{Name: "limit", Value: 50, Usage: "the newest so many"}),
			sub("baseline", "show the baselines, or make a run the baseline of its series", "[ID]", historyBaseline,
				&cli.BoolFlag{Name: "clear", Usage: "the run is the baseline no more"}),
			sub("import", "keep runs that were measured before: folders of runs, curve.json, journals", "FILE…", historyImport),
			sub("export", "write the curve.json of runs", "ID…", historyExport,
				&cli.StringFlag{Name: "o", Value: ".", Usage: "`FOLDER` for ID.json"}),
			sub("prune", "remove old runs, or only their journals, baselines excepted", "", historyPrune,
				&cli.StringFlag{Name: "journals", Usage: "remove no runs but journals in `FOLDER` and below, the oldest first"},
				&cli.StringFlag{Name: "to", Usage: "with --journals: until all of them together have this `SIZE`, such as 10GB"},
				&cli.StringFlag{Name: "older", Usage: "remove what is older than `AGE`, such as 90d or 36h"},
				&cli.BoolFlag{Name: "dry-run", Usage: "say what would be removed, and remove nothing"}),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("history: no such command: %q (there are list, show, trend, week, starts, baseline, import, export, prune)", c.Args().First())
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// filterFlags are those that choose runs.
func filterFlags(limit int) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "target", Usage: "only runs against this `ADDRESS`, as list shows it"},
		&cli.StringFlag{Name: "model", Usage: "only runs of this `MODEL`"},
		&cli.StringFlag{Name: "label", Usage: "only runs with this `LABEL`"},
		&cli.StringFlag{Name: "since", Usage: "only what started within this `AGE` (90d, 36h) or since a date (2026-11-01)"},
		&cli.IntFlag{Name: "limit", Value: limit, Usage: "the newest so many; 0 = all"},
	}
}

// newFilter reads which runs are asked for; their flags are all that there is to say.
func newFilter(c *cli.Context) (history.Filter, error) {
	if err := noArguments(c); err != nil {
		return history.Filter{}, err
	}
	f := history.Filter{Target: c.String("target"), Model: c.String("model"), Label: c.String("label"), Limit: c.Int("limit")}
	if f.Limit < 0 {
		return f, usagef("--limit: %d is negative", f.Limit)
	}
	var err error
	if text := c.String("since"); c.IsSet("since") {
		if f.Since, err = time.Parse(time.DateOnly, text); err != nil {
			f.Since, err = ago("--since", text)
		}
	}
	return f, err
}

// ago is the time before an age such as 90d or 36h.
func ago(flag, text string) (time.Time, error) {
	age, err := time.ParseDuration(text)
	var days int
	if _, derr := fmt.Sscanf(text, "%dd", &days); derr == nil && fmt.Sprintf("%dd", days) == text {
		age, err = time.Duration(days)*24*time.Hour, nil
	}
	if err != nil || age <= 0 || days > 100*365 {
		return time.Time{}, usagef("%s: %.40q is not an age; write 90d or 36h", flag, text)
	}
	return time.Now().Add(-age), nil
}

// historyAddress is where the flag or the environment says that the history is;
// given is false when neither does.
func historyAddress(c *cli.Context) (at history.Address, given bool, err error) {
	text, name := c.String("history"), "--history"
	if !c.IsSet("history") {
		if text, name = os.Getenv(historyVariable), historyVariable; text == "" {
			return at, false, nil
		}
	}
	if at, err = history.ParseAddress(text); err != nil {
		return at, true, fmt.Errorf("%s: %w", name, err)
	}
	return at, true, nil
}

// withHistory opens the history for an action. Only import makes a new one.
func withHistory(c *cli.Context, action func(*cli.Context, *history.DB) error) error {
	at, given, err := historyAddress(c)
	switch {
	case err != nil:
		return usage(err)
	case !given:
		return usagef("--history: needed, a file or postgres://…; or set %s", historyVariable)
	}
	db, err := history.Open(c.Context, at, c.Command.Name == "import")
	if err != nil {
		return failed(err)
	}
	defer db.Close()
	err = action(c, db)
	var e exitError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return failed(err)
}

// keepRun puts a run that has ended into its history. Its result is on disk by
// then: whatever the database says, the sweep has done its work, and so this only
// warns.
func (o *sweepOptions) keepRun(c *cli.Context, dir string, curve analysis.Curve, failure string) {
	if o.history == nil {
		return
	}
	// A run that a signal ended is kept as well.
	ctx, stop := context.WithTimeout(context.WithoutCancel(c.Context), historyTimeout)
	defer stop()
	if err := putCurve(ctx, *o.history, curve, failure, o.earlier != nil); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "warning: the run is not in the history: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		fmt.Fprintf(c.App.ErrWriter, "warning: its result is in %s; later: kneesweep history import %s --history …\n", dir, dir)
	}
}

// past is what the earlier runs of its series make of a run, which it also says; nil
// without a history, or where there is no curve.
func (o *sweepOptions) past(c *cli.Context, curve analysis.Curve, failure string) *judged {
	if o.history == nil || failure != "" {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(c.Context), historyTimeout)
	defer stop()
	db, err := history.Open(ctx, *o.history, false)
	if err != nil {
		return nil // that it cannot be reached is said already
	}
	defer db.Close()
	j, err := judgeRun(ctx, db, curve)
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "warning: the run was not held against the history: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return nil
	}
	fmt.Fprintf(c.App.ErrWriter, "against the history: %s\n", j.sentence())
	return &j
}

func putCurve(ctx context.Context, at history.Address, curve analysis.Curve, failure string, replace bool) error {
	document, err := report.MarshalCurve(curve)
	if err != nil {
		return err
	}
	db, err := history.Open(ctx, at, true)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Put(ctx, history.Record{Curve: curve, Document: document, Failure: failure, Replace: replace})
	return err
}

// failureOf says why a run has no curve; empty = it has one.
func failureOf(data analysis.Data, curve analysis.Curve) string {
	if p := curve.Run.Preflight; p != nil {
		return curve.Run.StopReason
	}
	return analysis.Unusable(data, curve)
}
