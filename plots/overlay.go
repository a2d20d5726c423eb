package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
)

// Overlay draws several curves into one chart, each in its own colour, marker
// and dash: throughput with its knee, median time to first token, and the speed
// of one stream. A single curve is drawn as by [Capacity]. The error says that
// there is no curve, that x is no axis, or which curve has levels that are not
// ascending numbers of streams.
func Overlay(curves []analysis.Curve, x Axis) (*Figure, error) {
	if err := checkCurves(curves, x); err != nil {
		return nil, err
	}
	return figure(func() *page {
		if len(curves) == 1 && curves[0].Rates != nil {
			return ratePage(curves[0], x)
		}
		if len(curves) == 1 {
			return capacityPage(curves[0], x)
		}
		return overlayPage(curves, x)
	}), nil
}

// look is how one of several curves is drawn.
type look struct {
	color color.NRGBA
	shape draw.GlyphDrawer
	dash  []float64
}

// looks are used in turn. Neighbours differ in colour, marker and dash.
var looks = []look{
	{blue, draw.CircleGlyph{}, nil},
	{vermillion, draw.BoxGlyph{}, []float64{7, 3}},
	{darkGreen, draw.PyramidGlyph{}, []float64{2, 2}},
	{purple, draw.RingGlyph{}, []float64{7, 3, 2, 3}},
	{ink, draw.SquareGlyph{}, []float64{12, 4}},
	{darkOrange, draw.TriangleGlyph{}, []float64{4, 2}},
	{skyBlue, draw.PlusGlyph{}, nil},
}

func (l look) line(width float64) draw.LineStyle { return line(width, l.color, l.dash...) }

func (l look) glyph(r float64) draw.GlyphStyle { return glyph(l.shape, r, l.color) }

// labelled is the number of curves up to which every knee has its label.
const labelled = 4

func overlayPage(curves []analysis.Curve, x Axis) *page {
	g := &page{
		title: fmt.Sprintf("%d capacity curves", len(curves)), subtitle: overlaySubtitles(curves),
		legend: overlayLegend(curves), axis: streamAxis(levelsOf(curves...), x),
	}
	var values []float64
	top := &panel{heading: throughputHeading}
	for i, c := range curves {
		values = append(values, throughputValues(c)...)
		top.over = append(top.over, func(p *panel) { drawCurve(p, c, looks[i%len(looks)]) })
	}
	top.y = fromZero(values)
	g.add(top)
	unit, factor := latencyUnit(ttftP95, curves...)
	g.add(seriesPanel("Median time to first token, "+unit, latencyScale, inLooks(curves, ttftP50, factor)...))
	g.add(seriesPanel(speedHeading+", median", fromZero, inLooks(curves, decodeP50, 1)...))
	g.markKnees(curves)
	return g
}

// overlayLegend names the curves with their verdicts.
func overlayLegend(curves []analysis.Curve) legend {
	var l legend
	names := curveNames(curves)
	for i, c := range curves {
		k := looks[i%len(looks)]
		l.addSeries(names[i]+": "+summary(c), series{line: k.line(1.5), glyph: k.glyph(3.6)})
	}
	if slices.ContainsFunc(curves, scouted) {
		l.addScout(vermillion)
	}
	return l
}

// inLooks is one value of each step of each curve, each curve in its look.
func inLooks(curves []analysis.Curve, pick picker, factor float64) []series {
	all := make([]series, len(curves))
	for i, c := range curves {
		all[i] = looks[i%len(looks)].series(newSeries(c, pick, factor))
	}
	return all
}

// markKnees marks the knees across all panels, and labels them if they are few.
func (g *page) markKnees(curves []analysis.Curve) {
	for i, c := range curves {
		if k := located(c); k.OK && len(curves) <= labelled {
			g.above.labels = append(g.above.labels,
				laneLabel{x: k.V.Value, text: "knee " + Streams(k.V.Value), color: looks[i%len(looks)].color})
		}
	}
	for _, p := range g.panels {
		p.under = func(p *panel) { drawKnees(p, curves) }
	}
}

// series gives s the look l.
func (l look) series(s series) series {
	s.line, s.glyph, s.label = l.line(1.4), l.glyph(3.2), l.color
	return s
}

// drawKnees draws a thin line at every knee.
func drawKnees(p *panel, curves []analysis.Curve) {
	for i, c := range curves {
		if k := located(c); k.OK {
			p.vertical(k.V.Value, looks[i%len(looks)].line(0.9))
		}
	}
}

// drawCurve draws the medians of a curve and the line fitted to them.
func drawCurve(p *panel, c analysis.Curve, l look) {
	if fitted(c) {
		drawFit(p, c, l.line(1.5))
	} else {
		xs, ys := medians(c)
		p.polyline(xs, ys, l.line(1.5))
	}
	for _, s := range c.Steps {
		if !s.Throughput.OK {
			continue
		}
		n, t := float64(s.Concurrency), s.Throughput.V
		if !s.Valid {
			p.mark(n, t.Value, glyph(cross{}, 4, grey))
			continue
		}
		p.bar(n, t.Lo, t.Hi, l.color)
		p.mark(n, t.Value, hollowIf(s.Scout, l.glyph(3.8)))
	}
}

// curveNames are short names of the curves that differ from each other: label,
// else model, else target.
func curveNames(curves []analysis.Curve) []string {
	names := make([]string, len(curves))
	for i, c := range curves {
		name := fmt.Sprint("curve ", i+1)
		for _, s := range []string{c.Run.Label, c.Run.Model, c.Run.Target} {
			if s != "" {
				name = shorten(s, 32)
				break
			}
		}
		if slices.Contains(names[:i], name) {
			name = fmt.Sprintf("%s (%d)", name, i+1)
		}
		names[i] = name
	}
	return names
}

// summary is the verdict on a curve for the legend.
func summary(c analysis.Curve) string {
	var s string
	switch k := located(c); {
	case k.OK:
		s = "knee " + Streams(k.V.Value)
		if b := Interval(k.V); b != "" {
			s += " (" + b + ")"
		}
	case c.Knee.Verdict == knee.AtOrBelowFirst:
		s = "saturated from the first level on"
	case c.Knee.Verdict == knee.StillRising:
		s = "still rising"
	default:
		s = "no knee located"
	}
	if p := c.Knee.Plateau; p.OK && !math.IsNaN(p.V) {
		s += ", plateau " + Number(p.V) + " tok/s"
	}
	return s
}

// overlaySubtitles say what was asked of all the curves, or that it differs.
func overlaySubtitles(curves []analysis.Curve) []string {
	first := asked(curves[0].Run)
	for _, c := range curves[1:] {
		if asked(c.Run) != first {
			return []string{"The curves differ in model, request shape or settings"}
		}
	}
	if first == "" {
		return nil
	}
	return []string{first}
}
