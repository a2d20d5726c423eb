package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report/page"
)

const (
	capacityChart = "capacity-chart"
	latencyChart  = "latency-chart"
	// logSpan is the largest level over the smallest from which the axis of streams
	// is logarithmic, as in package plots.
	logSpan = 31.6
)

// latency is a kind of time that a step has a distribution of.
type latency struct {
	name, words string
	of          func(load.Step) load.Dist
}

// latencies are in the order of their panels.
var latencies = []latency{
	{"TTFT", "Time to first token (TTFT)", func(s load.Step) load.Dist { return s.TTFT }},
	{"TPOT", "Time per output token of a request (TPOT)", func(s load.Step) load.Dist { return s.TPOT }},
	{"ITL", "Gap between two tokens (ITL)", func(s load.Step) load.Dist { return s.ITL }},
	{"E2E", "Whole request (E2E)", func(s load.Step) load.Dist { return s.E2E }},
}

// shownQuantile is a quantile with the look that it has in every chart.
type shownQuantile struct {
	name  string
	of    func(load.Dist) float64
	tone  page.Tone
	shape page.Shape
	dash  []int
}

var shownQuantiles = []shownQuantile{
	{"p50", func(d load.Dist) float64 { return d.P50 }, page.Blue, page.Circle, nil},
	{"p95", func(d load.Dist) float64 { return d.P95 }, page.Orange, page.Square, []int{6, 4}},
	{"p99", func(d load.Dist) float64 { return d.P99 }, page.Grey, page.Triangle, []int{2, 3}},
}

// capacityBlocks are the chart of throughput, TTFT and the speed of one stream.
func capacityBlocks(c analysis.Curve) []page.Block {
	if c.Rates != nil { // no level was held
		return nil
	}
	chart := newChart(capacityChart, c)
	chart.Alt = "Output tokens per second of all streams, time to first token, and tokens per second of one stream at each number of parallel streams. " + plots.Headline(c) + "."
	chart.Caption = "Each level is the median of its windows with a 95 % interval. The orange band is the 95 % interval of the knee; a cross is a level that is not valid, a hollow marker a scouting level of few windows. The figures are in the tables below."
	chart.Panels = append(chart.Panels, throughputPanel(c))
	if p, ok := latencyPanel(c, latencies[0], shownQuantiles[:2]); ok {
		chart.Panels = append(chart.Panels, p)
	}
	speed := page.Series{Name: "one stream", Tone: page.Green, Shape: page.Triangle}
	for _, s := range c.Steps {
		speed.Values = append(speed.Values, load.Opt[float64]{V: s.Decode.P50, OK: s.Decode.Count > 0 && finite(s.Decode.P50).OK})
	}
	if slices.ContainsFunc(speed.Values, func(v load.Opt[float64]) bool { return v.OK }) {
		chart.Panels = append(chart.Panels, page.Panel{Title: "One stream while it decodes, median", Short: "one stream", Unit: "tok/s", Fixed: true, Series: []page.Series{speed}})
	}
	return []page.Block{{Chart: chart}}
}

// latencyBlocks are the charts of all latencies and the table of their data.
func latencyBlocks(c analysis.Curve) []page.Block {
	chart := newChart(latencyChart, c)
	chart.Alt = "Quantiles of time to first token, time per output token, gap between tokens and whole requests at each number of parallel streams."
	chart.Caption = "Quantiles over the requests of a level; of the gaps, over its tokens."
	for _, l := range latencies {
		if p, ok := latencyPanel(c, l, shownQuantiles); ok {
			chart.Panels = append(chart.Panels, p)
		}
	}
	if len(chart.Panels) == 0 {
		return nil
	}
	return []page.Block{{Chart: chart}, {Table: latencyTable(c)}}
}

