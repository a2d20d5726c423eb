package cost

import "kneesweep/load"

// near is how much dearer a level may be, as a fraction, to be called as cheap.
const near = 0.01

// Cheapest is the level at which output costs least.
type Cheapest struct {
	Concurrency int
	Cost        load.Cost
	Near        int // the lowest such level whose output costs at most 1 % more; may be Concurrency
}

// FindCheapest finds the cheapest of the valid levels that have a cost, ascending;
// with an SLO, of those that are shown to meet it. Of equal ones it is the lowest.
// It is undefined when there is none.
func FindCheapest(steps []load.Step, slo bool) load.Opt[Cheapest] {
	var best load.Opt[Cheapest]
	fits := func(s load.Step) bool {
		return s.Valid && s.Cost.OK && (!slo || s.SLO.V.Met == load.Some(true))
	}
	for _, s := range steps {
		if fits(s) && (!best.OK || s.Cost.V.PerMillion.Value < best.V.Cost.PerMillion.Value*(1-1e-9)) {
			best = load.Some(Cheapest{Concurrency: s.Concurrency, Cost: s.Cost.V})
		}
	}
	for _, s := range steps {
		if fits(s) && s.Cost.V.PerMillion.Value <= best.V.Cost.PerMillion.Value*(1+near) {
			best.V.Near = s.Concurrency
			break
		}
	}
	return best
}
