package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/load"
)

// Capacity is the capacity curve of c: throughput with its knee over the number
// of parallel streams, and below it, on the same axis, time to first token and
// the speed of one stream. Panels without any value are left out. The error
// says which level c cannot be drawn at.
func Capacity(c analysis.Curve) (*Figure, error) {
	for i, s := range c.Steps {
		if s.Concurrency < 1 {
			return nil, fmt.Errorf("plot: level %d has %d streams, want at least 1", i, s.Concurrency)
		}
		if i > 0 && s.Concurrency <= c.Steps[i-1].Concurrency {
			return nil, errors.New("plot: the levels are not in ascending order")
		}
	}
	return &Figure{paint: func(canvas *draw.Canvas) { newPage(canvas, c).draw() }}, nil
}

// page is the layout of a capacity curve, from top to bottom: headline,
// subtitles, legend, labels of the lines, panels, axis title.
type page struct {
	canvas   *draw.Canvas
	curve    analysis.Curve
	levels   []int
	panels   []*panel // the first is throughput
	series   [][]series
	legend   legend
	subtitle []string
	above    lane // knee and admission limit
	below    lane // streams to allow, truth of the simulator
}

const (
	edge          vg.Length = 18 // free at the edges of the page
	headingHeight vg.Length = 18
	ticksHeight   vg.Length = 20
	panelGap      vg.Length = 12
)

func newPage(canvas *draw.Canvas, c analysis.Curve) *page {
	g := &page{canvas: canvas, curve: c, subtitle: subtitles(c)}
	for _, s := range c.Steps {
		g.levels = append(g.levels, s.Concurrency)
	}
	g.panels = []*panel{{heading: "Output tokens/s, all streams together", y: fromZero(throughputValues(c)), named: true}}
	g.series = [][]series{nil}
	g.addLower(ttftPanel(c))
	g.addLower(speedPanel(c))
	last := g.panels[len(g.panels)-1]
	last.named = true
	g.legend = capacityLegend(c)
	g.arrange()
	return g
}

// addLower adds a panel unless it has nothing to show.
func (g *page) addLower(p *panel, all []series) {
	if p == nil {
		return
	}
	g.panels = append(g.panels, p)
	g.series = append(g.series, all)
}

// arrange computes the scales of all panels: one axis of streams, aligned.
func (g *page) arrange() {
	left, right := vg.Length(20), vg.Length(0)
	style := words(tickSize, ink, false, draw.XLeft, draw.YCenter)
	for i, p := range g.panels {
		p.canvas = g.canvas
		wanted := 4
		if i == 0 {
			wanted = 6
		}
		if p.y.max > 0 {
			p.yTicks = p.y.ticks(wanted)
		} else {
			p.y.max = 1 // no value: an axis without figures
		}
		for _, t := range p.yTicks {
			left = max(left, style.Width(t.label))
		}
	}
	for _, l := range g.endTexts() {
		right = max(right, words(textSize, ink, false, draw.XLeft, draw.YCenter).Width(l))
	}
	x := streamScale(g.levels)
	x.from, x.to = g.canvas.Min.X+edge+left+8, g.canvas.Max.X-edge-right-8
	tickWidth := func(s string) vg.Length { return style.Width(s) }
	ticks := levelTicks(g.levels, x, tickWidth, 9)
	for _, p := range g.panels {
		p.x, p.xTicks = x, ticks
	}
	g.above, g.below = lanes(g.curve, x)
	g.above.place(x, x.from, g.canvas.Max.X-edge)
	g.below.place(x, x.from, g.canvas.Max.X-edge)
	g.arrangeHeights()
}

// arrangeHeights shares the height that is left among the panels.
func (g *page) arrangeHeights() {
	top := g.legendTop() - g.legendHeight() - 6
	bottom := g.canvas.Min.Y + edge + 14 + ticksHeight
	fixed := headingHeight*vg.Length(len(g.panels)) + g.above.height() + g.below.height()
	if len(g.panels) > 1 {
		fixed += ticksHeight + panelGap*vg.Length(len(g.panels)-1)
	} else {
		bottom += g.below.height()
		fixed -= g.below.height()
	}
	free := top - bottom - fixed
	shares := map[int][]float64{1: {1}, 2: {0.68, 0.32}, 3: {0.56, 0.22, 0.22}}[len(g.panels)]
	y := top
	for i, p := range g.panels {
		y -= headingHeight
		if i == 0 {
			y -= g.above.height()
		}
		p.y.to = y
		y -= free * vg.Length(shares[i])
		p.y.from = y
		if i == 0 && len(g.panels) > 1 {
			y -= ticksHeight + g.below.height()
		}
		y -= panelGap
	}
}

