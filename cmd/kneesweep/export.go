package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
	"kneesweep/record/parquet"
	"kneesweep/record/rows"
)

// exportFormats are what -o may end in.
var exportFormats = map[string]func(io.Writer, rows.Table, load.Run) error{
	".csv":     func(w io.Writer, t rows.Table, _ load.Run) error { return rows.CSV(w, t) },
	".parquet": parquet.Write,
}

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write levels, requests or chunks as CSV or Parquet, for spreadsheets and data frames",
		ArgsUsage: "FILE",
		Description: "FILE is a journal, a curve.json, a CSV, the folder of a run or a result file of another tool; requests and chunks take a journal.\n" +
			"docs/export.md lists the columns and their units. What is not defined is null, or an empty cell.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "write to `FILE`.csv or .parquet"},
			&cli.StringFlag{Name: "table", Value: "steps", Usage: "which `TABLE`: " + strings.Join(rows.Names(), ", ")},
		},
		Action: func(c *cli.Context) error {
			out, name := c.String("o"), c.String("table")
			write, known := exportFormats[strings.ToLower(filepath.Ext(out))]
			switch {
			case c.NArg() == 0:
				return usagef("export needs a FILE")
			case out == "":
				return usagef("-o: needed, the file to write, ending in .csv or .parquet")
			case !known:
				return usagef("-o: %q must end in .csv or .parquet", out)
			case !slices.Contains(rows.Names(), name):
				return usagef("--table: %q is none of %s", name, strings.Join(rows.Names(), ", "))
			}
			sources, err := readSources(c.Args().Slice(), c.App.ErrWriter, "", name != "steps")
			if err != nil {
				return err
			}
			if len(sources) > 1 {
				return usagef("export: works with one run, and these files make %d", len(sources))
			}
			s := sources[0]
			run := rows.Run{Run: s.curve.Run, Steps: s.curve.Steps}
			if s.data != nil {
				run.Visits, run.Samples = s.data.Visits, s.data.Samples
			} else if name != "steps" {
				return failed(fmt.Errorf("%s: --table %s: it holds no single requests; give the run's %s or its folder", s.path, name, journalFile))
			}
			t, _ := rows.Of(name, run)
			if err := streamWhole(out, func(w io.Writer) error { return write(w, t, s.curve.Run) }, c.App.ErrWriter); err != nil {
				return failed(fmt.Errorf("-o: %w", err))
			}
			return nil
		},
	}
}

// streamWhole writes a file that is there whole or not at all, without holding it in
// memory.
func streamWhole(path string, write func(io.Writer) error, stderr io.Writer) error {
	_, err := os.Lstat(path)
	existed := err == nil
	part := path + "." + rand.Text() + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return bare(err)
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
		return err
	}
	if existed {
		fmt.Fprintf(stderr, "%s was there and is replaced\n", path)
	}
	return nil
}
