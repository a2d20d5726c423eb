package plots

import (
	"kneesweep/analysis"
	"kneesweep/load"
)

func ttftP99(s load.Step) (load.Dist, float64) { return s.TTFT, s.TTFT.P99 }
func tpotP50(s load.Step) (load.Dist, float64) { return s.TPOT, s.TPOT.P50 }
func tpotP95(s load.Step) (load.Dist, float64) { return s.TPOT, s.TPOT.P95 }
func tpotP99(s load.Step) (load.Dist, float64) { return s.TPOT, s.TPOT.P99 }
func itlP50(s load.Step) (load.Dist, float64)  { return s.ITL, s.ITL.P50 }
func itlP95(s load.Step) (load.Dist, float64)  { return s.ITL, s.ITL.P95 }
func itlP99(s load.Step) (load.Dist, float64)  { return s.ITL, s.ITL.P99 }
func e2eP50(s load.Step) (load.Dist, float64)  { return s.E2E, s.E2E.P50 }
func e2eP95(s load.Step) (load.Dist, float64)  { return s.E2E, s.E2E.P95 }
func e2eP99(s load.Step) (load.Dist, float64)  { return s.E2E, s.E2E.P99 }

// latencies are the panels of [Latency].
var latencies = []struct {
	heading       string
	p50, p95, p99 picker
}{
	{"Time to first token (TTFT)", ttftP50, ttftP95, ttftP99},
	{"Time per output token of a request (TPOT)", tpotP50, tpotP95, tpotP99},
	{"Gap between two tokens (ITL)", itlP50, itlP95, itlP99},
	{"Whole request (E2E)", e2eP50, e2eP95, e2eP99},
}

// Latency shows what the levels cost in time: TTFT, TPOT, ITL and E2E over the
// number of parallel streams, with p50, p95 and p99 of one curve, or the medians
// of several. Panels without any value are left out. The error is that of
// [Overlay].
func Latency(curves []analysis.Curve, x Axis) (*Figure, error) {
	if err := checkCurves(curves, x); err != nil {
		return nil, err
	}
	return figure(func() *page {
		if len(curves) == 1 {
			return latencyPage(curves[0], x)
		}
		return latenciesPage(curves, x)
	}), nil
}

func latencyPage(c analysis.Curve, x Axis) *page {
	g := &page{title: Headline(c), subtitle: subtitles(c.Run), axis: streamAxis(levelsOf(c), x), even: true}
	for _, l := range latencies {
		unit, factor := latencyUnit(l.p95, c)
		g.add(seriesPanel(l.heading+", "+unit, latencyScale,
			asP99(newSeries(c, l.p99, factor)), asP95(newSeries(c, l.p95, factor)), asP50(newSeries(c, l.p50, factor))))
	}
	if len(g.panels) == 0 {
		return g
	}
	g.markKnee(c)
	g.legend.addSeries("p99", asP99(series{}))
	g.legend.addSeries("p95", asP95(series{}))
	g.legend.addSeries("median (p50)", asP50(series{}))
	g.legend.addLevels(c)
	return g
}

// latenciesPage compares the medians of several curves.
func latenciesPage(curves []analysis.Curve, x Axis) *page {
	g := &page{
		title: "Median latencies", subtitle: overlaySubtitles(curves),
		legend: overlayLegend(curves), axis: streamAxis(levelsOf(curves...), x), even: true,
	}
	for _, l := range latencies {
		unit, factor := latencyUnit(l.p50, curves...)
		g.add(seriesPanel(l.heading+", median, "+unit, latencyScale, inLooks(curves, l.p50, factor)...))
	}
	g.markKnees(curves)
	return g
}
