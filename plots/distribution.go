package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
)

// TTFTDistribution shows how time to first token is distributed at each level:
// nested boxes between pairs of quantiles, the median and p99. The spreads are
// those of [analysis.Spreads] for c; where they hold nothing below the median the
// boxes begin there. The error is that of [Overlay].
func TTFTDistribution(c analysis.Curve, spreads []analysis.Spread, x Axis) (*Figure, error) {
	return distribution("Time to first token (TTFT)", c, spreads, x)
}

// ITLDistribution is [TTFTDistribution] of the gaps between two tokens.
func ITLDistribution(c analysis.Curve, spreads []analysis.Spread, x Axis) (*Figure, error) {
	return distribution("Gap between two tokens (ITL)", c, spreads, x)
}

func distribution(heading string, c analysis.Curve, spreads []analysis.Spread, x Axis) (*Figure, error) {
	if err := checkCurves([]analysis.Curve{c}, x); err != nil {
		return nil, err
	}
	return figure(func() *page { return distributionPage(heading, c, spreads, x) }), nil
}

func distributionPage(heading string, c analysis.Curve, spreads []analysis.Spread, x Axis) *page {
	g := &page{title: Headline(c), subtitle: subtitles(c.Run), axis: streamAxis(levelsOf(c), x)}
	if p := distributionPanel(heading, spreads); p != nil {
		g.add(p)
		g.markKnee(c)
		g.legend = distributionLegend(c, spreads)
	}
	return g
}

// nested is a box between two quantiles.
type nested struct {
	name   string
	bounds func(analysis.Spread) (lo, hi float64)
	width  vg.Length
}

// The boxes, outermost first: around the median, and from it upwards.
var (
	aroundMedian = []nested{
		{"p5–p95", func(s analysis.Spread) (float64, float64) { return s.P5, s.P95 }, 9},
		{"p10–p90", func(s analysis.Spread) (float64, float64) { return s.P10, s.P90 }, 15},
		{"p25–p75", func(s analysis.Spread) (float64, float64) { return s.P25, s.P75 }, 21},
	}
	aboveMedian = []nested{
		{"p50–p95", func(s analysis.Spread) (float64, float64) { return s.P50, s.P95 }, 9},
		{"p50–p90", func(s analysis.Spread) (float64, float64) { return s.P50, s.P90 }, 15},
	}
)

// tones are the colours of one level; the boxes outermost first.
type tones struct {
	median, p99, stem color.Color
	boxes             [3]color.Color
}

var (
	validTones   = tones{blue, darkOrange, blue2, [3]color.Color{blue1, blue2, blue3}}
	invalidTones = tones{grey, grey, grey2, [3]color.Color{grey1, grey2, grey3}}
)

// boxesOf are the boxes that the spreads have quantiles for.
func boxesOf(spreads []analysis.Spread) []nested {
	has := func(pick func(analysis.Spread) float64) bool {
		return slices.ContainsFunc(spreads, func(s analysis.Spread) bool { return !math.IsNaN(pick(s)) && s.Count > 0 })
	}
	switch {
	case has(func(s analysis.Spread) float64 { return s.P5 }):
		return aroundMedian
	case has(func(s analysis.Spread) float64 { return s.P90 }):
		return aboveMedian
	}
	return nil
}

// logRatio is the ratio between the largest and the smallest quantile from which
// the axis of a distribution is logarithmic.
const logRatio = 20

