package plots

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"kneesweep/analysis"
	"kneesweep/load"
)

// pages make all figures of a curve, as pages that are not laid out yet.
func pages(c analysis.Curve, x Axis) map[string]func() *page {
	several := []analysis.Curve{c, second}
	return map[string]func() *page{
		"capacity":  func() *page { return capacityPage(c, x) },
		"overlay":   func() *page { return overlayPage(several, x) },
		"latency":   func() *page { return latencyPage(c, x) },
		"latencies": func() *page { return latenciesPage(several, x) },
		"pareto":    func() *page { return paretoPage(c) },
		"paretos":   func() *page { return paretosPage(several) },
		"ttft": func() *page {
			return distributionPage("Time to first token (TTFT)", c, full(analysis.Spreads(c, nil, analysis.LatencyTTFT)), x)
		},
		"itl": func() *page {
			return distributionPage("Gap between two tokens (ITL)", c, analysis.Spreads(c, nil, analysis.LatencyITL), x)
		},
		"timeline": func() *page { return timelinePage(c, timelineOf(c)) },
	}
}

// second is the other curve of a chart of several.
var second = curves()["left"]

// full adds the lower quantiles, as a journal has them.
func full(all []analysis.Spread) []analysis.Spread {
	for i := range all {
		s := &all[i]
		s.P5, s.P10, s.P25, s.P75 = s.P50*0.8, s.P50*0.85, s.P50*0.93, (s.P50+s.P90)/2
	}
	return all
}

// timelineOf makes up a timeline of the middle level of a curve.
func timelineOf(c analysis.Curve) analysis.Timeline {
	if len(c.Steps) == 0 {
		return analysis.Timeline{}
	}
	s := c.Steps[len(c.Steps)/2]
	t := analysis.Timeline{Concurrency: s.Concurrency}
	for pass := range 3 {
		v := analysis.TimelineVisit{Pass: pass, Seconds: 4, Bin: 0.1}
		for i := range 40 {
			v.Tokens = append(v.Tokens, s.Throughput.V.Value*(1+0.2*math.Sin(float64(i))))
			v.InFlight = append(v.InFlight, float64(s.Concurrency))
			v.Decoding = append(v.Decoding, float64(s.Concurrency)*0.9)
		}
		for i := range s.Measurements[:min(3, len(s.Measurements))] {
			v.Windows = append(v.Windows, analysis.TimelineWindow{From: 1 + float64(i), To: 2 + float64(i), Tokens: s.Measurements[i]})
		}
		t.Visits = append(t.Visits, v)
	}
	return t
}

// TestEveryFigureOfEveryCurve draws all figures of all awkward curves on every
// axis, and looks for what no picture may have.
func TestEveryFigureOfEveryCurve(t *testing.T) {
	for name, c := range curves() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for x, formats := range map[Axis][]string{AxisAuto: {"svg"}, AxisLinear: {"svg"}, AxisLog: Formats()} {
				for kind, page := range pages(c, x) {
					f := figure(page)
					for _, format := range formats {
						var b bytes.Buffer
						if err := f.write(&b, format, dpi()); err != nil {
							t.Fatalf("%s on axis %q: %v", kind, x, err)
						}
						checkFormat(t, kind, format, b.Bytes())
						if format == "png" {
							keep(t, name+"-"+kind, b.Bytes())
						}
					}
				}
			}
		})
	}
}

func checkFormat(t *testing.T, what, format string, b []byte) {
	t.Helper()
	switch format {
	case "png":
		if _, err := png.Decode(bytes.NewReader(b)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case "pdf":
		if !bytes.HasPrefix(b, []byte("%PDF")) {
			t.Errorf("%s: PDF starts with %.20q", what, b)
		}
	case "svg":
		if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
			t.Errorf("%s: SVG holds a number that is not finite", what)
		}
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: SVG: %v", what, err)
			}
		}
	}
}

// axisLabels are the labels of an axis, in its order.
func axisLabels(all []tick) []string {
	var labels []string
	for _, k := range all {
		if k.label != "" {
			labels = append(labels, k.label)
		}
	}
	return labels
}

// TestEveryAxisOfEveryFigureCanBeRead wants two labelled ticks on each axis of
// every figure, whatever its axis of streams, and labels that do not overlap.
func TestEveryAxisOfEveryFigureCanBeRead(t *testing.T) {
	for name, c := range curves() {
		if name == "empty" || name == "none_valid" {
			continue
		}
		for _, x := range []Axis{AxisAuto, AxisLinear, AxisLog} {
			for kind, page := range pages(c, x) {
				g := page()
				canvas := draw.NewCanvas(new(recorder.Canvas), figureWidth, figureHeight)
				g.arrange(&canvas)
				for i, p := range g.panels {
					if p.heading == "" {
						continue // says that there is nothing to show
					}
					if a, b := axisLabels(p.xTicks), axisLabels(p.yTicks); len(a) < 2 || len(b) < 2 {
						t.Errorf("%s, %s on axis %q: panel %d has labels %q and %q", name, kind, x, i, a, b)
					}
					for j, e := range p.placedEnds() {
						if before := p.placedEnds(); j > 0 && before[j-1].at-e.at < leading-0.1 {
							t.Errorf("%s, %s: end labels %q and %q overlap", name, kind, before[j-1].lines, e.lines)
						}
					}
				}
				checkLanes(t, name+" "+kind, g)
			}
		}
	}
}

