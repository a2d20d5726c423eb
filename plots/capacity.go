package plots

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
)

// Capacity is the capacity curve of c: throughput with its knee over the number
// of parallel streams, and below it, on the same axis, time to first token and
// the speed of one stream. Panels without any value are left out. The error
// says that the levels of c are not ascending numbers of streams. [Overlay]
// chooses the axis and takes several curves.
func Capacity(c analysis.Curve) (*Figure, error) { return Overlay([]analysis.Curve{c}, AxisAuto) }

// checkCurves is an error if there is no curve, or names the one whose levels
// are not ascending numbers of streams.
func checkCurves(curves []analysis.Curve, x Axis) error {
	if err := x.check(); err != nil {
		return err
	}
	if len(curves) == 0 {
		return errors.New("plot: no curve to draw")
	}
	for i, c := range curves {
		if c.Rates != nil && len(curves) > 1 {
			return fmt.Errorf("curve %d: it is one of offered rates, which has a chart of its own; draw it alone", i+1)
		}
		err := checkLevels(c)
		switch {
		case err != nil && len(curves) > 1:
			return fmt.Errorf("curve %d: %w", i+1, err)
		case err != nil:
			return err
		}
	}
	return nil
}

func checkLevels(c analysis.Curve) error {
	for i, s := range c.Steps {
		if s.Concurrency < 1 {
			return fmt.Errorf("plot: level %d has %d streams, want at least 1", i, s.Concurrency)
		}
		if i > 0 && s.Concurrency <= c.Steps[i-1].Concurrency {
			return errors.New("plot: the levels are not in ascending order")
		}
	}
	return nil
}

func capacityPage(c analysis.Curve, x Axis) *page {
	g := &page{title: Headline(c), subtitle: subtitles(c.Run), legend: capacityLegend(c), axis: streamAxis(levelsOf(c), x)}
	g.add(throughputPanel(c))
	g.add(ttftPanel(c))
	g.add(speedPanel(c))
	g.markKnee(c)
	return g
}

// levelsOf are the levels of some curves, ascending.
func levelsOf(curves ...analysis.Curve) []int {
	var levels []int
	for _, c := range curves {
		for _, s := range c.Steps {
			levels = append(levels, s.Concurrency)
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// markKnee marks the knee and what else was found on the axis of streams: across
// all panels, with labels above and below the first.
func (g *page) markKnee(c analysis.Curve) {
	g.above, g.below = lanes(c)
	for _, p := range g.panels {
		p.under = func(p *panel) {
			if k := located(c); k.OK {
				p.band(k.V.Lo, k.V.Hi, paleRed)
			}
		}
		p.over = append([]func(*panel){func(p *panel) { drawLimits(p, c) }}, p.over...)
	}
	g.panels[0].over = append(g.panels[0].over, func(p *panel) { drawAxisMarks(p, c) })
}

// drawLimits draws the knee and the admission limit across a panel.
func drawLimits(p *panel, c analysis.Curve) {
	if k := located(c); k.OK {
		p.vertical(k.V.Value, kneeLine)
	}
	if a := c.Admission; a.OK {
		p.vertical(a.V.Value, admissionLine)
	}
	if c.At != nil {
		p.vertical(float64(c.At.Concurrency), askedLine)
	}
}

// drawAxisMarks marks the streams to allow and the simulator's truth on the axis.
func drawAxisMarks(p *panel, c analysis.Curve) {
	if r := c.Recommended.Concurrency; r.OK && p.x.shows(float64(r.V)) {
		p.canvas.DrawGlyphNoClip(glyph(draw.PyramidGlyph{}, 6, green), vg.Point{X: p.x.at(float64(r.V)), Y: p.y.from + 5})
	}
	if t := truth(c); t.OK && p.x.shows(t.V) {
		p.canvas.DrawGlyphNoClip(glyph(diamond{}, 3.4, ink), vg.Point{X: p.x.at(t.V), Y: p.y.from - 1})
	}
	if len(c.Steps) == 0 {
		p.say("nothing was measured")
	}
}
