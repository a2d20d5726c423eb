package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report"
)

// The files of a matrix, beside a folder for each cell.
const (
	matrixFile = "matrix.json"
	heatFile   = "knee.png"
)

// matrixRun is a matrix while it is swept.
type matrixRun struct {
	axes  []axis
	cells []cell
	dir   string
	index report.Matrix
}

// runMatrix sweeps every cell that is not finished yet and draws them all.
func runMatrix(c *cli.Context) error {
	axes, err := parseMatrix(c)
	if err != nil {
		return usage(err)
	}
	cells, err := cellsOf(axes)
	if err == nil {
		err = checkCells(c, axes, cells)
	}
	if err != nil {
		return usage(err)
	}
	m := &matrixRun{axes: axes, cells: cells, dir: c.String("out")}
	if m.dir == "" {
		m.dir = time.Now().Format("kneesweep-20060102-150405")
	}
	if err := m.begin(c); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return m.dryRun(c)
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return failed(fmt.Errorf("--out: %w", err))
	}
	err = m.sweep(c)
	if werr := m.write(c); werr != nil {
		return failed(werr)
	}
	return err
}

// begin compares the settings with those of the folder and reads what is finished.
func (m *matrixRun) begin(c *cli.Context) error {
	for _, a := range m.axes {
		m.index.Axes = append(m.index.Axes, report.MatrixAxis{Name: a.name, Values: a.values})
	}
	target, err := newSweepOptions(c)
	if err != nil {
		return err
	}
	for _, s := range effective(c, target.target.config) {
		apart := []string{"out", "quiet", "v", "json", "matrix", "dry-run", "config"}
		if !slices.Contains(apart, s.Name) && !slices.ContainsFunc(m.axes, func(a axis) bool { return a.name == s.Name }) {
			m.index.Settings = append(m.index.Settings, report.MatrixSetting{Name: s.Name, Value: s.Value})
		}
	}
	if err := m.agree(); err != nil {
		return usage(err)
	}
	for _, x := range m.cells {
		done := report.MatrixCell{Folder: x.folder, Values: x.values, Text: x.text}
		path := filepath.Join(m.dir, x.folder, curveFile)
		if _, err := os.Stat(path); err == nil {
			curves, err := readCurves([]string{path}, c.App.ErrWriter, "")
			if err != nil {
				return err
			}
			done.Curve = &curves[0]
		}
		m.index.Cells = append(m.index.Cells, done)
	}
	return nil
}

// agree refuses a folder that holds a matrix of other settings: its cells would be
// taken for those asked for.
func (m *matrixRun) agree() error {
	b, err := os.ReadFile(filepath.Join(m.dir, matrixFile))
	if errors.Is(err, fs.ErrNotExist) {
		for _, name := range runFiles {
			if _, err := os.Lstat(filepath.Join(m.dir, name)); err == nil {
				return fmt.Errorf("--out: %s holds a run; give a matrix a folder of its own", m.dir)
			}
		}
		return nil
	}
	var old report.Matrix
	if err == nil {
		old, err = report.ReadMatrix(bytes.NewReader(b))
	}
	if err != nil {
		return fmt.Errorf("--out: %s: %w", filepath.Join(m.dir, matrixFile), err)
	}
	names := func(x report.Matrix) (all []string) {
		for _, a := range x.Axes {
			all = append(all, a.Name)
		}
		return all
	}
	if was, now := names(old), names(m.index); !slices.Equal(was, now) {
		return fmt.Errorf("--out: %s holds a matrix over %s, not %s; choose another folder", m.dir, strings.Join(was, ", "), strings.Join(now, ", "))
	}
	for _, pair := range [][2][]report.MatrixSetting{{old.Settings, m.index.Settings}, {m.index.Settings, old.Settings}} {
		for _, s := range pair[0] {
			if !slices.Contains(pair[1], s) {
				return fmt.Errorf("--out: %s holds a matrix with another --%s; give the same settings, or choose another folder", m.dir, s.Name)
			}
		}
	}
	return nil
}

// finished reports whether a cell need not be swept again: an interrupted one must.
func finished(x report.MatrixCell) bool {
	return x.Curve != nil && x.Curve.Run.Preflight == nil && x.Curve.Run.Status != load.StatusInterrupted
}

// sweep sweeps the cells one after the other. It goes on after a cell without a
// usable curve, and ends with the first that could not begin or was interrupted.
func (m *matrixRun) sweep(c *cli.Context) (first error) {
	stdout := c.App.Writer
	c.App.Writer = io.Discard
	defer func() { c.App.Writer = stdout }()
	for i, x := range m.cells {
		name := fmt.Sprintf("cell %d of %d: %s", i+1, len(m.cells), x.text)
		if finished(m.index.Cells[i]) {
			fmt.Fprintf(c.App.ErrWriter, "%s: finished before\n", name)
			continue
		}
		fmt.Fprintln(c.App.ErrWriter, name)
		err := m.sweepCell(c, i)
		if first == nil && err != nil {
			first = err
		}
		var e exitError
		if c.Context.Err() != nil || errors.As(err, &e) && e.code == exitFailed {
			return err
		}
	}
	return first
}

