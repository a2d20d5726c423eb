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

	end   Outcome // of the policy that is followed
	queue []load.Level
}

// Next is the Policy.
func (r *Remeasure) Next(h History) (load.Level, Outcome) {
	if r.end.Status == "" {
		level, end := r.Policy.Next(h)
		if end.Status != load.StatusComplete {
			return level, end
		}
		r.end, r.queue = end, r.again(h.Visits)
	}
	if len(r.queue) == 0 || h.Visits[len(h.Visits)-1].Ended != "" {
		return load.Level{}, r.end
	}
	level := r.queue[0]
	r.queue = r.queue[1:]
	return level, Outcome{}
}

// again are the visits of the outliers.
func (r *Remeasure) again(visits []load.Visit) []load.Level {
	pass := 0
	for i := range visits {
		pass = max(pass, visits[i].Level.Pass)
	}
	var levels []load.Level
	for _, n := range slices.Sorted(slices.Values(knee.Choose(points(visits), r.Seed).Outliers)) {
		levels = append(levels, load.Level{Concurrency: n, Windows: r.Measurements, Pass: pass + 1, Requests: r.Requests, Again: true})
	}
	return levels
}
