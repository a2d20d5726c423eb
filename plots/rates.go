package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Rate writes a rate in requests/s: all digits that rates are told apart by before the
// point, and at most three significant ones after it.
func Rate(r float64) string {
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return Missing
	}
	if r >= 100 {
		return strconv.FormatFloat(math.Round(r*10)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(r*1000)/1000, 'f', -1, 64)
}

// rateHeadline is [Headline] for offered rates.
func rateHeadline(r *analysis.RateSweep) string {
	var valid []load.RateStep
	for _, s := range r.Steps {
		if s.Valid {
			valid = append(valid, s)
		}
	}
	if len(valid) == 0 {
		return "No valid measurement"
	}
	first, last := Rate(valid[0].Rate), Rate(valid[len(valid)-1].Rate)
	if r.Replay {
		return fmt.Sprintf("A replayed trace at %s requests/s: %s achieved", first, Number(valid[0].Requests))
	}
	switch k := r.Knee; k.Verdict {
	case knee.Found:
		return "Falls behind from " + Number(k.Rate.V.Value) + " requests/s on"
	case knee.AtOrBelowFirst:
		return "Behind from the lowest rate on: " + first + " requests/s"
	case knee.NotLocated:
		return "Knee not located up to " + last + " requests/s"
	case knee.StillRising:
		return "Still follows the offered rate at " + last + " requests/s"
	}
	return "Too few valid rates to find a knee"
}

// ratePage is the page of a sweep over rates: tokens/s with the knee, requests/s beside
// those offered, and time to first token, over the offered rate.
func ratePage(c analysis.Curve, x Axis) *page {
	r := c.Rates
	g := &page{title: rateHeadline(r), subtitle: subtitles(c.Run), legend: rateLegend(r), axis: rateAxis(r, x)}
	g.add(rateTokens(r))
	g.add(rateRequests(r))
	g.add(rateWaits(r))
	if k := r.Knee.Rate; k.OK {
		text := "knee " + Number(k.V.Value)
		if !math.IsNaN(k.V.Lo) && !math.IsNaN(k.V.Hi) {
			text += " (" + Number(k.V.Lo) + "–" + Number(k.V.Hi) + ")"
		}
		g.above.labels = append(g.above.labels, laneLabel{x: k.V.Value, text: text, color: vermillion})
		for _, p := range g.panels {
			p.under = func(p *panel) { p.band(k.V.Lo, k.V.Hi, paleRed) }
			p.over = append([]func(*panel){func(p *panel) { p.vertical(k.V.Value, kneeLine) }}, p.over...)
		}
	}
	if a := r.Recommended.Rate; a.OK {
		g.below.labels = append(g.below.labels, laneLabel{x: a.V, text: "allow " + Number(a.V), color: darkGreen, symbol: draw.PyramidGlyph{}})
		g.panels[0].over = append(g.panels[0].over, func(p *panel) {
			if p.x.shows(a.V) {
				p.canvas.DrawGlyphNoClip(glyph(draw.PyramidGlyph{}, 6, green), vg.Point{X: p.x.at(a.V), Y: p.y.from + 5})
			}
		})
	}
	return g
}

// rateAxis is the axis of offered rates.
func rateAxis(r *analysis.RateSweep, a Axis) horizontal {
	var rates []float64
	for _, s := range r.Steps {
		rates = append(rates, s.Rate)
	}
	h := valueAxis("Offered rate, requests/s", scale{max: 10}, 8)
	if len(rates) == 0 {
		return h
	}
	lo, hi := rates[0], rates[len(rates)-1]
	switch log := a == AxisLog || a == AxisAuto && hi/lo > logSpan; {
	case lo == hi:
		h.scale = scale{max: 2 * hi}
	case log:
		pad := math.Pow(hi/lo, margin)
		h.scale, h.name = scale{min: lo / pad, max: hi * pad, log: true}, h.name+", logarithmic"
	default:
		h.scale = scale{max: hi * (1 + margin)}
	}
	return h
}

// rateTokens shows tokens/s over the offered rate with what was fitted.
func rateTokens(r *analysis.RateSweep) *panel {
	var values []float64
	for _, s := range r.Steps {
		values = append(values, s.Measurements...)
		if s.Throughput.OK {
			values = append(values, s.Throughput.V.Value, s.Throughput.V.Hi)
		}
	}
	p := &panel{heading: "Output tokens/s achieved", y: fromZero(values)}
	if k := r.Knee.Plateau; k.OK && p.y.shows(k.V) {
		p.ends = append(p.ends, endLabel{k.V, []string{"plateau", Number(k.V) + " tok/s"}, ink})
	}
	p.over = append(p.over, func(p *panel) { drawRateTokens(p, r) })
	return p
}

func drawRateTokens(p *panel, r *analysis.RateSweep) {
	if len(r.Steps) == 0 {
		p.say("nothing was measured")
	}
	for _, s := range r.Steps {
		dot := paleBlue
		if !s.Valid {
			dot = faint
		}
		for _, m := range s.Measurements {
			p.mark(s.Rate, m, glyph(draw.CircleGlyph{}, 2, dot))
		}
	}
	if f := r.Knee.Fit; f != nil && r.Knee.Verdict != knee.StillRising {
		drawRateFit(p, *f)
	}
	for _, s := range r.Steps {
		switch {
		case !s.Throughput.OK:
			p.vertical(s.Rate, line(1, grey, 1, 4))
		case !s.Valid:
			p.mark(s.Rate, s.Throughput.V.Value, glyph(cross{}, 4.5, grey))
		case slices.ContainsFunc(r.Knee.Outliers, func(o float64) bool { return Rate(o) == Rate(s.Rate) }):
			p.mark(s.Rate, s.Throughput.V.Value, glyph(draw.SquareGlyph{}, 4, ink))
		default:
			p.bar(s.Rate, s.Throughput.V.Lo, s.Throughput.V.Hi, blue)
			p.mark(s.Rate, s.Throughput.V.Value, glyph(draw.CircleGlyph{}, 3.8, blue))
		}
	}
}

