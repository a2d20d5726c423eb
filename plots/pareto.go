package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
)

// Pareto shows the trade-off between all and each: the tokens/s of one stream
// against the tokens/s of all together, each level with its number of streams
// beside it. Every number of streams N is a ray from the origin with the slope
// N, so the knee is a ray and its interval a wedge. For one curve the speed of a
// stream while it decodes stands beside the one with its waiting. The error is
// that of [Overlay].
func Pareto(curves []analysis.Curve) (*Figure, error) {
	if err := checkCurves(curves, AxisAuto); err != nil {
		return nil, err
	}
	return figure(func() *page {
		if len(curves) == 1 {
			return paretoPage(curves[0])
		}
		return paretosPage(curves)
	}), nil
}

const paretoAxis = "Output tokens/s of one stream, waiting included (total / streams)"

func paretoPage(c analysis.Curve) *page {
	levels := finite(analysis.Tradeoffs(c))
	g := &page{title: Headline(c), subtitle: subtitles(c.Run), legend: paretoLegend(c, levels)}
	p := g.addPareto(levels)
	if k := located(c); k.OK && len(levels) > 0 {
		text := "knee " + Streams(k.V.Value)
		if b := Interval(k.V); b != "" {
			text += " (" + b + ")"
		}
		g.above.labels = []laneLabel{{x: rayEnd(k.V.Value, g.axis.scale, p.y), text: text, color: vermillion}}
		p.under = func(p *panel) { p.wedge(k.V.Lo, k.V.Hi) }
		p.over = append(p.over, func(p *panel) { p.ray(k.V.Value, kneeLine) })
	}
	p.over = append(p.over, func(p *panel) {
		drawWaiting(p, levels)
		drawPareto(p, c, levels, looks[0])
		var taken crowd
		taken.addLevels(p, levels)
		k := located(c).V.Value
		if k > 0 {
			taken.addLine(p.point(0, 0), p.rayTip(k))
		}
		labelLevels(p, &taken, levels, k)
	})
	return g
}

func paretosPage(curves []analysis.Curve) *page {
	g := &page{title: "Each stream against all together", subtitle: overlaySubtitles(curves), legend: overlayLegend(curves)}
	var all []analysis.Tradeoff
	each := make([][]analysis.Tradeoff, len(curves))
	for i, c := range curves {
		each[i] = finite(analysis.Tradeoffs(c))
		for j := range each[i] {
			each[i][j].Decode.OK = false // of several curves only one point a level
		}
		all = append(all, each[i]...)
	}
	p := g.addPareto(all)
	p.over = append(p.over, func(p *panel) {
		for i, c := range curves {
			drawPareto(p, c, each[i], looks[i%len(looks)])
		}
		var taken crowd
		for _, levels := range each {
			taken.addLevels(p, levels)
		}
		for i := range each {
			labelLevels(p, &taken, each[i], located(curves[i]).V.Value)
		}
	})
	p.under = func(p *panel) {
		for i, c := range curves {
			if k := located(c); k.OK {
				p.ray(k.V.Value, looks[i%len(looks)].line(0.9))
			}
		}
	}
	return g
}

// finite are the levels that can be drawn.
func finite(all []analysis.Tradeoff) []analysis.Tradeoff {
	return slices.DeleteFunc(all, func(t analysis.Tradeoff) bool {
		return math.IsNaN(t.Total.Value) || math.IsInf(t.Total.Value, 0)
	})
}

// addPareto adds the panel that holds the levels, and the axis of one stream.
func (g *page) addPareto(levels []analysis.Tradeoff) *panel {
	var xs, ys []float64
	for _, t := range levels {
		xs, ys = append(xs, t.PerStream), append(ys, t.Total.Value, t.Total.Hi)
		if t.Decode.OK {
			xs = append(xs, t.Decode.V)
		}
	}
	g.axis = valueAxis(paretoAxis, fromZero(xs), 8)
	if g.axis.scale.max == 0 {
		g.axis.scale.max = 1
	}
	p := &panel{heading: throughputHeading, y: fromZero(ys)}
	if len(levels) == 0 {
		p = emptyPanel()
	}
	g.add(p)
	return p
}

// drawPareto joins the valid levels of a curve in the order of their streams. A
// level that is not valid is a gap; an outlier stands beside the line.
func drawPareto(p *panel, c analysis.Curve, levels []analysis.Tradeoff, l look) {
	outlier := func(t analysis.Tradeoff) bool { return slices.Contains(c.Knee.Outliers, t.Concurrency) }
	var xs, ys []float64
	for _, t := range levels {
		x := t.PerStream
		if !t.Valid {
			x = math.NaN()
		}
		if !outlier(t) {
			xs, ys = append(xs, x), append(ys, t.Total.Value)
		}
	}
	p.polyline(xs, ys, l.line(1.5))
	for _, t := range levels {
		g := hollowIf(t.Scout, l.glyph(4))
		switch {
		case !t.Valid:
			g = glyph(cross{}, 4.2, grey)
		case outlier(t):
			g = glyph(draw.SquareGlyph{}, 4, ink)
		}
		p.mark(t.PerStream, t.Total.Value, g)
	}
}

