package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/report"
)

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "curve, table and verdict from a journal, a curve.json or a CSV",
		ArgsUsage: "FILE…",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "also write curve.json, curve.png and report.md to `FOLDER`"},
			sloFlag(""),
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document (a list when there are several files)"},
		},
		Action: func(c *cli.Context) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				return usagef("analyze needs at least one FILE")
			}
			if c.String("out") != "" && len(files) > 1 {
				return usagef("--out: works with one FILE")
			}
			limits, err := parseSLO(c)
			if err != nil {
				return usage(err)
			}
			curves, err := readCurves(files, c.App.ErrWriter, limits)
			if err != nil {
				return err
			}
			if dir := c.String("out"); dir != "" {
				if err := analyzeTo(dir, curves[0]); err != nil {
					return failed(err)
				}
			}
			if err := printCurves(c, files, curves); err != nil {
				return err
			}
			return slosExit(c, curves)
		},
	}
}

// printCurves writes the curves as JSON or as tables.
func printCurves(c *cli.Context, files []string, curves []analysis.Curve) error {
	if c.Bool("json") {
		return writeCurvesJSON(c.App.Writer, curves)
	}
	for i, curve := range curves {
		if len(curves) > 1 {
			fmt.Fprintf(c.App.Writer, "%s\n", files[i])
		}
		if err := report.Table(c.App.Writer, curve); err != nil {
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
