package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report/page"
)

// mostTogether is how many curves an interactive chart can show so that they are told
// apart; more are a picture.
const mostTogether = 6

// The looks of the curves of one chart, in their order.
var (
	togetherTones  = [mostTogether]page.Tone{page.Blue, page.Vermillion, page.Green, page.Purple, page.Orange, page.Ink}
	togetherShapes = [mostTogether]page.Shape{page.Circle, page.Square, page.Triangle, page.Circle, page.Square, page.Triangle}
	togetherDashes = [mostTogether][]int{nil, {8, 4}, {2, 3}, {8, 3, 2, 3}, {12, 4}, {4, 4}}
)

// TargetsHTML writes targets that were swept in turn as one file that needs nothing else:
// what differs first, all curves in one chart, and each comparison in full. Its errors are
// those of w and of the figures.
func TargetsHTML(w io.Writer, t Targets) error {
	title := fmt.Sprintf("%d targets in turn", len(t.Curves))
	p := page.Page{Title: title, Headline: title, Footer: "charts by uPlot 1.6.32 (MIT)"}
	for _, c := range t.Comparisons {
		if p.Lead == "" {
			p.Lead = ComparisonVerdict(c)
		} else {
			p.Text = append(p.Text, ComparisonVerdict(c))
		}
	}
	names := make([]string, len(t.Curves))
	for i, c := range t.Curves {
		names[i] = c.Run.Label
	}
	together, err := togetherBlocks(t.Curves, names)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, page.Section{ID: "capacity", Title: "Capacity curves", Blocks: together},
		page.Section{ID: "targets", Title: "Targets", Blocks: []page.Block{
			{Table: plainTable("What each comes to; its own page stands in the folder of its name", targetColumns, targetRows(t), 5, 6)},
		}})
	for i := range t.Comparisons {
		c := &t.Comparisons[i]
		p.Sections = append(p.Sections, page.Section{ID: fmt.Sprintf("comparison-%d", i+1), Title: c.NewName + " against " + c.OldName, Blocks: baselineBlocks(c)})
	}
	if len(t.Curves) > 0 {
		p.Sections = append(p.Sections, page.Section{ID: "settings", Title: "What was asked of the first, and how it was measured", Blocks: settingBlocks(t.Curves[0].Run)})
	}
	p.Sections = append(p.Sections, page.Section{ID: "definitions", Title: "What the figures mean", Blocks: prose(definitions)})
	return page.Write(w, p)
}

// MatrixHTML writes the cells of a matrix as one file that needs nothing else: a table of
// what each comes to, the map of knees (nil leaves it out), and all curves in one chart. Its errors
// are those of w and of the figures.
func MatrixHTML(w io.Writer, m Matrix, heat *plots.Figure) error {
	var curves []analysis.Curve
	var names []string
	for _, x := range m.Cells {
		if x.Curve != nil && x.Curve.Run.Preflight == nil {
			curves, names = append(curves, *x.Curve), append(names, x.Text)
		}
	}
	var axes []string
	for _, a := range m.Axes {
		axes = append(axes, a.Name)
	}
	title := "Matrix over " + strings.Join(axes, ", ")
	p := page.Page{Title: title, Headline: title, Footer: "charts by uPlot 1.6.32 (MIT)",
		Lead: fmt.Sprintf("%d of %d combinations were swept.%s", len(curves), len(m.Cells), kneeRange(curves, names))}
	columns, rows := matrixGrid(m)
	if heat != nil {
		svg, err := drawn(heat)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, page.Section{ID: "map", Title: "Where the knee lies", Blocks: []page.Block{
			{Picture: &page.Picture{Alt: "A map of the knee over the values of the settings, darker where it is higher; its figures are in the table of the cells.", SVG: svg}},
		}})
	}
	p.Sections = append(p.Sections, page.Section{ID: "cells", Title: "Cells", Blocks: []page.Block{
		{Table: plainTable("What each comes to; its own page stands in its folder", columns, rows, len(columns)-1)},
	}})
	if len(curves) > 0 {
		together, err := togetherBlocks(curves, names)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, page.Section{ID: "capacity", Title: "Capacity curves", Blocks: together})
	}
	var facts []page.Fact
	for _, s := range m.Settings {
		facts = append(facts, page.Fact{Name: s.Name, Value: s.Value})
	}
	if len(facts) > 0 {
		p.Sections = append(p.Sections, page.Section{ID: "settings", Title: "What all cells have in common", Blocks: []page.Block{{Facts: facts}}})
	}
	p.Sections = append(p.Sections, page.Section{ID: "definitions", Title: "What the figures mean", Blocks: prose(definitions)})
	return page.Write(w, p)
}