// drawWaiting joins each level with the speed of its streams while they decode:
// the length of the line is what waiting takes.
func drawWaiting(p *panel, levels []analysis.Tradeoff) {
	for _, t := range levels {
		if !t.Decode.OK || !t.Valid {
			continue
		}
		xs, ys := []float64{t.PerStream, t.Decode.V}, []float64{t.Total.Value, t.Total.Value}
		p.polyline(xs, ys, line(1, paleGreen))
		p.mark(t.Decode.V, t.Total.Value, glyph(draw.PyramidGlyph{}, 3.6, green))
	}
}

// labelLevels writes the number of streams beside each level, where there is
// room: the first and the last, those next to the knee k, then the others.
func labelLevels(p *panel, taken *crowd, levels []analysis.Tradeoff, k float64) {
	style := words(tickSize, ink, false, draw.XLeft, draw.YCenter)
	rank := func(i int) float64 {
		if i == 0 || i == len(levels)-1 || k <= 0 {
			return 0
		}
		return math.Abs(math.Log(float64(levels[i].Concurrency) / k))
	}
	order := make([]int, len(levels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	for _, i := range order {
		t := levels[i]
		if !p.x.shows(t.PerStream) || !p.y.shows(t.Total.Value) {
			continue
		}
		text := Streams(float64(t.Concurrency))
		if at, ok := taken.place(p, p.point(t.PerStream, t.Total.Value), style.Width(text), tickSize); ok {
			p.canvas.FillText(style, at, text)
		}
	}
}

// addLevels takes the place of the markers of the levels, of the line that joins
// them, and of those to the speed while decoding.
func (c *crowd) addLevels(p *panel, levels []analysis.Tradeoff) {
	var last vg.Point
	joined := false
	for _, t := range levels {
		if !p.x.shows(t.PerStream) || !p.y.shows(t.Total.Value) {
			joined = false
			continue
		}
		at := p.point(t.PerStream, t.Total.Value)
		c.taken = append(c.taken, around(at, 4, 4))
		if !t.Valid {
			continue
		}
		if joined {
			c.addLine(last, at)
		}
		last, joined = at, true
		if t.Decode.OK && p.x.shows(t.Decode.V) {
			end := p.point(t.Decode.V, t.Total.Value)
			c.addLine(at, end)
			c.taken = append(c.taken, around(end, 4, 4))
		}
	}
}

// rayEnd is the x at which the ray of n streams leaves the panel.
func rayEnd(n float64, x, y scale) float64 {
	if y.max <= 0 {
		return x.max
	}
	return min(x.max, y.max/n)
}

// ray draws the line on which a level of n streams lies. Both scales begin at 0.
func (p *panel) ray(n float64, style draw.LineStyle) {
	if n > 0 {
		p.canvas.StrokeLines(style, []vg.Point{p.point(0, 0), p.rayTip(n)})
	}
}

// rayTip is where the ray of n streams leaves the panel.
func (p *panel) rayTip(n float64) vg.Point {
	x := rayEnd(n, p.x, p.y)
	return p.point(x, min(n*x, p.y.max))
}

// wedge fills the panel between the rays of lo and hi streams.
func (p *panel) wedge(lo, hi float64) {
	if !(lo > 0 && hi >= lo) || math.IsInf(hi, 0) {
		return
	}
	right := rayEnd(lo, p.x, p.y)
	p.canvas.FillPolygon(paleRed, []vg.Point{
		p.point(0, 0), p.rayTip(hi), p.point(right, min(hi*right, p.y.max)), p.rayTip(lo),
	})
}

// paretoLegend explains the marks that the levels need.
func paretoLegend(c analysis.Curve, levels []analysis.Tradeoff) legend {
	var l legend
	if len(levels) > 0 {
		l.addSeries("level, with its number of parallel streams", series{line: looks[0].line(1.5), glyph: looks[0].glyph(3.8)})
	}
	if slices.ContainsFunc(levels, func(t analysis.Tradeoff) bool { return t.Valid && t.Decode.OK }) {
		l.addSeries("the same while decoding (1/TPOT, median)", series{line: line(1, paleGreen), glyph: glyph(draw.PyramidGlyph{}, 3.6, green)})
	}
	l.addKnee(c)
	if scouted(c) {
		l.addScout(blue)
	}
	if slices.ContainsFunc(levels, func(t analysis.Tradeoff) bool { return t.Valid && slices.Contains(c.Knee.Outliers, t.Concurrency) }) {
		l.addOutlier()
	}
	if slices.ContainsFunc(levels, func(t analysis.Tradeoff) bool { return !t.Valid }) {
		l.addInvalid("not valid")
	}
	return l
}
