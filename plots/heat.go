package plots

import (
	"errors"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Heat is a table of knees over two settings: a cell for each value of X and Y.
type Heat struct {
	Heading string              // what the other settings are; may be empty
	Cells   [][]*analysis.Curve // by Y, then X; nil = not measured
}

// HeatMap draws the knee over the values xs and ys of two settings, a map for each
// of maps beside each other, all in one scale of colours: the more streams, the
// darker, on a scale of logarithms. A cell without a knee says why and is grey. The
// error says that there is nothing to draw, or that a map has not a cell for each
// pair of values.
func HeatMap(xName string, xs []string, yName string, ys []string, maps []Heat) (*Figure, error) {
	if len(maps) == 0 || len(xs) == 0 || len(ys) == 0 {
		return nil, errors.New("plot: a heat map of nothing")
	}
	for _, m := range maps {
		if len(m.Cells) != len(ys) || slices.ContainsFunc(m.Cells, func(row []*analysis.Curve) bool { return len(row) != len(xs) }) {
			return nil, errors.New("plot: a heat map needs a cell for each pair of values")
		}
	}
	h := &heatPage{xName, yName, xs, ys, maps, heatRange(maps)}
	return &Figure{paint: h.paint}, nil
}

// heatPage is the layout of heat maps: a title, and the maps in rows.
type heatPage struct {
	xName, yName string
	xs, ys       []string
	maps         []Heat
	scale        [2]float64 // log of the smallest and the largest knee
}

// heatRange is the range of the knees, as logarithms.
func heatRange(maps []Heat) [2]float64 {
	r := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, m := range maps {
		for _, row := range m.Cells {
			for _, c := range row {
				if k := kneeOf(c); k.OK && k.V.Value > 0 {
					r[0], r[1] = min(r[0], math.Log(k.V.Value)), max(r[1], math.Log(k.V.Value))
				}
			}
		}
	}
	return r
}

func kneeOf(c *analysis.Curve) load.Opt[load.Estimate] {
	if c == nil {
		return load.Opt[load.Estimate]{}
	}
	return located(*c)
}

// Lengths of the layout of a heat map.
const (
	heatGap   vg.Length = 26
	heatLabel vg.Length = 16 // a line of values or of a name
)

func (h *heatPage) paint(c *draw.Canvas) {
	at := vg.Point{X: c.Min.X + edge, Y: c.Max.Y - edge}
	c.FillText(words(titleSize, ink, true, draw.XLeft, draw.YTop), at, "Knee over "+h.xName+" and "+h.yName)
	at.Y -= titleSize + 6
	c.FillText(words(textSize, muted, false, draw.XLeft, draw.YTop), at, "Parallel streams at which throughput stops growing, with the 95 % interval; darker = more")
	columns := int(math.Ceil(math.Sqrt(float64(len(h.maps)))))
	rows := (len(h.maps) + columns - 1) / columns
	top := at.Y - subtitleLine - 10
	width := (c.Max.X - c.Min.X - 2*edge - heatGap*vg.Length(columns-1)) / vg.Length(columns)
	height := (top - c.Min.Y - edge - heatGap*vg.Length(rows-1)) / vg.Length(rows)
	for i, m := range h.maps {
		x := c.Min.X + edge + vg.Length(i%columns)*(width+heatGap)
		y := top - vg.Length(i/columns)*(height+heatGap)
		h.drawMap(c, m, vg.Rectangle{Min: vg.Point{X: x, Y: y - height}, Max: vg.Point{X: x + width, Y: y}})
	}
}

// drawMap draws one map into a rectangle: its heading above, the values of Y to the
// left, those of X below, the first row at the bottom.
func (h *heatPage) drawMap(c *draw.Canvas, m Heat, box vg.Rectangle) {
	if m.Heading != "" {
		style := words(headingSize, ink, true, draw.XLeft, draw.YTop)
		c.FillText(style, vg.Point{X: box.Min.X, Y: box.Max.Y}, fit(m.Heading, style, box.Max.X-box.Min.X))
		box.Max.Y -= headingHeight + 2
	}
	ticks := words(tickSize, ink, false, draw.XRight, draw.YCenter)
	left := vg.Length(0)
	for _, y := range h.ys {
		left = max(left, ticks.Width(shorten(y, 24)))
	}
	c.FillText(words(textSize, ink, false, draw.XLeft, draw.YTop), box.Min.Add(vg.Point{Y: box.Max.Y - box.Min.Y}), h.yName)
	box.Max.Y -= heatLabel + 2
	box.Min.X += left + 6
	box.Min.Y += 2*heatLabel + 2
	w, d := (box.Max.X-box.Min.X)/vg.Length(len(h.xs)), (box.Max.Y-box.Min.Y)/vg.Length(len(h.ys))
	for j, row := range m.Cells {
		y := box.Min.Y + d*vg.Length(j)
		c.FillText(ticks, vg.Point{X: box.Min.X - 6, Y: y + d/2}, shorten(h.ys[j], 24))
		for i, curve := range row {
			x := box.Min.X + w*vg.Length(i)
			h.drawCell(c, curve, vg.Rectangle{Min: vg.Point{X: x + 1, Y: y + 1}, Max: vg.Point{X: x + w - 1, Y: y + d - 1}})
		}
	}
	below := words(tickSize, ink, false, draw.XCenter, draw.YTop)
	for i, x := range h.xs {
		c.FillText(below, vg.Point{X: box.Min.X + w*(vg.Length(i)+0.5), Y: box.Min.Y - 4}, fit(x, below, w-4))
	}
	name := words(textSize, ink, false, draw.XCenter, draw.YTop)
	c.FillText(name, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: box.Min.Y - 4 - heatLabel}, h.xName)
}

// drawCell fills a cell with the colour of its knee and writes what is known.
func (h *heatPage) drawCell(c *draw.Canvas, curve *analysis.Curve, box vg.Rectangle) {
	k := kneeOf(curve)
	fill, text := grey1, muted
	lines := []string{heatWord(curve)}
	if k.OK {
		share := 0.5
		if lo, hi := h.scale[0], h.scale[1]; hi > lo {
			share = (math.Log(k.V.Value) - lo) / (hi - lo)
		}
		fill, text = blend(blue1, blue, share), ink
		if share > 0.6 {
			text = white
		}
		lines = []string{Streams(k.V.Value)}
		if b := Interval(k.V); b != "" {
			lines = append(lines, b)
		}
	}
	c.SetColor(fill)
	c.Fill(box.Path())
	middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	width := box.Max.X - box.Min.X - 6
	main := words(textSize+2, text, k.OK, draw.XCenter, draw.YCenter)
	if len(lines) == 1 {
		c.FillText(main, middle, fit(lines[0], main, width))
		return
	}
	small := words(tickSize-1, text, false, draw.XCenter, draw.YCenter)
	c.FillText(main, middle.Add(vg.Point{Y: 8}), fit(lines[0], main, width))
	c.FillText(small, middle.Add(vg.Point{Y: -9}), fit(lines[1], small, width))
}

// heatWord says why a cell has no knee.
func heatWord(c *analysis.Curve) string {
	switch {
	case c == nil:
		return "not measured"
	case c.Knee.Verdict == knee.AtOrBelowFirst:
		return "from the first level"
	case c.Knee.Verdict == knee.StillRising:
		return "still rising"
	case len(c.Steps) == 0:
		return "nothing measured"
	}
	return "not located"
}

// blend is a colour between two.
func blend(from, to color.NRGBA, share float64) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff}
}
