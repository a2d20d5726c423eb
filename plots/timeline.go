package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/analysis"
	"kneesweep/load"
)

// Timeline shows the visits of one level of c side by side: tokens/s in small
// bins, with the measurement windows shaded and the warm-up before them, and
// below the requests in flight and the streams that decode. It never fails; a
// level without visits is an empty figure.
func Timeline(c analysis.Curve, t analysis.Timeline) *Figure {
	return figure(func() *page { return timelinePage(c, t) })
}

// stretch is a visit on the common axis: its seconds begin at from.
type stretch struct {
	analysis.TimelineVisit
	from float64
}

// visitGap is the space between two visits, as a share of all seconds.
const visitGap = 0.035

func timelinePage(c analysis.Curve, t analysis.Timeline) *page {
	visits, end := inARow(t.Visits)
	step := stepOf(c, t.Concurrency)
	g := &page{title: timelineTitle(t, step), subtitle: subtitles(c.Run), axis: visitAxis(visits, end), legend: timelineLegend(visits)}
	if len(visits) == 0 {
		return g
	}
	for _, v := range visits {
		g.above.labels = append(g.above.labels, laneLabel{x: v.from + v.Seconds/2, text: passName(v.TimelineVisit), color: muted})
	}
	g.add(tokensPanel(step.Throughput, visits))
	g.add(streamsPanel(c, t, visits))
	for _, p := range g.panels {
		p.under = func(p *panel) { shadeVisits(p, visits) }
	}
	return g
}

// inARow lays the visits out one after the other.
func inARow(visits []analysis.TimelineVisit) (all []stretch, end float64) {
	total := 0.0
	for _, v := range visits {
		total += v.Seconds
	}
	at := 0.0
	for _, v := range visits {
		all = append(all, stretch{v, at})
		end = at + v.Seconds
		at = end + visitGap*total
	}
	return all, end
}

// timelineTitle is the level with what it gave.
func timelineTitle(t analysis.Timeline, step load.Step) string {
	s := streams(float64(t.Concurrency)) + " over time"
	if !step.Throughput.OK {
		return s
	}
	s += ": " + Number(step.Throughput.V.Value) + " tokens/s"
	switch {
	case !step.Valid:
		return s + ", not valid"
	case step.Steady:
		return s + ", steady"
	}
	return s + ", not steady"
}

// stepOf is the step of a level; it is zero if c has none.
func stepOf(c analysis.Curve, n int) load.Step {
	for _, s := range c.Steps {
		if s.Concurrency == n {
			return s
		}
	}
	return load.Step{}
}

func passName(v analysis.TimelineVisit) string {
	s := fmt.Sprintf("pass %d", v.Pass+1)
	switch v.Pass {
	case 0:
		s += ", on the way up"
	case 1:
		s += ", on the way down"
	}
	if v.Extended {
		s += ", extended"
	}
	if v.Ended != "" {
		s += ", " + shorten(v.Ended, 20)
	}
	return s
}

// visitAxis counts the seconds of each visit from its beginning.
func visitAxis(visits []stretch, end float64) horizontal {
	if len(visits) == 0 {
		return horizontal{name: "Seconds since the level was set", scale: scale{max: 1},
			ticks: func(scale, func(string) vg.Length) []tick { return nil }}
	}
	ticks := func(s scale, width func(string) vg.Length) []tick {
		n := max(2, 12/len(visits))
		var all []tick
		free := vg.Length(math.Inf(-1))
		for _, v := range visits {
			for _, t := range (scale{max: v.Seconds}).ticks(n) {
				t.value += v.from
				at, half := s.at(t.value), width(t.label)/2
				if at-half < free {
					t.label = ""
				} else {
					free = at + half + labelGap
				}
				all = append(all, t)
			}
		}
		return all
	}
	return horizontal{name: "Seconds since the level was set", scale: scale{max: end}, ticks: ticks}
}

