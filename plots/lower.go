package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/load"
)

// series is one line of a lower panel: a value for each level of its curve, NaN
// where there is none.
type series struct {
	name   string // at its right end
	steps  []load.Step
	values []float64
	line   draw.LineStyle
	glyph  draw.GlyphStyle
	label  color.Color
}

// picker takes one value of a distribution out of a step.
type picker func(load.Step) (load.Dist, float64)

// newSeries takes one value from each step, scaled.
func newSeries(c analysis.Curve, pick picker, factor float64) series {
	s := series{steps: c.Steps}
	for _, step := range c.Steps {
		d, v := pick(step)
		v *= factor
		if d.Count == 0 || math.IsInf(v, 0) {
			v = math.NaN()
		}
		s.values = append(s.values, v)
	}
	return s
}

// end is the last value of the series, NaN if it has none.
func (s series) end() float64 {
	for _, v := range slices.Backward(s.values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

func ttftP50(s load.Step) (load.Dist, float64)   { return s.TTFT, s.TTFT.P50 }
func ttftP95(s load.Step) (load.Dist, float64)   { return s.TTFT, s.TTFT.P95 }
func decodeP50(s load.Step) (load.Dist, float64) { return s.Decode, s.Decode.P50 }

// secondsFrom is the latency in seconds from which a panel is labelled in
// seconds instead of milliseconds.
const secondsFrom = 10

// latencyUnit is the unit for a latency of some curves, and its factor from
// seconds.
func latencyUnit(pick picker, curves ...analysis.Curve) (string, float64) {
	for _, c := range curves {
		for _, s := range c.Steps {
			if d, v := pick(s); d.Count > 0 && v >= secondsFrom {
				return "s", 1
			}
		}
	}
	return "ms", 1e3
}

// seriesPanel shows lines on the scale that scaled chooses; nil when none has a
// value.
func seriesPanel(heading string, scaled func([]float64) scale, all ...series) *panel {
	p := &panel{heading: heading}
	var values []float64
	for _, s := range all {
		end := s.end()
		if math.IsNaN(end) {
			continue
		}
		values = append(values, s.values...)
		p.over = append(p.over, func(p *panel) { drawSeries(p, s) })
		if s.name != "" {
			p.ends = append(p.ends, endLabel{end, []string{s.name}, s.label})
		}
	}
	if len(p.over) == 0 {
		return nil
	}
	p.y = scaled(values)
	if p.y.log {
		p.heading += ", logarithmic"
	}
	return p
}

// asP50, asP95 and asP99 give a series the look and the name of a percentile.
func asP50(s series) series {
	s.name, s.label = "p50", blue
	s.line, s.glyph = line(1.5, blue), glyph(draw.CircleGlyph{}, 3.2, blue)
	return s
}

func asP95(s series) series {
	s.name, s.label = "p95", darkOrange
	s.line, s.glyph = line(1.5, orange, 5, 3), glyph(draw.BoxGlyph{}, 3, orange)
	return s
}

func asP99(s series) series {
	s.name, s.label = "p99", muted
	s.line, s.glyph = line(1.2, grey, 1.5, 2.5), glyph(draw.PyramidGlyph{}, 3.4, muted)
	return s
}

// ttftPanel shows the time to first token; nil when no step has one.
func ttftPanel(c analysis.Curve) *panel {
	unit, factor := latencyUnit(ttftP95, c)
	p95 := asP95(newSeries(c, ttftP95, factor))
	p50 := asP50(newSeries(c, ttftP50, factor))
	return seriesPanel("Time to first token, "+unit, latencyScale, p95, p50)
}

const speedHeading = "Tokens/s of one stream while it decodes"

// speedPanel shows the tokens/s of one stream; nil when no step has any.
func speedPanel(c analysis.Curve) *panel {
	s := newSeries(c, decodeP50, 1)
	s.name, s.label = "p50", darkGreen
	s.line, s.glyph = line(1.5, green), glyph(draw.PyramidGlyph{}, 4, green)
	return seriesPanel(speedHeading, fromZero, s)
}

// drawSeries draws one line with its markers; levels that are not valid are
// crosses beside it.
func drawSeries(p *panel, s series) {
	xs, ys := make([]float64, len(s.steps)), make([]float64, len(s.steps))
	for i, step := range s.steps {
		xs[i], ys[i] = float64(step.Concurrency), s.values[i]
		if !step.Valid {
			ys[i] = math.NaN()
		}
	}
	p.polyline(xs, ys, s.line)
	for i, step := range s.steps {
		g := hollowIf(step.Scout, s.glyph)
		if !step.Valid {
			g = glyph(cross{}, 3.6, grey)
		}
		p.mark(xs[i], s.values[i], g)
	}
}