// TestLogAxisOfFewLevels draws one level, three levels inside one decade, and a
// first level that failed, on a logarithmic axis (gonum/plot#681, #747).
func TestLogAxisOfFewLevels(t *testing.T) {
	of := func(levels []int, rates ...float64) analysis.Curve {
		c := ideal(levels, 1, 1)
		for i, r := range rates {
			s := &c.Steps[i]
			s.Measurements = []float64{r}
			s.Throughput = load.Some(load.Estimate{Value: r, Lo: r, Hi: r})
			if r == 0 {
				*s = load.Step{Concurrency: s.Concurrency, InvalidReason: "no tokens"}
			}
		}
		return c
	}
	for _, c := range []struct {
		name  string
		curve analysis.Curve
		want  []string // labels of the axis of streams
	}{
		{"one level", of([]int{1}, 50), []string{"1", "2"}},
		{"one even level", of([]int{8}, 50), []string{"4", "8", "16"}},
		{"one decade", of([]int{2, 3, 4}, 20, 30, 38), []string{"2", "3", "4"}},
		{"nothing at one stream", of([]int{1, 2, 4}, 0, 20, 38), []string{"1", "2", "4"}},
	} {
		for kind, page := range pages(c.curve, AxisLog) {
			g := page()
			canvas := draw.NewCanvas(new(recorder.Canvas), figureWidth, figureHeight)
			g.arrange(&canvas)
			g.draw()
			if kind != "capacity" && kind != "latency" && kind != "ttft" {
				continue
			}
			for i, p := range g.panels {
				if got := axisLabels(p.xTicks); !p.x.log || !slices.Equal(got, c.want) {
					t.Errorf("%s, %s: panel %d has labels %q, want %q", c.name, kind, i, got, c.want)
				}
				if got := axisLabels(p.yTicks); len(got) < 2 {
					t.Errorf("%s, %s: panel %d has values %q", c.name, kind, i, got)
				}
			}
		}
	}
	failed := of([]int{1, 2, 4}, 0, 20, 38)
	if l := capacityLegend(failed); !slices.ContainsFunc(l.entries, func(e legendEntry) bool { return e.text == "not valid, not fitted" }) {
		t.Error("a level without tokens is not shown as one that is not valid")
	}
}

// TestAxisShowsConfiguredLevels wants the levels that were set on the axis, in
// the order of numbers, and not the requests that were in flight
// (vllm-project/guidellm#1032).
func TestAxisShowsConfiguredLevels(t *testing.T) {
	c := ideal([]int{1, 2, 3, 10, 50}, 24, 245)
	for i, achieved := range []float64{0.98, 1.97, 2.9, 9.6, 47} {
		c.Steps[i].InFlight.Mean = achieved
	}
	want := []float64{1, 2, 3, 10, 50}
	labels := []string{"1", "2", "3", "10", "50"}
	for kind, page := range pages(c, AxisLog) {
		g := page()
		if kind != "capacity" && kind != "latency" && kind != "ttft" && kind != "itl" {
			continue
		}
		canvas := draw.NewCanvas(new(recorder.Canvas), figureWidth, figureHeight)
		g.arrange(&canvas)
		for i, p := range g.panels {
			var got []float64
			for _, k := range p.xTicks {
				got = append(got, k.value)
			}
			if !slices.Equal(got, want) || !slices.Equal(axisLabels(p.xTicks), labels) {
				t.Errorf("%s: panel %d marks %v with labels %q", kind, i, got, axisLabels(p.xTicks))
			}
		}
	}
	for i, s := range analysis.Tradeoffs(c) {
		if float64(s.Concurrency) != want[i] {
			t.Errorf("level %d of the trade-off is %d", i, s.Concurrency)
		}
	}
}

// TestScoutingLevelsAreHollow looks for the legend of scouting levels and for
// hollow markers.
func TestScoutingLevelsAreHollow(t *testing.T) {
	const text = "scouting level (few windows)"
	for name, want := range map[string]bool{"scouts": true, "coincident": false} {
		for kind, page := range pages(curves()[name], AxisAuto) {
			g := page()
			if kind == "ttft" || kind == "itl" || kind == "timeline" {
				continue
			}
			got := slices.ContainsFunc(g.legend.entries, func(e legendEntry) bool { return e.text == text })
			if got != want {
				t.Errorf("%s, %s: legend of scouting levels: %v, want %v", name, kind, got, want)
			}
		}
	}
	with, without := curves()["scouts"], curves()["scouts"]
	without.Steps = slices.Clone(without.Steps)
	for i := range without.Steps {
		without.Steps[i].Scout = false
	}
	if whites(capacityPage(with, AxisAuto)) <= whites(capacityPage(without, AxisAuto)) {
		t.Error("capacity: scouting levels are filled")
	}
	if whites(latencyPage(with, AxisAuto)) <= whites(latencyPage(without, AxisAuto)) {
		t.Error("latency: scouting levels are filled")
	}
}

// whites is how often a page paints in white.
func whites(g *page) int {
	var r recorder.Canvas
	canvas := draw.NewCanvas(&r, figureWidth, figureHeight)
	g.arrange(&canvas)
	g.draw()
	n := 0
	for _, a := range r.Actions {
		if c, ok := a.(*recorder.SetColor); ok && c.Color == white {
			n++
		}
	}
	return n
}