// newChart has the levels of c and what was found on the axis of streams.
func newChart(id string, c analysis.Curve) *page.Chart {
	chart := &page.Chart{ID: id}
	for _, s := range c.Steps {
		note := ""
		switch mark(c, s) {
		case markInvalid:
			note = "not valid"
		case markOutlier:
			note = "outlier, not fitted"
		case markUnsteady:
			note = "not steady"
		case markScout:
			note = "scouting level"
		}
		chart.Levels = append(chart.Levels, page.Level{N: s.Concurrency, Valid: s.Valid, Scout: s.Scout, Note: note})
	}
	if n := len(c.Steps); n > 0 {
		chart.Log = float64(c.Steps[n-1].Concurrency)/float64(c.Steps[0].Concurrency) > logSpan
	}
	if k := c.Knee.Concurrency; k.OK && finite(k.V.Value).OK {
		text := "knee " + plots.Streams(k.V.Value)
		if b := plots.Interval(k.V); b != "" {
			text += " (" + b + ")"
			chart.Bands = append(chart.Bands, page.Band{From: k.V.Lo, To: k.V.Hi, Tone: page.Vermillion})
		}
		chart.Marks = append(chart.Marks, page.Mark{At: k.V.Value, Text: text, Tone: page.Vermillion})
	}
	if a := c.Admission; a.OK && finite(a.V.Value).OK {
		chart.Marks = append(chart.Marks, page.Mark{At: a.V.Value, Text: "admission limit " + plots.Streams(a.V.Value), Tone: page.Purple, Dash: []int{2, 4}})
	}
	if r := c.Recommended.Concurrency; r.OK {
		chart.Marks = append(chart.Marks, page.Mark{At: float64(r.V), Text: "allow " + plots.Streams(float64(r.V)), Tone: page.Green, Point: true})
	}
	return chart
}

// throughputPanel shows the tokens/s of all streams together.
func throughputPanel(c analysis.Curve) page.Panel {
	p := page.Panel{Title: "Output of all streams together", Short: "output", Unit: "tok/s", Fixed: true, Level: finiteOpt(c.Knee.Plateau)}
	s := page.Series{Name: "output", Tone: page.Blue, Shape: page.Circle}
	for _, step := range c.Steps {
		t := step.Throughput
		bounded := t.OK && len(step.Measurements) > 1
		s.Values = append(s.Values, load.Opt[float64]{V: t.V.Value, OK: t.OK && finite(t.V.Value).OK})
		s.Lo = append(s.Lo, load.Opt[float64]{V: t.V.Lo, OK: bounded && finite(t.V.Lo).OK})
		s.Hi = append(s.Hi, load.Opt[float64]{V: t.V.Hi, OK: bounded && finite(t.V.Hi).OK})
		p.Dots = append(p.Dots, slices.DeleteFunc(slices.Clone(step.Measurements), func(x float64) bool { return !finite(x).OK || x <= 0 && !step.Valid }))
	}
	if f := c.Knee.Fit; f != nil && c.Knee.Verdict != knee.StillRising && len(c.Steps) > 0 && finite(f.At(f.K)).OK {
		s.Loose = true
		from, to := float64(f.From), float64(f.To)
		if from >= to { // not recorded: the whole range of levels
			from, to = float64(c.Steps[0].Concurrency), float64(c.Steps[len(c.Steps)-1].Concurrency)
		}
		for _, n := range []float64{from, math.Min(math.Max(f.K, from), to), to} {
			p.Line = append(p.Line, [2]float64{n, f.At(n)})
		}
	}
	p.Series = []page.Series{s}
	return p
}

// latencyPanel shows quantiles of a latency; false if no level has any.
func latencyPanel(c analysis.Curve, l latency, shown []shownQuantile) (page.Panel, bool) {
	p := page.Panel{Title: l.words, Short: l.name, Unit: "ms"}
	lo, hi := math.Inf(1), 0.0
	for _, q := range shown {
		s := page.Series{Name: q.name, Tone: q.tone, Shape: q.shape, Dash: q.dash}
		for _, step := range c.Steps {
			d := l.of(step)
			v := millis(q.of(d))
			v.OK = v.OK && d.Count > 0
			if v.OK && v.V > 0 {
				lo, hi = math.Min(lo, v.V), math.Max(hi, v.V)
			}
			s.Values = append(s.Values, v)
		}
		if slices.ContainsFunc(s.Values, func(v load.Opt[float64]) bool { return v.OK }) {
			p.Series = append(p.Series, s)
		}
	}
	p.Log = hi/lo > 20
	return p, len(p.Series) > 0
}

// drawInto gives the charts of a page their pictures.
func drawInto(p page.Page, c analysis.Curve) error {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Chart == nil && b.Picture == nil {
				continue
			}
			fig, err := plots.Capacity(c)
			if b.Chart != nil && b.Chart.ID == latencyChart {
				fig, err = plots.Latency([]analysis.Curve{c}, plots.AxisAuto)
			}
			if err != nil {
				return fmt.Errorf("report: %w", err)
			}
			var svg bytes.Buffer
			if err := fig.Write(&svg, "svg"); err != nil {
				return fmt.Errorf("report: %w", err)
			}
			if b.Picture != nil {
				b.Picture.SVG = svg.Bytes()
			} else {
				b.Chart.SVG = svg.Bytes()
			}
		}
	}
	return nil
}
