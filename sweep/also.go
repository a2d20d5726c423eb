package sweep

import "kneesweep/load"

// Also is a Policy that follows another one and, once that is complete, measures
// one level more in full, unless it was, or a level that did not go well forbids it.
// It must not be used by two sweeps.
type Also struct {
	Policy
	Level        int
	Measurements int // windows, over all passes
	Requests     int // the same, counted
	Passes       int

	after
	planned bool
	queue   []load.Level
}

// Next is the Policy.
func (a *Also) Next(h History) (load.Level, Outcome) {
	level, end, over := a.over(a.Policy, h)
	if !over {
		return level, end
	}
	if !a.planned {
		a.planned, a.queue = true, a.missing(h.Visits)
	}
	return a.queued(&a.queue, h)
}

// missing are the visits that the level lacks.
func (a *Also) missing(visits []load.Visit) []load.Level {
	windows := 0
	for i := range visits {
		v := &visits[i]
		if v.Ended != "" && v.Level.Concurrency <= a.Level {
			return nil
		}
		if v.Level.Concurrency == a.Level {
			windows += len(v.Windows)
		}
	}
	if windows >= a.Measurements {
		return nil
	}
	grid := Grid{Levels: []int{a.Level}, Measurements: a.Measurements, Requests: a.Requests, Passes: a.Passes}
	plan := grid.Plan()
	pass := lastPass(visits) + 1
	for i := range plan {
		plan[i].Pass += pass
	}
	return plan
}
