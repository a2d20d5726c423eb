package report

import (
	"fmt"
	"slices"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// column is one column of the table of levels: its heading, the statistic it
// shows, its unit, and its cell for one step.
type column struct {
	name, stat, unit string
	cell             func(load.Step) string
}

// columns are the columns of the table of levels, the same in the terminal and
// in Markdown.
var columns = []column{
	{"streams", "", "N", func(s load.Step) string { return whole(s.Concurrency) }},
	{"output", "median", "tok/s", func(s load.Step) string {
		if !s.Throughput.OK {
			return plots.Missing
		}
		return plots.Fixed(s.Throughput.V.Value)
	}},
	{"output", "95 % interval", "tok/s", func(s load.Step) string {
		b := between(s.Throughput.V, plots.Fixed)
		if !s.Throughput.OK || b == "" || len(s.Measurements) < 2 {
			return plots.Missing
		}
		return b
	}},
	{"stream", "p50", "tok/s", func(s load.Step) string { return quantile(s.Decode, s.Decode.P50, 1) }},
	{"TTFT", "p50", "ms", func(s load.Step) string { return quantile(s.TTFT, s.TTFT.P50, 1e3) }},
	{"TTFT", "p95", "ms", func(s load.Step) string { return quantile(s.TTFT, s.TTFT.P95, 1e3) }},
	{"TPOT", "p50", "ms", func(s load.Step) string { return quantile(s.TPOT, s.TPOT.P50, 1e3) }},
	{"ITL", "p95", "ms", func(s load.Step) string { return quantile(s.ITL, s.ITL.P95, 1e3) }},
	{"in flight", "mean", "requests", func(s load.Step) string {
		if !s.InFlight.OK {
			return plots.Missing
		}
		return plots.Fixed(s.InFlight.Mean)
	}},
	{"decoding", "mode", "streams", func(s load.Step) string {
		if !s.DecodeConcurrency.OK {
			return plots.Missing
		}
		return whole(s.DecodeConcurrency.Mode)
	}},
	{"failed", "", "requests", failedCell},
}

// columnsOf are the columns for a curve: with limits there is one more, with canaries
// another, with prices a third.
func columnsOf(c analysis.Curve) []column {
	all := slices.Clip(columns)
	if c.Run.Settings.SLO != "" {
		all = append(all, column{"SLO", "", "", sloCell})
	}
	if slices.ContainsFunc(c.Steps, func(s load.Step) bool { return s.Canary.OK }) {
		all = append(all, column{"canaries", "", "passed", canaryCell})
	}
	if c.Account != nil {
		all = append(all, costColumn)
	}
	return all
}

// canaryCell is how many canaries were answered as expected.
func canaryCell(s load.Step) string {
	if !s.Canary.OK {
		return plots.Missing
	}
	return whole(s.Canary.V.Passed) + " of " + whole(s.Canary.V.Asked)
}

// sloCell says whether a level meets the limits.
func sloCell(s load.Step) string {
	switch met := s.SLO.V.Met; {
	case !s.SLO.OK:
		return plots.Missing
	case !met.OK:
		return "unsure"
	case met.V:
		return "met"
	}
	return "missed"
}

func quantile(d load.Dist, x, unit float64) string {
	if d.Count == 0 {
		return plots.Missing
	}
	return plots.Fixed(x * unit)
}

// failedCell is the number of failures and their share.
func failedCell(s load.Step) string {
	switch {
	case s.Started == 0 && s.Finished == 0 && s.Failed == 0, s.Imported && !s.ErrorRate.OK:
		return plots.Missing
	case s.Failed == 0:
		return "0"
	case !s.ErrorRate.OK:
		return whole(s.Failed)
	}
	return whole(s.Failed) + " (" + percent(s.ErrorRate.V) + ")"
}

// The marks of a level that the fit does not use, or should be read with care.
const (
	markInvalid  = "x"
	markOutlier  = "o"
	markUnsteady = "~"
	markScout    = "."
)

// mark is the mark of a step, empty for an ordinary one.
func mark(c analysis.Curve, s load.Step) string {
	switch {
	case !s.Valid:
		return markInvalid
	case slices.Contains(c.Knee.Outliers, s.Concurrency):
		return markOutlier
	case slices.ContainsFunc(s.Warnings, func(w load.Warning) bool { return w.Code == load.WarnNotSteady }):
		return markUnsteady
	case s.Scout:
		return markScout
	}
	return ""
}

// remarks explains the marks of a curve, one line each, without the mark.
func remarks(c analysis.Curve) []string {
	var lines []string
	used := map[string]bool{}
	for _, s := range c.Steps {
		m := mark(c, s)
		used[m] = true
		if m == markInvalid {
			reason := s.InvalidReason
			if reason == "" {
				reason = "no reason recorded"
			}
			lines = append(lines, markInvalid+"  level "+whole(s.Concurrency)+" is not used: "+reason)
		}
	}
	if used[markOutlier] {
		lines = append(lines, markOutlier+"  outlier: measured, shown, left out of the fit")
	}
	if used[markUnsteady] {
		lines = append(lines, markUnsteady+"  not steady: the level was still changing while it was measured")
	}
	if used[markScout] {
		lines = append(lines, markScout+"  scouting level: few windows, on the way to the knee")
	}
	if line := cacheEffect(c.Steps); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fewHits is how many requests of either kind a comparison of their TTFT takes.
const fewHits = 10

// cacheEffect tells what a prefix cache did to TTFT, at the highest level with enough
// requests of both kinds.
func cacheEffect(steps []load.Step) string {
	for _, s := range slices.Backward(steps) {
		if s.Valid && min(s.Hits.Count, s.Misses.Count) >= fewHits {
			return fmt.Sprintf("prefix cache at N = %s: TTFT p50 %s ms of the %d requests of which it had half of the prompt or more, %s ms of the %d others",
				whole(s.Concurrency), plots.Number(1e3*s.Hits.P50), s.Hits.Count, plots.Number(1e3*s.Misses.P50), s.Misses.Count)
		}
	}
	return ""
}