// sweepCell sweeps one cell. What an unfinished try left is put aside.
func (m *matrixRun) sweepCell(c *cli.Context, i int) error {
	x := m.cells[i]
	if err := x.apply(c, m.axes); err != nil {
		return usage(err)
	}
	o, err := newSweepOptions(c)
	if err != nil {
		return err
	}
	o.out, o.label = filepath.Join(m.dir, x.folder), x.label
	if refused := m.index.Cells[i].Curve; refused == nil || refused.Run.Preflight == nil { // else it may be used again
		if err := putAside(o.out); err != nil {
			return failed(err)
		}
	}
	if err := m.save(); err != nil { // a folder that is there belongs to this matrix
		return failed(err)
	}
	err = runSweep(c, o)
	if curves, rerr := readCurves([]string{filepath.Join(o.out, curveFile)}, c.App.ErrWriter, ""); rerr == nil {
		m.index.Cells[i].Curve = &curves[0]
	}
	var e exitError
	if errors.As(err, &e) && e.err != nil {
		err = exitError{e.code, fmt.Errorf("%s: %w", x.text, e.err)}
	}
	return err
}

// putAside renames the folder of a sweep that did not end.
func putAside(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, journalFile)); err != nil {
		return nil
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.unfinished-%d", dir, n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(dir, aside)
		}
	}
}

func (m *matrixRun) save() error {
	return output{dir: m.dir}.saveAll([]rendered{{matrixFile, func(b *bytes.Buffer) error { return report.MatrixJSON(b, m.index) }}})
}

// write writes the index and the figures of all cells, and shows the table.
func (m *matrixRun) write(c *cli.Context) error {
	var curves []analysis.Curve
	for _, x := range m.index.Cells {
		if x.Curve != nil && x.Curve.Run.Preflight == nil {
			curves = append(curves, *x.Curve)
		}
	}
	files := []rendered{{matrixFile, func(b *bytes.Buffer) error { return report.MatrixJSON(b, m.index) }}}
	picture := func(name string, draw func() (*plots.Figure, error)) {
		files = append(files, rendered{name, func(b *bytes.Buffer) error {
			f, err := draw()
			if err != nil {
				return err
			}
			return f.Write(b, "png")
		}})
	}
	files = append(files, rendered{pageFile, func(b *bytes.Buffer) error {
		var heat *plots.Figure
		if len(curves) > 0 && len(m.axes) > 1 {
			var err error
			if heat, err = m.heat(); err != nil {
				return err
			}
		}
		return report.MatrixHTML(b, m.index, heat)
	}})
	if len(curves) > 0 {
		picture(figureFile, func() (*plots.Figure, error) { return plots.Overlay(curves, plots.AxisAuto) })
		if len(m.axes) > 1 {
			picture(heatFile, m.heat)
		}
	}
	if err := (output{dir: m.dir}).saveAll(files); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "written to %s, with a folder for each of %d cells\n", m.dir, len(m.cells))
	if c.Bool("json") {
		return report.MatrixJSON(c.App.Writer, m.index)
	}
	return report.MatrixTable(c.App.Writer, m.index)
}

// heat is the knee over the lengths of prompt and answer, if both are axes, else over
// the first two; a map for each combination of the others.
func (m *matrixRun) heat() (*plots.Figure, error) {
	at := func(name string) int { return slices.IndexFunc(m.axes, func(a axis) bool { return a.name == name }) }
	x, y := at("input-tokens"), at("output-tokens")
	if x < 0 || y < 0 {
		x, y = 0, 1
	}
	var headings []string
	byHeading := map[string]plots.Heat{}
	for i, cell := range m.cells {
		var others []string
		for k, a := range m.axes {
			if k != x && k != y {
				others = append(others, a.name+"="+cell.values[k])
			}
		}
		heading := strings.Join(others, ", ")
		h, known := byHeading[heading]
		if !known {
			h = plots.Heat{Heading: heading}
			for range m.axes[y].values {
				h.Cells = append(h.Cells, make([]*analysis.Curve, len(m.axes[x].values)))
			}
			byHeading[heading], headings = h, append(headings, heading)
		}
		h.Cells[slices.Index(m.axes[y].values, cell.values[y])][slices.Index(m.axes[x].values, cell.values[x])] = m.index.Cells[i].Curve
	}
	var maps []plots.Heat
	for _, h := range headings {
		maps = append(maps, byHeading[h])
	}
	return plots.HeatMap(m.axes[x].name, m.axes[x].values, m.axes[y].name, m.axes[y].values, maps)
}

// dryRun lists the cells and what each takes at most.
func (m *matrixRun) dryRun(c *cli.Context) error {
	if c.Bool("json") {
		return outputError(report.MatrixJSON(c.App.Writer, m.index))
	}
	var left []string
	for _, x := range m.index.Cells {
		if !finished(x) {
			left = append(left, x.Text)
		}
	}
	o, err := newSweepOptions(c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "cells             %d, of which %d are finished\nto sweep          %s\ntokens at most    %d (--token-budget for each)\ntime at most      %v (--budget for each)\nnothing was sent\n",
		len(m.cells), len(m.cells)-len(left), strings.Join(left, "\n                  "), len(left)*o.tokenBudget, time.Duration(len(left))*o.budget)
	return outputError(err)
}
