package sweep

import (
	"slices"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Remeasure is a Policy that follows another one and, once that is complete, has
// each level measured again that contradicts the levels beside it: once, and the
// new visit counts instead of the old ones, whatever it says. It must not be used
// by two sweeps.
type Remeasure struct {
	Policy
	Measurements int // windows of such a visit
	Requests     int // the same, counted
	Seed         uint64

	after
	planned bool
	queue   []load.Level
}

// Next is the Policy.
func (r *Remeasure) Next(h History) (load.Level, Outcome) {
	level, end, over := r.over(r.Policy, h)
	if !over {
		return level, end
	}
	if !r.planned {
		r.planned, r.queue = true, r.again(h.Visits)
	}
	return r.queued(&r.queue, h)
}

// again are the visits of the outliers.
func (r *Remeasure) again(visits []load.Visit) []load.Level {
	pass := lastPass(visits) + 1
	var levels []load.Level
	for _, n := range slices.Sorted(slices.Values(knee.Choose(points(visits), r.Seed).Outliers)) {
		levels = append(levels, load.Level{Concurrency: n, Windows: r.Measurements, Pass: pass, Requests: r.Requests, Again: true})
	}
	return levels
}