// drawRateFit draws the fitted line over the rates that it was fitted to.
func drawRateFit(p *panel, f analysis.RateFit) {
	const pieces = 240
	var xs, ys []float64
	add := func(x float64) { xs, ys = append(xs, x), append(ys, p.y.clamp(f.At(x))) }
	for i := 0; i <= pieces; i++ {
		x := f.From + (f.To-f.From)*float64(i)/pieces
		if n := len(xs); n > 0 && xs[n-1] < f.K && f.K < x {
			add(f.K)
		}
		add(p.x.clamp(x))
	}
	p.polyline(xs, ys, line(1.8, ink))
}

// rateRequests shows the requests/s completed beside those that came.
func rateRequests(r *analysis.RateSweep) *panel {
	offered := rateSeries(r, func(s load.RateStep) (float64, bool) { return s.Offered(), s.Measured > 0 })
	offered.line, offered.glyph = line(1.2, grey, 5, 3), glyph(draw.RingGlyph{}, 3, grey)
	achieved := rateSeries(r, func(s load.RateStep) (float64, bool) { return s.Requests, s.Measured > 0 })
	achieved.line, achieved.glyph = line(1.5, green), glyph(draw.PyramidGlyph{}, 4, green)
	offered.name, offered.label = "came", muted
	achieved.name, achieved.label = "completed", darkGreen
	return ratePanel(r, "Requests/s that came, and that were completed", fromZero, offered, achieved)
}

// rateWaits shows the time to first token from the send and from the schedule.
func rateWaits(r *analysis.RateSweep) *panel {
	ttft := func(pick func(load.RateStep) (load.Dist, float64)) series {
		return rateSeries(r, func(s load.RateStep) (float64, bool) {
			d, v := pick(s)
			return 1e3 * v, d.Count > 0
		})
	}
	p50 := asP50(ttft(func(s load.RateStep) (load.Dist, float64) { return s.TTFT, s.TTFT.P50 }))
	p95 := asP95(ttft(func(s load.RateStep) (load.Dist, float64) { return s.TTFT, s.TTFT.P95 }))
	planned := ttft(func(s load.RateStep) (load.Dist, float64) { return s.ScheduledTTFT, s.ScheduledTTFT.P95 })
	planned.line, planned.glyph = line(1.5, purple, 1.5, 3), glyph(draw.TriangleGlyph{}, 3.6, purple)
	p50.name, p95.name = "p50, send", "p95, send"
	planned.name, planned.label = "p95, schedule", purple
	return ratePanel(r, "Time to first token, ms", latencyScale, planned, p95, p50)
}

// rateSeries takes one value from each step.
func rateSeries(r *analysis.RateSweep, pick func(load.RateStep) (float64, bool)) series {
	var s series
	for _, step := range r.Steps {
		v, ok := pick(step)
		if !ok || math.IsInf(v, 0) {
			v = math.NaN()
		}
		s.values = append(s.values, v)
	}
	return s
}

// ratePanel shows lines over the offered rate; nil when none has a value.
func ratePanel(r *analysis.RateSweep, heading string, scaled func([]float64) scale, all ...series) *panel {
	p := &panel{heading: heading}
	var values []float64
	for _, s := range all {
		end := s.end()
		if math.IsNaN(end) {
			continue
		}
		values = append(values, s.values...)
		p.ends = append(p.ends, endLabel{end, []string{s.name}, s.label})
		p.over = append(p.over, func(p *panel) {
			xs := make([]float64, len(r.Steps))
			for i, step := range r.Steps {
				xs[i] = step.Rate
			}
			p.polyline(xs, s.values, s.line)
			for i, step := range r.Steps {
				g := s.glyph
				if !step.Valid {
					g = glyph(cross{}, 3.6, grey)
				}
				p.mark(xs[i], s.values[i], g)
			}
		})
	}
	if len(p.over) == 0 {
		return nil
	}
	if p.y = scaled(values); p.y.log {
		p.heading += ", logarithmic"
	}
	return p
}

// rateLegend explains the marks of the upper panel.
func rateLegend(r *analysis.RateSweep) legend {
	var l legend
	var windows, outside bool
	for _, s := range r.Steps {
		windows = windows || s.Valid && len(s.Measurements) > 1
		outside = outside || !s.Valid
	}
	if windows {
		l.add("one window", markWidth, markSwatch(glyph(draw.CircleGlyph{}, 2.4, paleBlue)))
		l.add("median of a rate, 95 % interval", markWidth, func(c *draw.Canvas, at vg.Point) {
			c.StrokeLine2(line(1.3, blue), at.X, at.Y-6, at.X, at.Y+6)
			c.DrawGlyphNoClip(glyph(draw.CircleGlyph{}, 3.8, blue), at)
		})
	}
	if r.Knee.Fit != nil && r.Knee.Verdict != knee.StillRising {
		l.add("fitted line", lineWidth, lineSwatch(line(1.8, ink)))
	}
	l.addKnee(analysis.Curve{Knee: knee.Result{Concurrency: r.Knee.Rate}})
	if len(r.Knee.Outliers) > 0 {
		l.addOutlier()
	}
	if outside {
		l.addInvalid("not valid, not fitted")
	}
	return l
}
