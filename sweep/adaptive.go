package sweep

import (
	"maps"
	"slices"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Adaptive is the Policy for those who do not know the levels beforehand. It
// doubles the level with two scouting windows each until throughput no longer
// grows and latency shows why (scout.go), then measures levels around the knee
// in rounds, on the way up and on the way down, fitting anew after each
// (round.go), until the interval of the knee is narrow enough.
//
// Its decisions rest on the figures that visits carry ([load.Live]) and on
// nothing else, so the same visits give the same levels. With the zero Precision it
// goes on until the interval no longer gets narrower. It must not be used by two
// sweeps, nor concurrently.
type Adaptive struct {
	Max          int     // highest level
	Measurements int     // windows of a level around the knee, over its visits in a round
	Passes       int     // visits of a level in a round
	Requests     int     // per level and round, instead of windows of a length; 0 = by time
	Precision    float64 // wanted half-width of the knee's interval, as a fraction of the knee
	MaxWindows   int     // of the whole sweep; 0 = no bound but the caller's
	Seed         uint64

	// Spent returns the share of the caller's budgets that is used up; nil = none.
	// Scouting ends when half of it is.
	Spent func() float64

	lid    lid
	seen   int // visits taken into account
	used   int // windows asked for
	pass   int
	queue  []load.Level
	rounds int
	widths []float64 // of the knee's interval after each round, relative
	why    string    // scouting ended
}

// Next is the Policy.
func (a *Adaptive) Next(h History) (load.Level, Outcome) {
	for ; a.seen < len(h.Visits); a.seen++ {
		a.lid.note(&h.Visits[a.seen])
	}
	if end, ends := a.lid.stop(); ends {
		return load.Level{}, end
	}
	for {
		for len(a.queue) > 0 {
			l := a.queue[0]
			a.queue = a.queue[1:]
			if a.lid.forbids(l.Concurrency) {
				continue
			}
			a.used += l.Windows
			return l, Outcome{}
		}
		if end := a.plan(h); end.Status != "" {
			if cut := a.lid.cut(); cut.Status != "" {
				end = cut
			}
			return load.Level{}, end
		}
	}
}

// plan fills the queue, or ends the sweep.
func (a *Adaptive) plan(h History) Outcome {
	if a.why == "" {
		var more load.Level
		if more, a.why = a.scout(h.Visits); a.why == "" {
			a.queue = []load.Level{more}
			return Outcome{}
		}
	}
	r := knee.Choose(points(h.Visits), a.Seed)
	if a.rounds > 0 {
		if end := a.judge(r, h.Visits); end.Status != "" || len(a.queue) > 0 {
			return end
		}
	}
	a.round(r, h.Visits)
	a.rounds++
	if len(a.queue) == 0 {
		return completed("%s; no level is left that would tell more", a.why)
	}
	return Outcome{}
}

// judge says after a round whether to go on. A throughput that turned out to rise
// past the levels scouted sends the scout out again.
func (a *Adaptive) judge(r knee.Result, visits []load.Visit) Outcome {
	k := r.Concurrency
	if !k.OK {
		if next := a.beyond(visits); next.Concurrency > 0 && (r.Verdict == knee.StillRising || r.Verdict == knee.NotLocated) {
			a.queue = []load.Level{next}
			return Outcome{}
		}
		if r.Verdict == knee.AtOrBelowFirst && a.rounds >= minRounds { // an answer, and all its levels are whole by now
			return completed("%s; the first level has all of it", a.why)
		}
		if a.rounds >= maxBlind {
			return completed("%s; %d rounds around the bend show no knee", a.why, a.rounds)
		}
		return Outcome{}
	}
	width := (k.V.Hi - k.V.Lo) / 2 / k.V.Value
	a.widths = append(a.widths, width)
	if width <= a.Precision {
		return completed("the knee is known within ± %.0f %%, as asked for", 100*width)
	}
	n := len(a.widths)
	switch {
	case a.MaxWindows > 0 && a.MaxWindows-a.used < 2*max(1, a.Passes):
		return completed("%d windows were made, as many as allowed", a.used)
	case n > stalled && slices.Min(a.widths[n-stalled:]) > gain*slices.Min(a.widths[:n-stalled]):
		return completed("the interval of the knee, ± %.0f %%, no longer gets narrower", 100*width)
	}
	return Outcome{}
}

const (
	minRounds = 2    // of levels around a knee
	maxBlind  = 4    // rounds without a knee that end a sweep
	stalled   = 2    // rounds without a gain that end a sweep
	gain      = 0.95 // of the width of the interval, at most, that a round must leave
)

// points are the levels that count, as the controller saw them.
func points(visits []load.Visit) []knee.Point {
	rates := map[int][]float64{}
	for i := range visits {
		v := &visits[i]
		n := v.Level.Concurrency
		if v.Ended != "" || v.Client.Full() {
			continue
		}
		if v.Level.Again {
			rates[n] = nil
		}
		rates[n] = append(rates[n], v.Live.Rates...)
	}
	out := make([]knee.Point, 0, len(rates))
	for _, n := range slices.Sorted(maps.Keys(rates)) {
		out = append(out, knee.Point{N: n, Windows: rates[n]})
	}
	return out
}
