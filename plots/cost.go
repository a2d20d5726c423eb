package plots

import (
	"math"

	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
)

// Cost shows what a million output tokens cost over the number of parallel streams,
// with the knee marked, and below it what waiting that takes: the time to first
// token. Of several curves each has its own look. Levels without a cost are left
// out. The error is that of [Overlay].
func Cost(curves []analysis.Curve, x Axis) (*Figure, error) {
	if err := checkCurves(curves, x); err != nil {
		return nil, err
	}
	return figure(func() *page {
		if len(curves) == 1 {
			return costPage(curves[0], x)
		}
		return costsPage(curves, x)
	}), nil
}

const costHeading = "Cost of a million output tokens, in the currency of the prices"

func costPage(c analysis.Curve, x Axis) *page {
	g := &page{title: Headline(c), subtitle: subtitles(c.Run), axis: streamAxis(levelsOf(c), x)}
	s := costSeries(c)
	s.line, s.glyph = line(1.5, blue), glyph(draw.CircleGlyph{}, 3.8, blue)
	top := seriesPanel(costHeading, costScale, s)
	if top == nil {
		return g
	}
	top.over = append([]func(*panel){func(p *panel) { drawCosts(p, c) }}, top.over...)
	g.add(top)
	g.add(ttftPanel(c))
	g.markKnee(c)
	name := "cost at a level"
	if c.Run.Settings.Prices.Hour > 0 {
		name += ", 95 % interval"
	}
	g.legend.addSeries(name, s)
	if best := c.Account; best != nil && best.Cheapest.OK {
		n, e := best.Cheapest.V.Concurrency, best.Cheapest.V.Cost.PerMillion
		top.over = append(top.over, func(p *panel) { p.mark(float64(n), e.Value, glyph(draw.RingGlyph{}, 7, darkGreen)) })
		g.legend.add("cheapest: "+Streams(float64(n))+" streams, "+Number(e.Value), markWidth, markSwatch(glyph(draw.RingGlyph{}, 6, darkGreen)))
	}
	g.legend.addLevels(c)
	return g
}

func costsPage(curves []analysis.Curve, x Axis) *page {
	g := &page{
		title: "Cost of output", subtitle: overlaySubtitles(curves), legend: overlayLegend(curves),
		axis: streamAxis(levelsOf(curves...), x),
	}
	all := make([]series, len(curves))
	for i, c := range curves {
		all[i] = looks[i%len(looks)].series(costSeries(c))
	}
	g.add(seriesPanel(costHeading, costScale, all...))
	unit, factor := latencyUnit(ttftP95, curves...)
	g.add(seriesPanel("Median time to first token, "+unit, latencyScale, inLooks(curves, ttftP50, factor)...))
	g.markKnees(curves)
	return g
}

// costScale is logarithmic from one decade on: cost falls as the inverse of
// throughput, and the levels near the knee are what matters.
func costScale(values []float64) scale { return logFrom(10, values) }

// costSeries is the cost of each level.
func costSeries(c analysis.Curve) series {
	s := series{steps: c.Steps}
	for _, step := range c.Steps {
		v := math.NaN()
		if step.Cost.OK {
			v = step.Cost.V.PerMillion.Value
		}
		s.values = append(s.values, v)
	}
	return s
}

// drawCosts draws the intervals of the valid levels.
func drawCosts(p *panel, c analysis.Curve) {
	for _, s := range c.Steps {
		if s.Valid && s.Cost.OK {
			p.bar(float64(s.Concurrency), s.Cost.V.PerMillion.Lo, s.Cost.V.PerMillion.Hi, blue)
		}
	}
}
