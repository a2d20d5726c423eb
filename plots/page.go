package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// page is the layout of a figure, from top to bottom: title, subtitles, legend,
// panels that share one horizontal axis, the title of that axis. The labels of
// the lanes stand above and below the first panel, which is the tallest unless
// the page is even.
type page struct {
	canvas   *draw.Canvas
	title    string
	subtitle []string
	legend   legend
	axis     horizontal
	panels   []*panel
	even     bool
	above    lane
	below    lane
}

// Lengths of the layout.
const (
	edge          vg.Length = 18 // free at the edges of the page
	subtitleLine  vg.Length = 15
	headingHeight vg.Length = 18
	ticksHeight   vg.Length = 20
	axisTitle     vg.Length = 14
	panelGap      vg.Length = 12
)

// add adds a panel; nil is a panel that has nothing to show.
func (g *page) add(p *panel) {
	if p != nil {
		g.panels = append(g.panels, p)
	}
}

// figure is a Figure of the page that build makes; it is made anew for every
// writing, since the layout is kept in it.
func figure(build func() *page) *Figure {
	return &Figure{paint: func(canvas *draw.Canvas) {
		g := build()
		g.arrange(canvas)
		g.draw()
	}}
}

// arrange computes the place of everything on the canvas.
func (g *page) arrange(canvas *draw.Canvas) {
	g.canvas = canvas
	if len(g.panels) == 0 {
		g.add(emptyPanel())
	}
	left, right := vg.Length(20), vg.Length(0)
	ticks := words(tickSize, ink, false, draw.XLeft, draw.YCenter)
	text := words(textSize, ink, false, draw.XLeft, draw.YCenter)
	for i, p := range g.panels {
		p.canvas = canvas
		p.named = i == 0 || i == len(g.panels)-1
		wanted := 4
		if i == 0 && !g.even {
			wanted = 6
		}
		p.valueTicks(wanted)
		for _, t := range p.yTicks {
			left = max(left, ticks.Width(t.label))
		}
		for _, e := range p.ends {
			for _, l := range e.lines {
				right = max(right, text.Width(l))
			}
		}
	}
	x := g.axis.scale
	x.from, x.to = canvas.Min.X+edge+left+8, canvas.Max.X-edge-right-8
	marks := g.axis.ticks(x, ticks.Width)
	for _, p := range g.panels {
		p.x, p.xTicks = x, marks
	}
	g.above.place(x, x.from, canvas.Max.X-edge)
	g.below.place(x, x.from, canvas.Max.X-edge)
	g.arrangeHeights()
}

// arrangeHeights shares the height that is left among the panels.
func (g *page) arrangeHeights() {
	n := len(g.panels)
	y := g.legendTop() - g.legendHeight() - 6
	bottom := g.canvas.Min.Y + edge + axisTitle + ticksHeight
	free := y - bottom - g.above.height() - g.below.height() - headingHeight*vg.Length(n)
	if n > 1 {
		free -= ticksHeight + panelGap*vg.Length(n-1)
	}
	first := map[int]float64{1: 1, 2: 0.68, 3: 0.56}[n]
	if g.even {
		first = 1 / float64(n)
	}
	for i, p := range g.panels {
		y -= headingHeight
		if i == 0 {
			y -= g.above.height()
		}
		p.y.to = y
		share := first
		if i > 0 {
			share = (1 - first) / float64(n-1)
		}
		y -= free * vg.Length(share)
		p.y.from = y
		y -= panelGap
		if i == 0 {
			y -= ticksHeight + g.below.height()
		}
	}
}

func (g *page) legendTop() vg.Length {
	return g.canvas.Max.Y - edge - titleSize - 6 - subtitleLine*vg.Length(len(g.subtitle)) - 7
}

func (g *page) legendHeight() vg.Length {
	_, rows := g.legend.layout(g.width())
	return legendHeight * vg.Length(rows)
}

func (g *page) width() vg.Length { return g.canvas.Max.X - g.canvas.Min.X - 2*edge }

// draw draws the arranged page.
func (g *page) draw() {
	g.drawHead()
	for i, p := range g.panels {
		heading := p.y.to + 5
		if i == 0 {
			heading += g.above.height()
		}
		p.draw(heading)
	}
	first, last := g.panels[0], g.panels[len(g.panels)-1]
	g.above.draw(g.canvas, first.y.to+laneHeight/2+3, laneHeight)
	g.below.draw(g.canvas, first.y.from-ticksHeight-laneHeight/2+1, -laneHeight)
	at := vg.Point{X: (last.x.from + last.x.to) / 2, Y: g.canvas.Min.Y + edge - 4}
	g.canvas.FillText(words(textSize, ink, false, draw.XCenter, draw.YBottom), at, g.axis.name)
}

func (g *page) drawHead() {
	c := g.canvas
	at := vg.Point{X: c.Min.X + edge, Y: c.Max.Y - edge}
	title := words(titleSize, ink, true, draw.XLeft, draw.YTop)
	c.FillText(title, at, fit(g.title, title, g.width()))
	at.Y -= titleSize + 6
	sub := words(textSize, muted, false, draw.XLeft, draw.YTop)
	for _, s := range g.subtitle {
		c.FillText(sub, at, fit(s, sub, g.width()))
		at.Y -= subtitleLine
	}
	g.legend.draw(c, vg.Point{X: c.Min.X + edge, Y: g.legendTop()}, g.width())
}
