package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func matrixFlag(category string) cli.Flag {
	return &cli.StringSliceFlag{Category: category, Name: "matrix", Usage: "sweep once for each value of a flag, `FLAG=VALUE,VALUE…` (repeatable: every combination), each into a folder below --out; those finished there are skipped"}
}

// axis is a flag with the values that it takes in turn.
type axis struct {
	name   string
	values []string
}

const maxCells = 1000

// notAxes are flags that are the same for all cells, or that hold commas.
var notAxes = []string{"matrix", "target", "config", "out", "json", "quiet", "v", "dry-run", "label", "levels", "slo", "body", "api-key", "confirm"}

// parseMatrix reads --matrix; its errors name the axis.
func parseMatrix(c *cli.Context) ([]axis, error) {
	var axes []axis
	var errs []error
	cells := 1
	for _, text := range c.StringSlice("matrix") {
		a, err := parseAxis(c, text)
		switch {
		case err != nil:
			errs = append(errs, err)
			continue
		case slices.ContainsFunc(axes, func(b axis) bool { return b.name == a.name }):
			errs = append(errs, fmt.Errorf("--matrix: %s is given twice; write all its values in one", a.name))
		}
		cells = min(cells*len(a.values), maxCells+1)
		axes = append(axes, a)
	}
	if c.IsSet("target") {
		errs = append(errs, errors.New("--matrix and --target: sweep one endpoint, or one set of settings"))
	}
	if cells > maxCells {
		errs = append(errs, fmt.Errorf("--matrix: more than %d combinations; give fewer values", maxCells))
	}
	return axes, errors.Join(errs...)
}

func parseAxis(c *cli.Context, text string) (a axis, err error) {
	name, list, ok := strings.Cut(text, "=")
	a.name = strings.TrimPrefix(strings.TrimSpace(name), "--")
	if !ok || a.name == "" {
		return a, fmt.Errorf("--matrix: %.60q is not FLAG=VALUE,VALUE…, e.g. input-tokens=256,1024", text)
	}
	f := flagNamed(c.Command.Flags, a.name)
	_, repeatable := f.(*cli.StringSliceFlag)
	switch {
	case f == nil:
		return a, fmt.Errorf("--matrix: sweep has no flag --%.40s", a.name)
	case repeatable || slices.Contains(notAxes, a.name):
		return a, fmt.Errorf("--matrix: --%s cannot differ from cell to cell", a.name)
	}
	for v := range strings.SplitSeq(list, ",") {
		v = strings.TrimSpace(v)
		switch {
		case v == "":
			return a, fmt.Errorf("--matrix: %s has an empty value", a.name)
		case slices.Contains(a.values, v):
			return a, fmt.Errorf("--matrix: %s has the value %s twice", a.name, v)
		case !kindOf(f).Reads(v):
			return a, fmt.Errorf("--matrix: %s: %q is not %s", a.name, v, kindOf(f))
		}
		a.values = append(a.values, v)
	}
	return a, nil
}

// cell is one combination of the values of all axes.
type cell struct {
	values []string // by axis
	text   string   // for people
	label  string   // of its curve: shorter
	folder string
}

var notInFolder = regexp.MustCompile(`[^A-Za-z0-9.=_-]+`)

// cellsOf are all combinations, the last axis changing fastest.
func cellsOf(axes []axis) ([]cell, error) {
	cells := []cell{{}}
	for _, a := range axes {
		var next []cell
		for _, c := range cells {
			for _, v := range a.values {
				next = append(next, cell{values: append(slices.Clone(c.values), v)})
			}
		}
		cells = next
	}
	seen := map[string]bool{}
	for i := range cells {
		var parts, labels []string
		for k, v := range cells[i].values {
			parts, labels = append(parts, axes[k].name+"="+v), append(labels, brief(axes[k].name, v))
		}
		cells[i].label = strings.Join(labels, ", ")
		cells[i].text = strings.Join(parts, ", ")
		cells[i].folder = notInFolder.ReplaceAllString(strings.Join(parts, "_"), "-")
		f := strings.ToLower(cells[i].folder)
		if seen[f] || len(f) > 200 {
			return nil, fmt.Errorf("--matrix: the folder of %s has the name of another cell, or one that is too long; shorten or change the values", cells[i].text)
		}
		seen[f] = true
	}
	return cells, nil
}

// brief is a setting in the legend of a chart.
func brief(name, value string) string {
	switch {
	case name == "input-tokens":
		return value + " in"
	case name == "output-tokens":
		return value + " out"
	case name == "no-stream" && value == "true":
		return "whole"
	case name == "no-stream":
		return "streamed"
	}
	return name + " " + value
}

// apply sets the flags of a cell as if they had been given.
func (x cell) apply(c *cli.Context, axes []axis) error {
	for i, a := range axes {
		if err := c.Set(a.name, x.values[i]); err != nil {
			return fmt.Errorf("--matrix: %s: %q is not %s", a.name, x.values[i], wanted(c, a.name))
		}
	}
	return nil
}

// checkCells reads the flags of every cell, so that a bad value in the last is found
// before the first is measured. Hints come when the cell is swept.
func checkCells(c *cli.Context, axes []axis, cells []cell) error {
	stderr := c.App.ErrWriter
	c.App.ErrWriter = io.Discard
	defer func() { c.App.ErrWriter = stderr }()
	var errs []error
	for _, x := range cells {
		err := x.apply(c, axes)
		if err == nil {
			_, err = newSweepOptions(c)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return distinct(errs)
}
