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
	color  color.Color
}

// The boxes, outermost first: around the median, and from it upwards.
var (
	aroundMedian = []nested{
		{"p5–p95", func(s analysis.Spread) (float64, float64) { return s.P5, s.P95 }, 9, blue1},
		{"p10–p90", func(s analysis.Spread) (float64, float64) { return s.P10, s.P90 }, 15, blue2},
		{"p25–p75", func(s analysis.Spread) (float64, float64) { return s.P25, s.P75 }, 21, blue3},
	}
	aboveMedian = []nested{
		{"p50–p95", func(s analysis.Spread) (float64, float64) { return s.P50, s.P95 }, 9, blue1},
		{"p50–p90", func(s analysis.Spread) (float64, float64) { return s.P50, s.P90 }, 15, blue2},
	}
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
	at, median := p.x.at(n), blue
	if lo, hi := s.P50*factor, s.P99*factor; finitePair(lo, hi) {
		y0, y1 := p.y.at(p.y.clamp(lo)), p.y.at(p.y.clamp(hi))
		p.canvas.StrokeLine2(line(1, stemColor(s)), at, y0, at, y1)
	}
	for i, b := range boxes {
		c := b.color
		if !s.Valid {
			median, c = grey, []color.Color{grey1, grey2, grey3}[i]
		}
		lo, hi := b.bounds(s)
		if lo, hi = lo*factor, hi*factor; !finitePair(lo, hi) {
			continue
		}
		y0, y1 := p.y.at(p.y.clamp(lo)), p.y.at(p.y.clamp(hi))
		half := max(1, b.width*narrow/2)
		p.canvas.FillPolygon(c, []vg.Point{{X: at - half, Y: y0}, {X: at + half, Y: y0}, {X: at + half, Y: y1}, {X: at - half, Y: y1}})
	}
	if y := s.P99 * factor; p.y.shows(y) {
		p.canvas.StrokeLine2(line(2, p99Color(s)), at-max(2, 5*narrow), p.y.at(y), at+max(2, 5*narrow), p.y.at(y))
	}
	if y := s.P50 * factor; p.y.shows(y) {
		half := max(3, 12*narrow)
		p.canvas.StrokeLine2(line(2.4, median), at-half, p.y.at(y), at+half, p.y.at(y))
	}
}

func stemColor(s analysis.Spread) color.Color {
	if s.Valid {
		return blue2
	}
	return grey2
}

func p99Color(s analysis.Spread) color.Color {
	if s.Valid {
		return darkOrange
	}
	return grey
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
	boxes := boxesOf(spreads)
	if slices.ContainsFunc(spreads, func(s analysis.Spread) bool { return s.Count > 0 && !math.IsNaN(s.P99) }) {
		l.add("p99", markWidth, tick(line(2, darkOrange), 5))
	}
	for _, b := range boxes {
		l.add(b.name, markWidth+2, func(c *draw.Canvas, at vg.Point) { c.FillPolygon(b.color, box(at, b.width/2*0.62, 5.5)) })
	}
	l.add("median", lineWidth, tick(line(2.4, blue), 9))
	l.addKnee(c)
	if slices.ContainsFunc(spreads, func(s analysis.Spread) bool { return !s.Valid && s.Count > 0 }) {
		l.add("grey: not valid", markWidth, func(c *draw.Canvas, at vg.Point) { c.FillPolygon(grey3, box(at, 5, 5.5)) })
	}
	return l
}
