package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/compare"
	"kneesweep/plots"
	"kneesweep/report"
)

// targetsOf are the folders of the targets of a sweep in turn, in its order, if dir is
// the folder of one.
func targetsOf(dir string) (folders []string) {
	raw, err := os.ReadFile(filepath.Join(dir, comparisonJSONFile))
	var index struct {
		Schema  string `json:"schema"`
		Targets []struct {
			Name string `json:"name"`
		} `json:"targets"`
	}
	if err != nil || json.Unmarshal(raw, &index) != nil || index.Schema != report.TargetsSchema {
		return nil
	}
	for _, t := range index.Targets {
		if filepath.Base(t.Name) == t.Name { // a folder in dir
			folders = append(folders, filepath.Join(dir, t.Name))
		}
	}
	return folders
}

// inTurn returns what the arguments name of one sweep of several targets in turn: all
// targets of its folder, or two of them. Nil, if they name something else.
func inTurn(paths []string) []string {
	if len(paths) == 1 {
		return targetsOf(paths[0])
	}
	if len(paths) != 2 {
		return nil
	}
	dir := filepath.Dir(filepath.Clean(paths[0]))
	if dir != filepath.Dir(filepath.Clean(paths[1])) {
		return nil
	}
	found := 0
	for _, folder := range targetsOf(dir) {
		for _, p := range paths {
			if filepath.Clean(p) == filepath.Clean(folder) {
				found++
			}
		}
	}
	if found != 2 {
		return nil
	}
	return paths
}

// comparePaired compares targets that were swept in turn with the first of them, visit
// by visit.
func comparePaired(c *cli.Context, folders []string, o compareOptions) error {
	sources, err := readSources(folders, c.App.ErrWriter, "", true)
	if err != nil {
		return err
	}
	var t report.Targets
	runs := make([]compare.Run, len(sources))
	for i, s := range sources {
		if s.data == nil || len(s.data.Visits) == 0 {
			return failed(fmt.Errorf("%s: no journal with its requests, so that visits cannot be paired", s.path))
		}
		runs[i] = compare.Run{Curve: s.curve, Data: s.data}
		t.Curves = append(t.Curves, s.curve)
	}
	regressions, unknown := 0, 0
	for _, other := range runs[1:] {
		x := compare.Paired(runs[0], other, o.Options)
		if x.Forced() && !o.force {
			return usage(notComparable(x))
		}
		switch x.Verdict {
		case compare.Regression:
			regressions++
		case compare.CannotTell:
			unknown++
		}
		t.Comparisons = append(t.Comparisons, x)
	}
	if o.out != "" {
		fig, err := plots.Overlay(t.Curves, plots.AxisAuto)
		if err == nil {
			err = writeFigure(o.out, o.format, fig, c.App.ErrWriter)
		}
		if err != nil {
			return failed(err)
		}
	}
	write := func() error { return report.TargetsTable(c.App.Writer, t) }
	switch {
	case c.Bool("json"):
		write = func() error { return report.TargetsJSON(c.App.Writer, t) }
	case c.Bool("markdown"):
		write = func() error { return report.TargetsMarkdown(c.App.Writer, t, cmp.Or(o.out, figureFile)) }
	}
	if err := write(); err != nil {
		return failed(err)
	}
	switch {
	case regressions > 0:
		return exitError{exitMissed, nil}
	case unknown == len(t.Comparisons):
		return exitError{exitNoCurve, nil}
	}
	return nil
}