// distributionPanel is nil when no level has a value.
func distributionPanel(heading string, spreads []analysis.Spread) *panel {
	var seconds []float64
	unit, factor := "ms", 1e3
	for _, s := range spreads {
		if s.Count > 0 {
			seconds = append(seconds, s.P5, s.P50, s.P95, s.P99)
			if s.P95 >= secondsFrom || s.P50 >= secondsFrom {
				unit, factor = "s", 1
			}
		}
	}
	known := slices.ContainsFunc(seconds, func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
	if !known {
		return nil
	}
	for i := range seconds {
		seconds[i] *= factor
	}
	p := &panel{heading: heading + ", " + unit, y: logFrom(logRatio, seconds)}
	if p.y.log {
		p.heading += ", logarithmic"
	}
	boxes := boxesOf(spreads)
	p.over = append(p.over, func(p *panel) {
		drawMedians(p, spreads, factor)
		narrow := roomPerLevel(p, spreads) / 26
		for _, s := range spreads {
			if s.Count > 0 {
				drawSpread(p, s, boxes, factor, min(1, narrow))
			}
		}
	})
	return p
}

// roomPerLevel is the least distance between two levels on the axis.
func roomPerLevel(p *panel, spreads []analysis.Spread) vg.Length {
	room := p.x.to - p.x.from
	for i := 1; i < len(spreads); i++ {
		room = min(room, p.x.at(float64(spreads[i].Concurrency))-p.x.at(float64(spreads[i-1].Concurrency)))
	}
	return room
}

// drawMedians joins the medians of the valid levels.
func drawMedians(p *panel, spreads []analysis.Spread, factor float64) {
	var xs, ys []float64
	for _, s := range spreads {
		y := s.P50 * factor
		if !s.Valid || s.Count == 0 {
			y = math.NaN()
		}
		xs, ys = append(xs, float64(s.Concurrency)), append(ys, y)
	}
	p.polyline(xs, ys, line(1, blue))
}

// drawSpread draws one level, its boxes narrowed by a factor.
func drawSpread(p *panel, s analysis.Spread, boxes []nested, factor float64, narrow vg.Length) {
	n := float64(s.Concurrency)
	if !p.x.shows(n) {
		return
	}
	at, c := p.x.at(n), validTones
	if !s.Valid {
		c = invalidTones
	}
	upright := func(lo, hi float64) (from, to vg.Length, ok bool) {
		lo, hi = lo*factor, hi*factor
		return p.y.at(p.y.clamp(lo)), p.y.at(p.y.clamp(hi)), finitePair(lo, hi)
	}
	across := func(v float64, half vg.Length, width float64, c color.Color) {
		if v *= factor; p.y.shows(v) {
			p.canvas.StrokeLine2(line(width, c), at-half, p.y.at(v), at+half, p.y.at(v))
		}
	}
	if y0, y1, ok := upright(s.P50, s.P99); ok {
		p.canvas.StrokeLine2(line(1, c.stem), at, y0, at, y1)
	}
	for i, b := range boxes {
		lo, hi := b.bounds(s)
		if y0, y1, ok := upright(lo, hi); ok {
			p.canvas.FillPolygon(c.boxes[i], box(vg.Point{X: at, Y: (y0 + y1) / 2}, max(1, b.width*narrow/2), (y1-y0)/2))
		}
	}
	across(s.P99, max(2, 5*narrow), 2, c.p99)
	across(s.P50, max(3, 12*narrow), 2.4, c.median)
}

func finitePair(a, b float64) bool {
	return !math.IsNaN(a+b) && !math.IsInf(a, 0) && !math.IsInf(b, 0)
}

// distributionLegend explains the boxes.
func distributionLegend(c analysis.Curve, spreads []analysis.Spread) legend {
	var l legend
	tick := func(style draw.LineStyle, half vg.Length) func(*draw.Canvas, vg.Point) {
		return func(c *draw.Canvas, at vg.Point) { c.StrokeLine2(style, at.X-half, at.Y, at.X+half, at.Y) }
	}
	if slices.ContainsFunc(spreads, func(s analysis.Spread) bool { return s.Count > 0 && !math.IsNaN(s.P99) }) {
		l.add("p99", markWidth, tick(line(2, darkOrange), 5))
	}
	for i, b := range boxesOf(spreads) {
		l.add(b.name, markWidth+2, func(c *draw.Canvas, at vg.Point) { c.FillPolygon(validTones.boxes[i], box(at, b.width/2*0.62, 5.5)) })
	}
	l.add("median", lineWidth, tick(line(2.4, blue), 9))
	l.addKnee(c)
	if slices.ContainsFunc(spreads, func(s analysis.Spread) bool { return !s.Valid && s.Count > 0 }) {
		l.add("grey: not valid", markWidth, func(c *draw.Canvas, at vg.Point) { c.FillPolygon(grey3, box(at, 5, 5.5)) })
	}
	return l
}
