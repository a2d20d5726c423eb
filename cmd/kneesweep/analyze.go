package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/report"
)

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "curve, table and verdict from a journal, a curve.json, a CSV or the result files of another tool",
		ArgsUsage: "FILE…",
		Flags: append(slices.Concat(atFlags(), priceFlags(), htmlFlags()),
			&cli.StringFlag{Name: "out", Usage: "also write curve.json, curve.png, report.md and report.html to `FOLDER`"},
			sloFlag(""),
			whereFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document (a list when there are several curves)"},
		),
		Action: analyze,
	}
}

func analyze(c *cli.Context) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		return usagef("analyze needs at least one FILE")
	}
	limits, err := parseSLO(c)
	if err != nil {
		return usage(err)
	}
	question, err := newAtQuestion(c)
	if err != nil {
		return usage(err)
	}
	prices, err := parsePrices(c)
	if err != nil {
		return usage(err)
	}
	where, err := parseWhere(c)
	if err != nil {
		return usage(err)
	}
	if len(where) > 0 && (question.asked || limits != "") {
		return usagef("--where: works without --at and --slo, which are about all requests")
	}
	sources, err := readSources(files, c.App.ErrWriter, limits, limits != "" || question.asked || len(where) > 0 || c.String("baseline") != "")
	if err != nil {
		return err
	}
	if err := splitSources(sources, where); err != nil {
		return err
	}
	if err := question.answer(sources); err != nil {
		return err
	}
	price(sources, prices)
	curves := curvesOf(sources)
	if c.String("out") != "" && len(curves) > 1 {
		return usagef("--out: works with one curve, and these files make %d", len(curves))
	}
	if dir := c.String("out"); dir != "" {
		if err := analyzeTo(dir, curves[0]); err != nil {
			return failed(err)
		}
	}
	if err := writeHTML(c, sources); err != nil {
		return err
	}
	if err := printCurves(c, sources); err != nil {
		return err
	}
	return slosExit(c, curves)
}

// printCurves writes the curves as JSON or as tables.
func printCurves(c *cli.Context, sources []source) error {
	if c.Bool("json") {
		return writeCurvesJSON(c.App.Writer, curvesOf(sources))
	}
	for _, s := range sources {
		if len(sources) > 1 {
			fmt.Fprintf(c.App.Writer, "%s\n", s.path)
		}
		if err := report.Table(c.App.Writer, s.curve); err != nil {
			return failed(err)
		}
	}
	return nil
}

func analyzeTo(dir string, curve analysis.Curve) error {
	out, err := openOutput(dir, curve.Run.Started)
	if err != nil {
		return err
	}
	return out.write(curve)
}

// writeCurvesJSON writes one document: the curve, or a list of several.
func writeCurvesJSON(w io.Writer, curves []analysis.Curve) error {
	if len(curves) == 1 {
		return outputError(report.CurveJSON(w, curves[0]))
	}
	for i, c := range curves {
		doc, err := report.MarshalCurve(c)
		if err != nil {
			return failed(err)
		}
		open, end := ",\n", ""
		if i == 0 {
			open = "[\n"
		}
		if i == len(curves)-1 {
			end = "\n]\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s%s", open, strings.TrimSpace(string(doc)), end); err != nil {
			return failed(err)
		}
	}
	return nil
}