// endTexts are all texts that the right margin may hold.
func (g *page) endTexts() []string {
	var all []string
	if k := g.curve.Knee.Plateau; k.OK {
		all = append(all, plateauLines(k.V)...)
	}
	for _, panel := range g.series {
		for _, s := range panel {
			all = append(all, s.name)
		}
	}
	return all
}

func (g *page) legendTop() vg.Length {
	return g.canvas.Max.Y - edge - titleSize - 6 - 15*vg.Length(len(g.subtitle)) - 7
}

func (g *page) legendHeight() vg.Length {
	_, rows := g.legend.layout(g.width())
	return legendHeight * vg.Length(rows)
}

func (g *page) width() vg.Length { return g.canvas.Max.X - g.canvas.Min.X - 2*edge }

// draw draws the whole page.
func (g *page) draw() {
	g.drawHead()
	for i, p := range g.panels {
		g.drawPanel(i, p)
	}
	first, last := g.panels[0], g.panels[len(g.panels)-1]
	g.above.draw(g.canvas, first.y.to+laneHeight/2+3, laneHeight)
	g.below.draw(g.canvas, first.y.from-ticksHeight-laneHeight/2+1, -laneHeight)
	name := "Parallel streams (requests held in flight)"
	if last.x.log {
		name += ", logarithmic"
	}
	at := vg.Point{X: (last.x.from + last.x.to) / 2, Y: g.canvas.Min.Y + edge - 4}
	g.canvas.FillText(words(textSize, ink, false, draw.XCenter, draw.YBottom), at, name)
}

func (g *page) drawHead() {
	c := g.canvas
	y := c.Max.Y - edge
	at := vg.Point{X: c.Min.X + edge, Y: y}
	title := words(titleSize, ink, true, draw.XLeft, draw.YTop)
	c.FillText(title, at, fit(Headline(g.curve), title, g.width()))
	at.Y -= titleSize + 6
	sub := words(textSize, muted, false, draw.XLeft, draw.YTop)
	for _, s := range g.subtitle {
		c.FillText(sub, at, fit(s, sub, g.width()))
		at.Y -= 15
	}
	g.legend.draw(c, vg.Point{X: c.Min.X + edge, Y: g.legendTop()}, g.width())
}

func (g *page) drawPanel(i int, p *panel) {
	k := located(g.curve)
	if k.OK {
		p.band(k.V.Lo, k.V.Hi, paleRed)
	}
	heading := p.y.to + 5
	if i == 0 {
		heading += g.above.height()
	}
	p.frame(heading)
	if k.OK {
		p.vertical(k.V.Value, kneeLine)
	}
	if a := g.curve.Admission; a.OK {
		p.vertical(a.V.Value, admissionLine)
	}
	if i == 0 {
		drawThroughput(p, g.curve)
		g.drawAxisMarks(p)
	} else {
		drawSeries(p, g.levels, g.series[i])
	}
	p.drawEnds()
}

// drawAxisMarks marks the streams to allow and the simulator's truth on the axis.
func (g *page) drawAxisMarks(p *panel) {
	if r := g.curve.Recommended.Concurrency; r.OK && p.x.shows(float64(r.V)) {
		p.canvas.DrawGlyphNoClip(glyph(draw.PyramidGlyph{}, 6, green), vg.Point{X: p.x.at(float64(r.V)), Y: p.y.from + 5})
	}
	if t := truth(g.curve); t.OK && p.x.shows(t.V) {
		p.canvas.DrawGlyphNoClip(glyph(diamond{}, 3.4, ink), vg.Point{X: p.x.at(t.V), Y: p.y.from - 1})
	}
	if len(p.yTicks) == 0 {
		at := vg.Point{X: (p.x.from + p.x.to) / 2, Y: (p.y.from + p.y.to) / 2}
		p.canvas.FillText(words(headingSize, muted, false, draw.XCenter, draw.YCenter), at, "no value was measured")
	}
}

// truth is the knee that the simulator was built with, if c came from one.
func truth(c analysis.Curve) load.Opt[float64] {
	t := c.Run.Truth
	if t == nil || math.IsNaN(t.Knee) || t.Knee <= 0 {
		return load.Opt[float64]{}
	}
	return load.Some(t.Knee)
}
