package plots

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// laneHeight is the height of one row of a lane.
const laneHeight vg.Length = 15

// lane is a strip of labels above or below a panel, each near its x. Labels that
// would overlap go to different rows, so they never do, even at the same x.
type lane struct {
	labels []laneLabel
	rows   int
}

// laneLabel is a text at x, with a marker before it if symbol is set.
type laneLabel struct {
	x      float64
	text   string
	color  color.Color
	symbol draw.GlyphDrawer
	left   vg.Length
	row    int
}

const symbolWidth vg.Length = 13

func (l laneLabel) width() vg.Length {
	w := words(textSize, l.color, true, draw.XLeft, draw.YCenter).Width(l.text)
	if l.symbol != nil {
		w += symbolWidth
	}
	return w
}

// place chooses rows and positions between the edges; labels given first stay
// nearest to the panel. Labels out of range are dropped.
func (l *lane) place(x scale, from, to vg.Length) {
	const gap = 10
	l.labels = slices.DeleteFunc(l.labels, func(a laneLabel) bool { return !x.shows(a.x) })
	l.rows = 0
	for i := range l.labels {
		a := &l.labels[i]
		w := a.width()
		a.left = max(from, min(x.at(a.x)-w/2, to-w))
		a.row = 0
		for k := 0; k < i; k++ {
			b := l.labels[k]
			if b.row >= a.row && a.left < b.left+b.width()+gap && b.left < a.left+w+gap {
				a.row = b.row + 1
			}
		}
		l.rows = max(l.rows, a.row+1)
	}
}

// height is the height of all rows.
func (l *lane) height() vg.Length {
	if l.rows == 0 {
		return 0
	}
	return laneHeight*vg.Length(l.rows) + 2
}

// draw draws the labels; the first row is at y, the others follow by step.
func (l *lane) draw(c *draw.Canvas, y, step vg.Length) {
	for _, a := range l.labels {
		at := vg.Point{X: a.left, Y: y + step*vg.Length(a.row)}
		if a.symbol != nil {
			c.DrawGlyphNoClip(glyph(a.symbol, 4, a.color), vg.Point{X: at.X + 5, Y: at.Y - 1})
			at.X += symbolWidth
		}
		c.FillText(words(textSize, a.color, true, draw.XLeft, draw.YCenter), at, a.text)
	}
}
