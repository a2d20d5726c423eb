package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/plots"
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

func plotCommand() *cli.Command {
	return &cli.Command{
		Name:      "plot",
		Usage:     "draw curves as PNG, SVG or PDF; several files share one chart",
		ArgsUsage: "FILE…",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "write to `FILE`.png, .svg or .pdf"},
		},
		Action: func(c *cli.Context) error {
			files, out := c.Args().Slice(), c.String("o")
			format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), ".")
			switch {
			case len(files) == 0:
				return usagef("plot needs at least one FILE")
			case out == "":
				return usagef("-o: needed, the picture to write")
			case !slices.Contains(plots.Formats(), format):
				return usagef("-o: %q must end in one of .%s", out, strings.Join(plots.Formats(), ", ."))
			}
			curves, err := readCurves(files, c.App.ErrWriter, "")
			if err != nil {
				return err
			}
			return outputError(plotTo(out, format, curves, c.App.ErrWriter))
		},
	}
}

func plotTo(path, format string, curves []analysis.Curve, stderr io.Writer) error {
	fig, err := plots.Overlay(curves, plots.AxisAuto)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := fig.Write(&picture, format); err != nil {
		return err
	}
	_, err = os.Lstat(path)
	existed := err == nil
	if err := writeWhole(path, picture.Bytes()); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if existed {
		fmt.Fprintf(stderr, "%s was there and is replaced\n", path)
	}
	return nil
}
