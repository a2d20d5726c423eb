package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

const throughputHeading = "Output tokens/s, all streams together"

// throughputPanel shows the tokens/s of all streams together.
func throughputPanel(c analysis.Curve) *panel {
	p := &panel{heading: throughputHeading, y: fromZero(throughputValues(c))}
	if k := c.Knee.Plateau; k.OK && !math.IsNaN(k.V) && !math.IsInf(k.V, 0) {
		p.ends = append(p.ends, endLabel{k.V, []string{"plateau", Number(k.V) + " tok/s"}, ink})
	}
	p.over = append(p.over, func(p *panel) { drawThroughput(p, c) })
	return p
}

// throughputValues are all values that the panel has to hold.
func throughputValues(c analysis.Curve) []float64 {
	var all []float64
	for _, s := range c.Steps {
		all = append(all, s.Measurements...)
		if s.Throughput.OK {
			all = append(all, s.Throughput.V.Value, s.Throughput.V.Hi)
		}
	}
	if c.Knee.Plateau.OK {
		all = append(all, c.Knee.Plateau.V)
	}
	return all
}

// drawThroughput draws what was measured and what was fitted to it.
func drawThroughput(p *panel, c analysis.Curve) {
	for _, s := range c.Steps {
		dot := paleBlue
		if !s.Valid {
			dot = faint
		}
		for _, m := range s.Measurements {
			if m <= 0 && !s.Valid {
				continue // nothing came: that is no throughput of the server
			}
			p.mark(float64(s.Concurrency), m, glyph(draw.CircleGlyph{}, 2, dot))
		}
	}
	if k := c.Knee.Plateau; k.OK && p.y.shows(k.V) {
		y := p.y.at(k.V)
		p.canvas.StrokeLine2(line(1.1, muted, 6, 4), p.x.from, y, p.x.to+5, y)
	}
	if fitted(c) {
		drawFit(p, c, line(1.8, ink))
	} else {
		xs, ys := medians(c)
		p.polyline(xs, ys, line(1, blue))
	}
	for _, s := range c.Steps {
		drawLevel(p, c, s)
	}
}

// drawLevel draws the median of a level with its interval. A level that is not
// valid and has no value is a line with a cross below the axis of streams, away
// from where values are.
func drawLevel(p *panel, c analysis.Curve, s load.Step) {
	n := float64(s.Concurrency)
	switch {
	case !s.Valid && !s.Throughput.OK:
		p.vertical(n, line(1, grey, 1, 4))
		p.canvas.DrawGlyphNoClip(glyph(cross{}, 4.5, grey), vg.Point{X: p.x.at(n), Y: p.y.from})
	case !s.Throughput.OK:
	case !s.Valid:
		p.mark(n, s.Throughput.V.Value, glyph(cross{}, 4.5, grey))
	case slices.Contains(c.Knee.Outliers, s.Concurrency):
		p.bar(n, s.Throughput.V.Lo, s.Throughput.V.Hi, grey)
		p.mark(n, s.Throughput.V.Value, glyph(draw.SquareGlyph{}, 4, ink))
	default:
		p.bar(n, s.Throughput.V.Lo, s.Throughput.V.Hi, blue)
		p.mark(n, s.Throughput.V.Value, hollowIf(s.Scout, glyph(draw.CircleGlyph{}, 3.8, blue)))
	}
}

// medians are the throughputs of the levels, NaN where there is no valid one.
func medians(c analysis.Curve) (xs, ys []float64) {
	for _, s := range c.Steps {
		y := math.NaN()
		if s.Valid && s.Throughput.OK {
			y = s.Throughput.V.Value
		}
		xs, ys = append(xs, float64(s.Concurrency)), append(ys, y)
	}
	return xs, ys
}

// fitted reports whether there is a line that can be drawn. That of a curve that
// still rises was rejected.
func fitted(c analysis.Curve) bool {
	f := c.Knee.Fit
	return f != nil && c.Knee.Verdict != knee.StillRising && len(c.Steps) > 0 && !math.IsNaN(f.At(f.K)) && !math.IsInf(f.At(f.K), 0)
}

// drawFit draws the fitted line over the levels that it was fitted to.
func drawFit(p *panel, c analysis.Curve, style draw.LineStyle) {
	f := c.Knee.Fit
	from, to := p.x.clamp(float64(f.From)), p.x.clamp(float64(f.To))
	if f.From >= f.To { // not recorded: the whole range of levels
		from, to = float64(c.Steps[0].Concurrency), float64(c.Steps[len(c.Steps)-1].Concurrency)
	}
	const pieces = 240 // enough for a smooth line on a logarithmic axis
	var xs, ys []float64
	add := func(x float64) { xs, ys = append(xs, x), append(ys, p.y.clamp(f.At(x))) }
	for i := 0; i <= pieces; i++ {
		x := from + (to-from)*float64(i)/pieces
		if p.x.log {
			x = from * math.Pow(to/from, float64(i)/pieces)
		}
		if n := len(xs); n > 0 && xs[n-1] < f.K && f.K < x {
			add(f.K)
		}
		add(x)
	}
	p.polyline(xs, ys, style)
}
