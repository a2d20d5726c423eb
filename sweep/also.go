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

	end    Outcome // of the policy that is followed
	visits []load.Level
}

// Next is the Policy.
func (a *Also) Next(h History) (load.Level, Outcome) {
	if a.end.Status == "" {
		level, end := a.Policy.Next(h)
		if end.Status != load.StatusComplete {
			return level, end
		}
		a.end = end
		a.visits = a.missing(h.Visits)
	}
	if last := len(h.Visits) - 1; last >= 0 && h.Visits[last].Ended != "" {
		a.visits = nil
	}
	if len(a.visits) == 0 {
		return load.Level{}, a.end
	}
	next := a.visits[0]
	a.visits = a.visits[1:]
	return next, Outcome{}
}

// missing are the visits that the level lacks.
func (a *Also) missing(visits []load.Visit) []load.Level {
	windows, pass := 0, 0
	for i := range visits {
		v := &visits[i]
		if v.Ended != "" && v.Level.Concurrency <= a.Level {
			return nil
		}
		if v.Level.Concurrency == a.Level {
			windows += len(v.Windows)
		}
		pass = max(pass, v.Level.Pass)
	}
	if windows >= a.Measurements {
		return nil
	}
	grid := Grid{Levels: []int{a.Level}, Measurements: a.Measurements, Requests: a.Requests, Passes: a.Passes}
	plan := grid.Plan()
	for i := range plan {
		plan[i].Pass += pass + 1
	}
	return plan
}
