package sweep

import "kneesweep/load"

// after is what the policies share that follow another one: they wait until it is
// complete, and end as it did once they have nothing more to measure.
type after struct {
	end Outcome // of the policy that is followed; its Status is empty until then
}

// over asks the policy that is followed. It is true once that is complete; until
// then level and end are what it says.
func (a *after) over(p Policy, h History) (level load.Level, end Outcome, over bool) {
	if a.end.Status == "" {
		if level, end = p.Next(h); end.Status != load.StatusComplete {
			return level, end, false
		}
		a.end = end
	}
	return load.Level{}, a.end, true
}

// queued takes the next of some visits; none is made after one that did not go well.
func (a *after) queued(queue *[]load.Level, h History) (load.Level, Outcome) {
	if len(*queue) == 0 || len(h.Visits) > 0 && h.Visits[len(h.Visits)-1].Ended != "" {
		return load.Level{}, a.end
	}
	next := (*queue)[0]
	*queue = (*queue)[1:]
	return next, Outcome{}
}

// lastPass is the highest number of a pass that was made, 0 without any.
func lastPass(visits []load.Visit) int {
	pass := 0
	for i := range visits {
		pass = max(pass, visits[i].Level.Pass)
	}
	return pass
}