// kneeRange names the cells with the smallest and the largest knee.
func kneeRange(curves []analysis.Curve, names []string) string {
	lo, hi := -1, -1
	for i, c := range curves {
		k := c.Knee.Concurrency
		if !k.OK {
			continue
		}
		if lo < 0 || k.V.Value < curves[lo].Knee.Concurrency.V.Value {
			lo = i
		}
		if hi < 0 || k.V.Value > curves[hi].Knee.Concurrency.V.Value {
			hi = i
		}
	}
	switch {
	case lo < 0:
		return " None has a knee."
	case lo == hi:
		return fmt.Sprintf(" One has a knee: %s at %s.", names[lo], streams(curves[lo].Knee.Concurrency.V.Value))
	}
	return fmt.Sprintf(" Their knees lie from %s (%s) to %s (%s).", plots.Streams(curves[lo].Knee.Concurrency.V.Value), names[lo],
		streams(curves[hi].Knee.Concurrency.V.Value), names[hi])
}

// plainTable is a table as a terminal shows it, of which some columns are text.
func plainTable(caption string, columns []heading, rows [][]string, text ...int) *page.Table {
	t := &page.Table{Caption: caption}
	for i, name := range headingLine(columns) {
		t.Heading = append(t.Heading, page.Heading{Name: name, Text: i == 0 || slices.Contains(text, i)})
	}
	for _, row := range withoutMarks(rows) {
		t.Rows = append(t.Rows, page.Row{Cells: row})
	}
	return t
}

// togetherBlocks are curves in one chart: interactive where they can be told apart, else
// a picture.
func togetherBlocks(curves []analysis.Curve, names []string) ([]page.Block, error) {
	fig, err := plots.Overlay(curves, plots.AxisAuto)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	svg, err := drawn(fig)
	if err != nil {
		return nil, err
	}
	alt := "Output tokens per second of all streams, and median time to first token, at each number of parallel streams: " + strings.Join(names, "; ") + "."
	if len(curves) > mostTogether {
		return []page.Block{{Picture: &page.Picture{Alt: alt, SVG: svg}}}, nil
	}
	chart := &page.Chart{ID: capacityChart, Alt: alt, SVG: svg, Caption: "Each level is the median of its windows with a 95 % interval; a line across is the knee of the curve of its colour."}
	var at []int
	for _, c := range curves {
		for _, s := range c.Steps {
			at = append(at, s.Concurrency)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, n := range at {
		chart.Levels = append(chart.Levels, page.Level{N: n, Valid: true})
	}
	chart.Log = len(at) > 0 && float64(at[len(at)-1])/float64(at[0]) > logSpan
	rate := page.Panel{Title: "Output of all streams together", Short: "output", Unit: "tok/s", Fixed: true}
	ttft := page.Panel{Title: latencies[0].words + ", median", Short: latencies[0].name, Unit: "ms"}
	lo, hi := math.Inf(1), 0.0
	for i, c := range curves {
		look := page.Series{Name: names[i], Tone: togetherTones[i], Shape: togetherShapes[i], Dash: togetherDashes[i]}
		r, t := look, look
		for _, n := range at {
			s := levelOf(c, n)
			v := load.Opt[float64]{V: s.Throughput.V.Value, OK: s.Valid && s.Throughput.OK && finite(s.Throughput.V.Value).OK}
			bounded := v.OK && len(s.Measurements) > 1
			r.Values = append(r.Values, v)
			r.Lo = append(r.Lo, load.Opt[float64]{V: s.Throughput.V.Lo, OK: bounded && finite(s.Throughput.V.Lo).OK})
			r.Hi = append(r.Hi, load.Opt[float64]{V: s.Throughput.V.Hi, OK: bounded && finite(s.Throughput.V.Hi).OK})
			x := millis(s.TTFT.P50)
			if x.OK = x.OK && s.Valid && s.TTFT.Count > 0; x.OK && x.V > 0 {
				lo, hi = min(lo, x.V), max(hi, x.V)
			}
			t.Values = append(t.Values, x)
		}
		rate.Series, ttft.Series = append(rate.Series, r), append(ttft.Series, t)
		if k := c.Knee.Concurrency; k.OK && finite(k.V.Value).OK {
			chart.Marks = append(chart.Marks, page.Mark{At: k.V.Value, Text: "knee " + plots.Streams(k.V.Value) + ", " + names[i], Tone: togetherTones[i], Dash: togetherDashes[i]})
		}
	}
	ttft.Log = hi/lo > 20
	chart.Panels = append(chart.Panels, rate)
	if hi > 0 {
		chart.Panels = append(chart.Panels, ttft)
	}
	return []page.Block{{Chart: chart}}, nil
}

// levelOf is the step of a curve at a level; the zero step where it has none.
func levelOf(c analysis.Curve, n int) load.Step {
	i := slices.IndexFunc(c.Steps, func(s load.Step) bool { return s.Concurrency == n })
	if i < 0 {
		return load.Step{}
	}
	return c.Steps[i]
}

// drawn is a figure as SVG.
func drawn(fig *plots.Figure) ([]byte, error) {
	var svg bytes.Buffer
	if err := fig.Write(&svg, "svg"); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return svg.Bytes(), nil
}
