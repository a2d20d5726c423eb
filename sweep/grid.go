package sweep

import (
	"math/rand/v2"
	"slices"

	"kneesweep/load"
)

const shuffleStream = 0x7368 // of the order of passes after the second

// Grid is the Policy of fixed levels: one pass up, one down, further ones
// shuffled, the windows of a level shared out among them. A level that fails or
// is throttled becomes a lid: neither it nor a higher one is visited again; two
// such visits in a row end the sweep.
type Grid struct {
	Levels       []int // ascending
	Measurements int   // windows per level, over all passes
	Requests     int   // per level, over all passes, instead of windows of a length; 0 = by time
	Passes       int
	Seed         uint64
}

// Effective returns the number of passes that are made: every visit of a level
// needs a window of its own, and a request where they are counted.
func (g Grid) Effective() int {
	passes := max(1, min(g.Passes, g.Measurements))
	if g.Requests > 0 {
		passes = min(passes, g.Requests)
	}
	return passes
}

// Plan returns every visit of the grid in order.
func (g Grid) Plan() []load.Level {
	passes := g.Effective()
	var plan []load.Level
	for p := range passes {
		windows := share(g.Measurements, passes, p)
		order := slices.Clone(g.Levels)
		switch {
		case p == 1:
			slices.Reverse(order)
		case p > 1:
			rng := rand.New(rand.NewPCG(g.Seed, shuffleStream<<16|uint64(p)))
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, n := range order {
			plan = append(plan, load.Level{Concurrency: n, Windows: windows, Pass: p, Requests: share(g.Requests, passes, p)})
		}
	}
	return plan
}

// share is part p of n things shared out among parts.
func share(n, parts, p int) int {
	s := n / parts
	if p < n%parts {
		s++
	}
	return s
}

// Next is the Policy.
func (g Grid) Next(h History) (load.Level, Outcome) {
	var lid lid
	done := 0
	for _, level := range g.Plan() {
		if lid.forbids(level.Concurrency) {
			continue
		}
		if done == len(h.Visits) {
			return level, Outcome{}
		}
		lid.note(&h.Visits[done])
		done++
		if stop, ends := lid.stop(); ends {
			return load.Level{}, stop
		}
	}
	if stop := lid.cut(); stop.Status != "" {
		return load.Level{}, stop
	}
	return load.Level{}, Outcome{Status: load.StatusComplete}
}
