package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one chart of a figure: a data area with its two scales, a heading
// above it, and labels for its lines in the margin to the right. What it shows
// is drawn by its functions, under and over the grid.
type panel struct {
	heading string
	y       scale
	ends    []endLabel
	under   func(*panel)
	over    []func(*panel)

	canvas *draw.Canvas // from here on set by the layout
	x      scale
	yTicks []tick
	xTicks []tick
	named  bool // the axis of streams shows its labels
}

// endLabel stands in the right margin at height y.
type endLabel struct {
	y     float64
	lines []string
	color color.Color
}

// point is where (x, y) is drawn.
func (p *panel) point(x, y float64) vg.Point { return vg.Point{X: p.x.at(x), Y: p.y.at(y)} }

// valueTicks marks about n values; an axis without values gets no marks.
func (p *panel) valueTicks(n int) {
	if p.y.max > 0 {
		p.yTicks = p.y.ticks(n)
		return
	}
	p.y.max = 1
}

// draw draws the panel, its heading at the given height.
func (p *panel) draw(headingAt vg.Length) {
	if p.under != nil {
		p.under(p)
	}
	p.frame(headingAt)
	for _, paint := range p.over {
		paint(p)
	}
	p.drawEnds()
}

// frame draws grid, axes, tick labels and the heading.
func (p *panel) frame(headingAt vg.Length) {
	c := p.canvas
	for _, t := range p.yTicks {
		if t.label != "" {
			c.StrokeLine2(line(0.7, faint), p.x.from, p.y.at(t.value), p.x.to, p.y.at(t.value))
		}
	}
	axis := line(1, muted)
	label := words(tickSize, ink, false, draw.XRight, draw.YCenter)
	for _, t := range p.yTicks {
		y := p.y.at(t.value)
		c.StrokeLine2(axis, p.x.from-3, y, p.x.from, y)
		if t.label != "" {
			c.FillText(label, vg.Point{X: p.x.from - 6, Y: y + 1}, t.label)
		}
	}
	c.StrokeLine2(axis, p.x.from, p.y.from, p.x.from, p.y.to)
	c.StrokeLine2(axis, p.x.from, p.y.from, p.x.to, p.y.from)
	label = words(tickSize, ink, false, draw.XCenter, draw.YTop)
	for _, t := range p.xTicks {
		x := p.x.at(t.value)
		c.StrokeLine2(axis, x, p.y.from-4, x, p.y.from)
		if p.named && t.label != "" {
			c.FillText(label, vg.Point{X: x, Y: p.y.from - 6}, t.label)
		}
	}
	heading := words(headingSize, ink, true, draw.XLeft, draw.YBottom)
	c.FillText(heading, vg.Point{X: p.x.from, Y: headingAt}, p.heading)
}

// vertical draws a line across the panel at x, if x is in range.
func (p *panel) vertical(x float64, style draw.LineStyle) {
	if p.x.shows(x) {
		p.canvas.StrokeLine2(style, p.x.at(x), p.y.from, p.x.at(x), p.y.to)
	}
}

// band fills the panel from lo to hi, cut at its edges.
func (p *panel) band(lo, hi float64, c color.Color) {
	if math.IsNaN(lo) || math.IsNaN(hi) || hi < p.x.min || lo > p.x.max {
		return
	}
	a, b := p.x.at(p.x.clamp(lo)), p.x.at(p.x.clamp(hi))
	p.canvas.FillPolygon(c, []vg.Point{
		{X: a, Y: p.y.from}, {X: b, Y: p.y.from}, {X: b, Y: p.y.to}, {X: a, Y: p.y.to},
	})
}

// polyline joins points; a point that the scales cannot show ends the line, so
// that a missing value is a gap.
func (p *panel) polyline(xs, ys []float64, style draw.LineStyle) {
	var run []vg.Point
	flush := func() {
		if len(run) > 1 {
			p.canvas.StrokeLines(style, run)
		}
		run = nil
	}
	for i, x := range xs {
		if !p.x.shows(x) || !p.y.shows(ys[i]) {
			flush()
			continue
		}
		run = append(run, p.point(x, ys[i]))
	}
	flush()
}

