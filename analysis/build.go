package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// notableDrift is the median difference between the last and the first pass,
// as a fraction, from which the curve says that the endpoint drifted.
const notableDrift = 0.05

// coldStartGain is how much more than the others the first level must gain
// between its passes, to say that the endpoint was warming up.
const coldStartGain = 0.25

// Build makes the curve of a run from its steps: the knee with its verdict,
// estimates by each definition, the admission limit, the cause and the
// recommendation. Steps may come in any order; invalid ones are kept to be
// shown and left out of every fit. The steps of the caller are not changed.
// All randomness comes from run.Seed, so the same steps give the same curve bit
// for bit. It is safe for concurrent use.
func Build(run load.Run, steps []load.Step) Curve {
	c := Curve{Run: run, Steps: slices.Clone(steps)}
	slices.SortStableFunc(c.Steps, func(a, b load.Step) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
	unjudged(run, c.Steps)
	points := pointsOf(c.Steps)
	c.Knee = knee.Choose(points, run.Seed)
	for _, f := range knee.Finders() {
		c.Estimates = append(c.Estimates, f.Find(points, run.Seed))
	}
	if w, disagree := knee.Disagree(c.Knee, c.Estimates); disagree {
		c.Knee.Warnings = append(c.Knee.Warnings, w)
	}
	markOutliers(c.Steps, c.Knee.Outliers)
	c.Admission = admission(c.Steps)
	c.Cause = findCause(c)
	if c.Cause != nil {
		if said := serverEvidence(c.Steps, c.Knee.Concurrency.V.Value); said != "" {
			c.Cause.Evidence = append(c.Cause.Evidence, said)
		}
	}
	c.Recommended = recommend(c, sloLevel(c.Steps))
	c.Warnings = runWarnings(run, c.Steps)
	return Priced(c, run.Settings.Prices)
}

// pointsOf takes the windows of the valid steps.
func pointsOf(steps []load.Step) []knee.Point {
	var points []knee.Point
	for _, s := range steps {
		if s.Valid {
			points = append(points, knee.Point{N: s.Concurrency, Windows: s.Measurements})
		}
	}
	return points
}

// markOutliers puts a warning on each step that was left out as an outlier, and
// takes away those of an earlier analysis.
func markOutliers(steps []load.Step, outliers []int) {
	for i := range steps {
		s := &steps[i]
		s.Warnings = slices.DeleteFunc(slices.Clone(s.Warnings), func(w load.Warning) bool { return w.Code == load.WarnOutlier })
		if s.Valid && slices.Contains(outliers, s.Concurrency) {
			s.Warnings = append(s.Warnings, load.Warnf(load.WarnOutlier,
				"contradicts the levels beside it and was left out of the fit: measure it again"))
		}
	}
}

// runWarnings are the doubts that concern the whole run. Drift is the business
// of live sweeps, which have passes; a table of figures has none.
func runWarnings(run load.Run, steps []load.Step) []load.Warning {
	var drifts []float64
	valid := 0
	for _, s := range steps {
		if !s.Valid || s.Scout {
			continue
		}
		valid++
		if s.Drift.OK {
			drifts = append(drifts, s.Drift.V)
		}
	}
	var warnings []load.Warning
	if n := len(run.Pauses); n > 0 {
		longest := 0.0
		for _, p := range run.Pauses {
			longest = max(longest, p.Seconds())
		}
		often := fmt.Sprintf("%d times, for %s at most", n, span(longest))
		if n == 1 {
			often = "once, for " + span(longest)
		}
		warnings = append(warnings, load.Warnf(load.WarnResumed, "the sweep was interrupted and resumed %s: what changed at the endpoint meanwhile looks like a difference between levels", often))
	}
	if run.Request.Insecure {
		warnings = append(warnings, load.Warning{Code: load.WarnInsecure, Text: load.InsecureText})
	}
	if run.Settings.Passes > 0 && valid > 0 && 2*len(drifts) < valid {
		warnings = append(warnings, load.Warnf(load.WarnDriftUnchecked,
			"%d of %d levels were visited once: a drift of the endpoint during the sweep would bend the curve unseen", valid-len(drifts), valid))
	}
	if d := stat.Median(drifts); 2*len(drifts) >= valid && math.Abs(d) > notableDrift {
		way := "faster"
		if d < 0 {
			way = "slower"
		}
		warnings = append(warnings, load.Warnf(load.WarnDrift,
			"the endpoint was %.0f %% %s on the last pass than on the first (median over levels)", 100*math.Abs(d), way))
	}
	if w, cold := coldStart(steps, stat.Median(drifts)); cold {
		warnings = append(warnings, w)
	}
	if w, uneven := unevenCache(steps); uneven {
		warnings = append(warnings, w)
	}
	if w, worse := worseAnswers(steps); worse {
		warnings = append(warnings, w)
	}
	if w, other := otherCache(run, steps); other {
		warnings = append(warnings, w)
	}
	return warnings
}

// coldStart says that the level visited first gained much more from its first to
// its last pass than the others: the endpoint was still warming up.
func coldStart(steps []load.Step, drift float64) (load.Warning, bool) {
	if len(steps) == 0 || !steps[0].Valid || !steps[0].Drift.OK || steps[0].Drift.V-drift < coldStartGain {
		return load.Warning{}, false
	}
	return load.Warnf(load.WarnColdStart,
		"N = %d, measured first, was %.0f %% faster on the last pass: the endpoint was still warming up",
		steps[0].Concurrency, 100*steps[0].Drift.V), true
}
