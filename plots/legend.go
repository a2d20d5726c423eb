package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend explains the marks above the panels, where no data is.
type legend struct{ entries []legendEntry }

type legendEntry struct {
	text   string
	width  vg.Length                         // of the swatch
	swatch func(c *draw.Canvas, at vg.Point) // drawn around at
}

const (
	markWidth    vg.Length = 9
	lineWidth    vg.Length = 20
	legendHeight vg.Length = 16
)

func (l *legend) add(text string, width vg.Length, swatch func(*draw.Canvas, vg.Point)) {
	l.entries = append(l.entries, legendEntry{text, width, swatch})
}

// swatches of markers, lines and bands.
func markSwatch(g draw.GlyphStyle) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) { c.DrawGlyphNoClip(g, at) }
}

func lineSwatch(s draw.LineStyle) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		c.StrokeLine2(s, at.X-lineWidth/2, at.Y, at.X+lineWidth/2, at.Y)
	}
}

// layout is the position of each entry relative to the upper left corner, and
// the number of rows.
func (l *legend) layout(width vg.Length) ([]vg.Point, int) {
	style := words(textSize, ink, false, draw.XLeft, draw.YCenter)
	const gap = 18
	at := make([]vg.Point, len(l.entries))
	x, row := vg.Length(0), 0
	for i, e := range l.entries {
		w := e.width + 5 + style.Width(e.text)
		if x > 0 && x+w > width {
			x, row = 0, row+1
		}
		at[i] = vg.Point{X: x, Y: -legendHeight * (vg.Length(row) + 0.5)}
		x += w + gap
	}
	if len(at) == 0 {
		return at, 0
	}
	return at, row + 1
}

// draw draws the legend with its upper left corner at p.
func (l *legend) draw(c *draw.Canvas, p vg.Point, width vg.Length) {
	style := words(textSize, ink, false, draw.XLeft, draw.YCenter)
	at, _ := l.layout(width)
	for i, e := range l.entries {
		q := p.Add(at[i])
		e.swatch(c, vg.Point{X: q.X + e.width/2, Y: q.Y})
		c.FillText(style, vg.Point{X: q.X + e.width + 5, Y: q.Y}, e.text)
	}
}