// mark draws a marker at (x, y), if it is in range.
func (p *panel) mark(x, y float64, g draw.GlyphStyle) {
	if p.x.shows(x) && p.y.shows(y) {
		p.canvas.DrawGlyphNoClip(g, p.point(x, y))
	}
}

// bar draws a spread from lo to hi with short caps, cut at the edges.
func (p *panel) bar(x, lo, hi float64, c color.Color) {
	if !p.x.shows(x) || math.IsNaN(lo) || math.IsNaN(hi) || lo == hi {
		return
	}
	s, at := line(1.3, c), p.x.at(x)
	a, b := p.y.at(p.y.clamp(lo)), p.y.at(p.y.clamp(hi))
	p.canvas.StrokeLine2(s, at, a, at, b)
	p.canvas.StrokeLine2(s, at-3.5, a, at+3.5, a)
	p.canvas.StrokeLine2(s, at-3.5, b, at+3.5, b)
}

// leading is the distance between two lines of labels.
const leading vg.Length = 13.5

// drawEnds draws the labels of the right margin, moved apart where they would
// overlap.
func (p *panel) drawEnds() {
	style := words(textSize, ink, false, draw.XLeft, draw.YCenter)
	for _, e := range p.placedEnds() {
		style.Color = e.color
		y := e.at + leading*vg.Length(len(e.lines)-1)/2
		for _, l := range e.lines {
			p.canvas.FillText(style, vg.Point{X: p.x.to + 8, Y: y}, l)
			y -= leading
		}
	}
}

// placedEnd is an endLabel with the height of its middle.
type placedEnd struct {
	endLabel
	at vg.Length
}

// placedEnds moves labels that would overlap apart, upper values first: a group
// of them stands around the mean of where they belong, and not below the panel.
func (p *panel) placedEnds() []placedEnd {
	type group struct {
		from, to     int
		sum, at, all vg.Length // all is the height of all of them
	}
	ends := make([]placedEnd, len(p.ends))
	for i, e := range p.ends {
		ends[i] = placedEnd{e, p.y.at(p.y.clamp(e.y))}
	}
	slices.SortStableFunc(ends, func(a, b placedEnd) int { return cmp.Compare(b.at, a.at) })
	var groups []group
	for i, e := range ends {
		g := group{i, i + 1, e.at, e.at, leading * vg.Length(len(e.lines))}
		for n := len(groups); n > 0 && groups[n-1].at-groups[n-1].all/2 < g.at+g.all/2-0.01; n = len(groups) {
			above := groups[n-1]
			groups = groups[:n-1]
			g.from, g.sum, g.all = above.from, above.sum+g.sum, above.all+g.all
			g.at = max(g.sum/vg.Length(g.to-g.from), p.y.from+(g.all-leading)/2)
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		y := g.at + g.all/2
		for i := g.from; i < g.to; i++ {
			half := leading * vg.Length(len(ends[i].lines)) / 2
			ends[i].at = y - half
			y -= 2 * half
		}
	}
	return ends
}

// emptyPanel says that there is nothing to show.
func emptyPanel() *panel {
	return &panel{y: scale{max: 0}, over: []func(*panel){func(p *panel) { p.say("there is nothing to show") }}}
}

// say writes a text into the middle of the panel.
func (p *panel) say(s string) {
	at := vg.Point{X: (p.x.from + p.x.to) / 2, Y: (p.y.from + p.y.to) / 2}
	p.canvas.FillText(words(headingSize, muted, false, draw.XCenter, draw.YCenter), at, s)
}

// horizontal draws a line across the panel at y, if y is in range.
func (p *panel) horizontal(y float64, style draw.LineStyle) {
	if p.y.shows(y) {
		p.canvas.StrokeLine2(style, p.x.from, p.y.at(y), p.x.to, p.y.at(y))
	}
}
