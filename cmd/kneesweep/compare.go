package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/compare"
	"kneesweep/plots"
	"kneesweep/report"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "whether the last run is worse than earlier ones, by how much, and how sure that is",
		ArgsUsage: "OLD… NEW | FOLDER of a sweep with --target",
		Description: "OLD and NEW are journals, curve.json, CSV, folders of runs, or result files of other tools, each a run of its own (join\n" +
			"several by analyze --json); NEW is the last. With three OLD or more, from the oldest\n" +
			"to the latest, the scatter between them decides; else NEW is tested against the last OLD. Targets of one sweep with --target\n" +
			"are compared visit by visit, so that drift cancels: the others with the first, or two that are named.\n\n" +
			"Exit codes: 0 no regression is shown, 3 one is, 4 it cannot be told (nothing valid, or nothing in common), 2 usage, or\n" +
			"runs that did not do the same work, 1 a file cannot be read or written.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "min-effect", Value: "5%", Usage: "smallest relative change that matters, a `SHARE` as 0.05 or 5%"},
			&cli.BoolFlag{Name: "force", Usage: "compare runs that did not do the same work, and say so"},
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "also draw the curves into one chart, `FILE`.png, .svg or .pdf"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown, for a ticket"},
		},
		Action: func(c *cli.Context) error {
			o, err := compareFlags(c)
			if err != nil {
				return err
			}
			if folders := inTurn(c.Args().Slice()); folders != nil {
				return comparePaired(c, folders, o)
			}
			var sources []source
			for _, path := range c.Args().Slice() { // one at a time: each is a run of its own, also of another tool
				s, err := readSources([]string{path}, c.App.ErrWriter, "", true)
				if err != nil {
					return err
				}
				sources = append(sources, s...)
			}
			return compareRuns(c, sources, o)
		},
	}
}

// compareOptions are the flags of compare, checked.
type compareOptions struct {
	compare.Options
	force       bool
	out, format string
	write       func(*cli.Context, compare.Comparison) error
}

func compareFlags(c *cli.Context) (compareOptions, error) {
	o := compareOptions{force: c.Bool("force"), out: c.String("o")}
	effect, err := parseShare("--min-effect", c.String("min-effect"))
	o.MinEffect = effect
	o.format = strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	switch {
	case err != nil:
		return o, usage(err)
	case effect <= 0 || effect >= 1:
		return o, usagef("--min-effect: %s, need a share above 0 and below 1", c.String("min-effect"))
	case c.NArg() < 2 && inTurn(c.Args().Slice()) == nil:
		return o, usagef("compare needs OLD and NEW, or the folder of a sweep of several targets, got %d", c.NArg())
	case c.Bool("json") && c.Bool("markdown"):
		return o, usagef("--json and --markdown: choose one")
	case o.out != "" && !slices.Contains(plots.Formats(), o.format):
		return o, usagef("-o: %q must end in one of .%s", o.out, strings.Join(plots.Formats(), ", ."))
	}
	o.write = func(c *cli.Context, x compare.Comparison) error { return report.ComparisonTable(c.App.Writer, x) }
	switch {
	case c.Bool("json"):
		o.write = func(c *cli.Context, x compare.Comparison) error { return report.ComparisonJSON(c.App.Writer, x) }
	case c.Bool("markdown"):
		o.write = func(c *cli.Context, x compare.Comparison) error { return report.ComparisonMarkdown(c.App.Writer, x) }
	}
	return o, nil
}

// compareRuns compares the last of the sources with those before it.
func compareRuns(c *cli.Context, sources []source, o compareOptions) error {
	runs := make([]compare.Run, len(sources))
	for i, s := range sources {
		runs[i] = compare.Run{Curve: s.curve, Data: s.data}
	}
	last := len(runs) - 1
	result := compare.Runs(runs[:last], runs[last], o.Options)
	if result.Forced() && !o.force {
		return usage(notComparable(result))
	}
	if o.out != "" {
		fig, err := plots.Overlay(curvesOf(sources), plots.AxisAuto)
		if err == nil {
			err = writeFigure(o.out, o.format, fig, c.App.ErrWriter)
		}
		if err != nil {
			return failed(err)
		}
	}
	if err := o.write(c, result); err != nil {
		return failed(err)
	}
	switch result.Verdict {
	case compare.Regression:
		return exitError{exitMissed, nil}
	case compare.CannotTell:
		return exitError{exitNoCurve, nil}
	}
	return nil
}

// notComparable lists what keeps runs from being compared.
func notComparable(c compare.Comparison) error {
	errs := []error{errors.New("the runs did not do the same work; sweep again alike, or compare with --force")}
	for _, d := range c.Differences {
		if d.Fatal {
			errs = append(errs, fmt.Errorf("%s: OLD %s, NEW %s", d.Field, d.Old, d.New))
		}
	}
	return errors.Join(errs...)
}