// tokensPanel shows the tokens/s of bins and windows.
func tokensPanel(median load.Opt[load.Estimate], visits []stretch) *panel {
	var values []float64
	for _, v := range visits {
		values = append(values, v.Tokens...)
		for _, w := range v.Windows {
			values = append(values, w.Tokens)
		}
	}
	p := &panel{heading: throughputHeading, y: fromZero(values)}
	if median.OK {
		p.ends = []endLabel{{median.V.Value, []string{"median", Number(median.V.Value) + " tok/s"}, ink}}
	}
	p.over = append(p.over, func(p *panel) {
		for _, v := range visits {
			p.stairs(v, v.Tokens, line(0.9, blue))
			for _, w := range v.Windows {
				p.polyline([]float64{v.from + w.From, v.from + w.To}, []float64{w.Tokens, w.Tokens}, line(2, ink))
			}
		}
		if median.OK {
			p.horizontal(median.V.Value, line(1, muted, 6, 4))
		}
	})
	return p
}

// streamsPanel shows the requests in flight and the streams that decode.
func streamsPanel(c analysis.Curve, t analysis.Timeline, visits []stretch) *panel {
	values := []float64{float64(t.Concurrency)}
	for _, v := range visits {
		values = append(values, v.InFlight...)
	}
	p := &panel{heading: "Parallel streams, in flight and decoding", y: fromZero(values)}
	last := visits[len(visits)-1]
	p.ends = []endLabel{
		{meanOfEnd(last.InFlight), []string{"in flight"}, muted},
		{meanOfEnd(last.Decoding), []string{"decoding"}, darkGreen},
	}
	p.over = append(p.over, func(p *panel) {
		for _, v := range visits {
			p.stairs(v, v.InFlight, line(1.2, grey))
			p.stairs(v, v.Decoding, line(1.2, green))
		}
	})
	if a := c.Admission; a.OK {
		p.over = append(p.over, func(p *panel) { p.horizontal(a.V.Value, admissionLine) })
		if a.V.Value <= p.y.max {
			p.ends = append(p.ends, endLabel{a.V.Value, []string{"admission limit"}, purple})
		}
	}
	return p
}

// meanOfEnd is where the last tenth of a line lies, for its label.
func meanOfEnd(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	tail := v[len(v)-max(1, len(v)/10):]
	sum := 0.0
	for _, x := range tail {
		sum += x
	}
	return sum / float64(len(tail))
}

// stairs draws one value for each bin of a visit.
func (p *panel) stairs(v stretch, values []float64, style draw.LineStyle) {
	var xs, ys []float64
	for i, y := range values {
		from := v.from + float64(i)*v.Bin
		xs, ys = append(xs, from, min(from+v.Bin, p.x.max)), append(ys, y, y)
	}
	p.polyline(xs, ys, style)
}

// shadeVisits shades the windows, neighbours in different tones, and what came
// before them.
func shadeVisits(p *panel, visits []stretch) {
	for _, v := range visits {
		warm := v.Seconds
		if len(v.Windows) > 0 {
			warm = v.Windows[0].From
		}
		p.band(v.from, v.from+warm, warmUp)
		for i, w := range v.Windows {
			p.band(v.from+w.From, v.from+w.To, windowTones[i%2])
		}
	}
}

// timelineLegend explains lines and shades.
func timelineLegend(visits []stretch) legend {
	var l legend
	if len(visits) == 0 {
		return l
	}
	l.add("tokens/s in bins of "+duration(visits[0].Bin), lineWidth, lineSwatch(line(1.2, blue)))
	measured := slices.ContainsFunc(visits, func(v stretch) bool { return len(v.Windows) > 0 })
	if measured {
		l.add("measurement window and its tokens/s", lineWidth, func(c *draw.Canvas, at vg.Point) {
			c.FillPolygon(windowTones[0], box(vg.Point{X: at.X - 5, Y: at.Y}, 5, 6))
			c.FillPolygon(windowTones[1], box(vg.Point{X: at.X + 5, Y: at.Y}, 5, 6))
			c.StrokeLine2(line(2, ink), at.X-10, at.Y, at.X+10, at.Y)
		})
	}
	before := "warm-up, not counted"
	if slices.ContainsFunc(visits, func(v stretch) bool { return v.Extended }) {
		before = "warm-up, and windows dropped by an extension: not counted"
	}
	l.add(before, lineWidth, func(c *draw.Canvas, at vg.Point) { c.FillPolygon(warmUp, box(at, 9, 6)) })
	return l
}

// duration writes seconds with a unit.
func duration(s float64) string {
	if s < 1 {
		return Number(s*1e3) + " ms"
	}
	return Number(s) + " s"
}
