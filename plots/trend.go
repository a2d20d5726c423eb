package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kneesweep/load"
)

// TrendPoint is one run of a trend.
type TrendPoint struct {
	At       time.Time
	Knee     load.Opt[load.Estimate] // streams; undefined = the run located none
	Plateau  load.Opt[load.Estimate] // tokens/s; a bound that is not known is NaN
	Baseline bool
	Change   int // with it begins a new level: −1 a worse one, 1 a better one
}

// Trend shows the knee and the plateau of runs over time, each with its interval,
// and those of the baseline as lines. points ascend in time; name says what was
// measured. It fails without a point.
func Trend(name string, points []TrendPoint) (*Figure, error) {
	if len(points) == 0 {
		return nil, errors.New("plot: a trend without runs")
	}
	return figure(func() *page { return trendPage(name, points) }), nil
}

func trendPage(name string, points []TrendPoint) *page {
	first, last := points[0].At.UTC(), points[len(points)-1].At.UTC()
	g := &page{
		title: fmt.Sprintf("Trend of %d runs", len(points)), even: true, axis: timeAxis(first, last),
		subtitle: []string{name, first.Format("2006-01-02 15:04") + " to " + last.Format("2006-01-02 15:04") + " UTC"},
	}
	knee := func(p TrendPoint) load.Opt[load.Estimate] { return p.Knee }
	plateau := func(p TrendPoint) load.Opt[load.Estimate] { return p.Plateau }
	g.legend.addSeries("run with its 95 % interval", trendSeries(ink))
	for _, p := range points {
		if p.Baseline {
			g.legend.add("baseline", lineWidth, lineSwatch(baselineLine))
		}
	}
	for _, kind := range []struct {
		change int
		text   string
		style  draw.LineStyle
	}{{-1, "regression", worseLine}, {1, "improvement", betterLine}} {
		if slices.ContainsFunc(points, func(p TrendPoint) bool { return p.Change == kind.change }) {
			g.legend.add(kind.text, lineWidth, lineSwatch(kind.style))
		}
	}
	g.add(trendPanel("Knee, parallel streams", points, knee, vermillion))
	g.add(trendPanel("Plateau, output tokens/s", points, plateau, blue))
	return g
}

// The lines of a trend; patterns tell them apart without colour.
var (
	baselineLine = line(1.3, grey, 5, 3)
	worseLine    = line(1.6, purple)
	betterLine   = line(1.6, green, 2, 2)
)

func trendSeries(c color.Color) series {
	return series{line: line(1.2, c), glyph: glyph(draw.CircleGlyph{}, 3.4, c)}
}

// trendPanel is one figure of the runs. Lines end where a run has no value.
func trendPanel(heading string, points []TrendPoint, of func(TrendPoint) load.Opt[load.Estimate], c color.Color) *panel {
	var xs, ys, all []float64
	for _, p := range points {
		e, y := of(p), math.NaN()
		if e.OK {
			y = e.V.Value
			all = append(all, y, e.V.Hi)
		}
		xs, ys = append(xs, days(p.At)), append(ys, y)
	}
	look := trendSeries(c)
	return &panel{heading: heading, y: fromZero(all), over: []func(*panel){func(p *panel) {
		for _, q := range points {
			if e := of(q); q.Baseline && e.OK {
				p.horizontal(e.V.Value, baselineLine)
			}
		}
		for i, q := range points {
			switch {
			case q.Change < 0:
				p.vertical(xs[i], worseLine)
			case q.Change > 0:
				p.vertical(xs[i], betterLine)
			}
		}
		p.polyline(xs, ys, look.line)
		for i, q := range points {
			if e := of(q); e.OK {
				p.bar(xs[i], e.V.Lo, e.V.Hi, c)
				p.mark(xs[i], e.V.Value, look.glyph)
			}
		}
		if len(all) == 0 {
			p.say("no run located it")
		}
	}}}
}

// days since 1970 in UTC.
func days(t time.Time) float64 { return float64(t.UnixMilli()) / (24 * time.Hour).Seconds() / 1000 }

// timeAxis is an axis of days, marked where dates have room; within two days it
// says the time too.
func timeAxis(first, last time.Time) horizontal {
	lo, hi := days(first), days(last)
	pad := max((hi-lo)*margin, 1.0/24)
	ticks := func(s scale, width func(string) vg.Length) []tick {
		layout, step := time.DateOnly, 1.0
		if hi-lo < 2 {
			layout, step = "01-02 15:04", 1.0/24
		}
		need := width("0000-00-00") + labelGap
		for s.to > s.from && vg.Length(step/(s.max-s.min))*(s.to-s.from) < need {
			step *= 2
		}
		var all []tick
		for x := math.Ceil(s.min/step) * step; x <= s.max; x += step {
			at := time.UnixMilli(int64(math.Round(x * (24 * time.Hour).Seconds() * 1000))).UTC()
			all = append(all, tick{x, at.Format(layout)})
		}
		return all
	}
	return horizontal{name: "Start of the run (UTC)", scale: scale{min: lo - pad, max: hi + pad}, ticks: ticks}
}
