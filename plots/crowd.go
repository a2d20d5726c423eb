package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// crowd is what stands in a panel already, where a label must not be.
type crowd struct{ taken []vg.Rectangle }

// addLine takes the place of a line between two points.
func (c *crowd) addLine(a, b vg.Point) {
	const step = 4
	d := b.Sub(a)
	n := int(math.Hypot(float64(d.X), float64(d.Y))/step) + 1
	for i := range n + 1 {
		c.taken = append(c.taken, around(a.Add(d.Scale(vg.Length(i)/vg.Length(n))), 1, 1))
	}
}

// place takes a place beside the marker at a point for a label: on its right,
// above, on its left, below, then obliquely. It is false when all are taken or
// outside the panel. The answer is the left end of the label, half way up.
func (c *crowd) place(p *panel, at vg.Point, width, height vg.Length) (vg.Point, bool) {
	const away = 8
	side, up := away+width/2, away+height/2
	for _, d := range []vg.Point{{X: side}, {Y: up}, {X: -side}, {Y: -up}, {X: side, Y: up}, {X: -side, Y: up}, {X: side, Y: -up}, {X: -side, Y: -up}} {
		r := around(at.Add(d), width/2, height/2)
		outside := r.Min.X < p.x.from+2 || r.Max.X > p.x.to+2*away || r.Min.Y < p.y.from+2 || r.Max.Y > p.y.to
		if outside || slices.ContainsFunc(c.taken, func(o vg.Rectangle) bool { return overlaps(r, o) }) {
			continue
		}
		c.taken = append(c.taken, r)
		return vg.Point{X: r.Min.X, Y: (r.Min.Y+r.Max.Y)/2 + 1}, true
	}
	return vg.Point{}, false
}

// around is the rectangle around its middle.
func around(at vg.Point, halfWidth, halfHeight vg.Length) vg.Rectangle {
	half := vg.Point{X: halfWidth, Y: halfHeight}
	return vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}
}

func overlaps(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
