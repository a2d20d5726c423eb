package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/load"
)

// series is one line of a lower panel: a value for each level, NaN where there
// is none, and whether the level is valid.
type series struct {
	name   string
	values []float64
	valid  []bool
	line   draw.LineStyle
	glyph  draw.GlyphStyle
	label  color.Color
}

// newSeries takes one value from each step, scaled.
func newSeries(c analysis.Curve, pick func(load.Step) (load.Dist, float64), factor float64) series {
	var s series
	for _, step := range c.Steps {
		d, v := pick(step)
		v *= factor
		if d.Count == 0 || math.IsInf(v, 0) {
			v = math.NaN()
		}
		s.values = append(s.values, v)
		s.valid = append(s.valid, step.Valid)
	}
	return s
}

// any reports whether the series has a value.
func (s series) any() bool {
	for _, v := range s.values {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// secondsFrom is the latency in seconds from which a panel is labelled in
// seconds instead of milliseconds.
const secondsFrom = 10

// ttftPanel shows the time to first token; nil when no step has one.
func ttftPanel(c analysis.Curve) (*panel, []series) {
	unit, factor := "ms", 1e3
	for _, s := range c.Steps {
		if s.TTFT.Count > 0 && s.TTFT.P95 >= secondsFrom {
			unit, factor = "s", 1
		}
	}
	p95 := newSeries(c, func(s load.Step) (load.Dist, float64) { return s.TTFT, s.TTFT.P95 }, factor)
	p95.name, p95.label = "p95", darkOrange
	p95.line, p95.glyph = line(1.5, orange, 5, 3), glyph(draw.BoxGlyph{}, 3, orange)
	p50 := newSeries(c, func(s load.Step) (load.Dist, float64) { return s.TTFT, s.TTFT.P50 }, factor)
	p50.name, p50.label = "p50", blue
	p50.line, p50.glyph = line(1.5, blue), glyph(draw.CircleGlyph{}, 3.2, blue)
	var kept []series
	var values []float64
	for _, s := range []series{p95, p50} {
		if s.any() {
			kept, values = append(kept, s), append(values, s.values...)
		}
	}
	if len(kept) == 0 {
		return nil, nil
	}
	p := &panel{heading: "Time to first token, " + unit, y: latencyScale(values)}
	if p.y.log {
		p.heading += ", logarithmic"
	}
	return p, kept
}

// speedPanel shows the tokens/s of one stream; nil when no step has any.
func speedPanel(c analysis.Curve) (*panel, []series) {
	s := newSeries(c, func(s load.Step) (load.Dist, float64) { return s.Decode, s.Decode.P50 }, 1)
	if !s.any() {
		return nil, nil
	}
	s.name, s.label = "p50", darkGreen
	s.line, s.glyph = line(1.5, green), glyph(draw.PyramidGlyph{}, 4, green)
	return &panel{heading: "Tokens/s of one stream while it decodes", y: fromZero(s.values)}, []series{s}
}

// drawSeries draws the lines of a lower panel and names them at their ends.
func drawSeries(p *panel, levels []int, all []series) {
	xs := make([]float64, len(levels))
	for i, n := range levels {
		xs[i] = float64(n)
	}
	for _, s := range all {
		ys, end := make([]float64, len(xs)), math.NaN()
		for i, v := range s.values {
			ys[i] = v
			if !s.valid[i] {
				ys[i] = math.NaN()
			}
			if p.y.shows(v) {
				end = v
			}
		}
		p.polyline(xs, ys, s.line)
		for i, v := range s.values {
			g := s.glyph
			if !s.valid[i] {
				g = glyph(cross{}, 3.6, grey)
			}
			p.mark(xs[i], v, g)
		}
		if !math.IsNaN(end) {
			p.ends = append(p.ends, endLabel{end, []string{s.name}, s.label})
		}
	}
}
