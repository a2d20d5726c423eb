package sweep

import (
	"fmt"
	"time"

	"kneesweep/load"
)

// Resume makes a policy go on after visits that an earlier process made by the same
// policy: it is asked again for each of them. An error says that it would not have made
// them, so that it is another one.
func Resume(p Policy, done []load.Visit) (Policy, error) {
	for i := range done {
		level, end := p.Next(History{done[:i:i]})
		if end.Status != "" {
			return nil, fmt.Errorf("the sweep would have ended after %d visits (%s), and %d were made", i, end.Reason, len(done))
		}
		if level != done[i].Level {
			return nil, fmt.Errorf("visit %d was %d streams in pass %d, and would now be %d streams in pass %d", i+1,
				done[i].Level.Concurrency, done[i].Level.Pass+1, level.Concurrency, level.Pass+1)
		}
	}
	return resumed{p, done}, nil
}

// resumed is a policy with visits before those of this process.
type resumed struct {
	Policy
	done []load.Visit
}

// Next is the Policy.
func (r resumed) Next(h History) (load.Level, Outcome) {
	return r.Policy.Next(History{append(r.done[:len(r.done):len(r.done)], h.Visits...)})
}

// After is what an earlier process measured of the same sweep. Its zero value is nothing.
type After struct {
	Visits   []load.Visit
	Requests int64 // the highest ID of a request
	Asked    int   // prompts that a visit may have asked that did not end: the first one asks those after them
}

// lengths are those of the windows that were chosen for levels.
func (a After) lengths() map[int]time.Duration {
	all := map[int]time.Duration{}
	for i := range a.Visits {
		if w := a.Visits[i].Windows; len(w) > 0 {
			all[a.Visits[i].Level.Concurrency] = w[0].To - w[0].From
		}
	}
	return all
}
