package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/load"
)

// The lines that mark a number of streams; they differ in colour and in dash.
var (
	kneeLine      = line(1.8, vermillion)
	admissionLine = line(2, purple, 1.5, 4)
	askedLine     = line(1.2, ink, 6, 3)
)

// lanes are the labels above and below the upper panel.
func lanes(c analysis.Curve) (above, below lane) {
	if k := located(c); k.OK {
		text := "knee " + Streams(k.V.Value)
		if b := Interval(k.V); b != "" {
			text += " (" + b + ")"
		}
		if c.Knee.Soft {
			text += ", soft"
		}
		above.labels = append(above.labels, laneLabel{x: k.V.Value, text: text, color: vermillion})
	}
	if a := c.Admission; a.OK {
		above.labels = append(above.labels,
			laneLabel{x: a.V.Value, text: "admission limit " + Streams(a.V.Value), color: purple})
	}
	if r := c.Recommended.Concurrency; r.OK {
		below.labels = append(below.labels,
			laneLabel{x: float64(r.V), text: "allow " + Streams(float64(r.V)), color: darkGreen, symbol: draw.PyramidGlyph{}})
	}
	if c.At != nil {
		n := float64(c.At.Concurrency)
		below.labels = append(below.labels, laneLabel{x: n, text: "asked: " + Streams(n), color: ink})
	}
	if t := truth(c); t.OK {
		below.labels = append(below.labels,
			laneLabel{x: t.V, text: "true knee " + Streams(t.V), color: muted, symbol: diamond{}})
	}
	return above, below
}

// located is the knee, undefined without a finite one.
func located(c analysis.Curve) load.Opt[load.Estimate] {
	k := c.Knee.Concurrency
	if v := k.V.Value; math.IsNaN(v) || math.IsInf(v, 0) {
		return load.Opt[load.Estimate]{}
	}
	return k
}

// capacityLegend explains the marks that c needs.
func capacityLegend(c analysis.Curve) legend {
	var l legend
	var valid, windows, outlier bool
	for _, s := range c.Steps {
		valid = valid || s.Valid && s.Throughput.OK
		windows = windows || s.Valid && len(s.Measurements) > 1
		outlier = outlier || s.Valid && slices.Contains(c.Knee.Outliers, s.Concurrency)
	}
	if windows {
		l.add("one window", markWidth, markSwatch(glyph(draw.CircleGlyph{}, 2.4, paleBlue)))
	}
	if valid {
		text := "level"
		if windows {
			text = "median of a level, 95 % interval"
		}
		l.add(text, markWidth, func(c *draw.Canvas, at vg.Point) {
			if windows {
				c.StrokeLine2(line(1.3, blue), at.X, at.Y-6, at.X, at.Y+6)
			}
			c.DrawGlyphNoClip(glyph(draw.CircleGlyph{}, 3.8, blue), at)
		})
	}
	if fitted(c) {
		l.add("fitted line", lineWidth, lineSwatch(line(1.8, ink)))
	}
	l.addKnee(c)
	if scouted(c) {
		l.addScout(blue)
	}
	if outlier {
		l.addOutlier()
	}
	if invalid(c) {
		l.addInvalid("not valid, not fitted")
	}
	return l
}

// addKnee explains the line and the band of the knee, if there is an interval.
func (l *legend) addKnee(c analysis.Curve) {
	if k := located(c); k.OK && Interval(k.V) != "" {
		l.add("knee, 95 % interval", lineWidth, func(c *draw.Canvas, at vg.Point) {
			c.FillPolygon(paleRed, box(at, 8, 6))
			c.StrokeLine2(kneeLine, at.X, at.Y-6, at.X, at.Y+6)
		})
	}
}

// addLevels explains what a chart of figures at the levels of c has beside its lines.
func (l *legend) addLevels(c analysis.Curve) {
	l.addKnee(c)
	if scouted(c) {
		l.addScout(blue)
	}
	if invalid(c) {
		l.addInvalid("not valid")
	}
}

func (l *legend) addOutlier() {
	l.add("outlier, not fitted", markWidth, markSwatch(glyph(draw.SquareGlyph{}, 4, ink)))
}

func (l *legend) addInvalid(text string) {
	l.add(text, markWidth, markSwatch(glyph(cross{}, 4.2, grey)))
}

// addSeries explains a line with its marker.
func (l *legend) addSeries(text string, s series) {
	l.add(text, lineWidth, func(c *draw.Canvas, at vg.Point) {
		lineSwatch(s.line)(c, at)
		c.DrawGlyphNoClip(s.glyph, at)
	})
}

// addScout explains hollow markers.
func (l *legend) addScout(c color.Color) {
	l.add("scouting level (few windows)", markWidth, markSwatch(hollowIf(true, glyph(draw.CircleGlyph{}, 3.8, c))))
}

// box is the corners of a rectangle around a point.
func box(at vg.Point, halfWidth, halfHeight vg.Length) []vg.Point {
	x, y := halfWidth, halfHeight
	return []vg.Point{{X: at.X - x, Y: at.Y - y}, {X: at.X + x, Y: at.Y - y}, {X: at.X + x, Y: at.Y + y}, {X: at.X - x, Y: at.Y + y}}
}

// invalid reports whether c has a level that is not valid.
func invalid(c analysis.Curve) bool {
	return slices.ContainsFunc(c.Steps, func(s load.Step) bool { return !s.Valid })
}

// scouted reports whether c has a scouting level.
func scouted(c analysis.Curve) bool {
	return slices.ContainsFunc(c.Steps, func(s load.Step) bool { return s.Scout && s.Valid })
}

// truth is the knee that the simulator was built with, if c came from one.
func truth(c analysis.Curve) load.Opt[float64] {
	t := c.Run.Truth
	if t == nil || math.IsNaN(t.Knee) || t.Knee <= 0 {
		return load.Opt[float64]{}
	}
	return load.Some(t.Knee)
}
