package sweep

import (
	"maps"
	"math"
	"slices"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// ladders are the levels of a round as multiples of the knee, taken in turn: the
// first round brackets it, the second tells its neighbourhood apart.
var ladders = [][]float64{
	{0.5, 0.75, 1.5, 2},
	{0.35, 0.6, 0.85, 1.2, 1.7},
}

const (
	keptFrom, keptTo = 0.35, 2.0 // multiples of the knee between which a level is measured in full
	minAround        = 4         // levels of a round
	near             = 0.12      // a level that exists already serves within this fraction
)

// round queues the visits of the next round around the knee of r: every level in
// one pass up, one down, further ones up and down in turn.
func (a *Adaptive) round(r knee.Result, visits []load.Visit) {
	have := windowsOf(visits)
	levels := a.targets(r, have)
	if len(levels) == 0 {
		return
	}
	want := a.Measurements
	if a.MaxWindows > 0 { // half of the rest now, the other half in the last round
		rest := a.MaxWindows - a.used
		if a.rounds == 0 {
			rest /= 2
		}
		want = min(want, rest/len(levels))
	}
	passes := max(1, min(a.Passes, want))
	for p := range passes {
		a.pass++
		order := slices.Clone(levels)
		if p%2 == 1 {
			slices.Reverse(order)
		}
		for _, n := range order {
			windows := share(want, passes, p)
			if windows < 1 {
				continue
			}
			a.queue = append(a.queue, load.Level{Concurrency: n, Windows: windows, Pass: a.pass, Requests: share(a.Requests, passes, p)})
		}
	}
}

// targets are the levels of the next round, ascending. Without a bend below the
// highest level they are the upper ones, so that the verdict rests on whole levels.
func (a *Adaptive) targets(r knee.Result, have map[int]int) []int {
	tried := slices.Sorted(maps.Keys(have))
	if len(tried) == 0 {
		return nil
	}
	top := float64(tried[len(tried)-1])
	if k := bend(r); k.OK && k.V < top {
		return a.around(k.V, r.Concurrency.OK, tried, have)
	}
	if a.rounds >= minRounds {
		return nil
	}
	return a.snap(top, []float64{0.25, 0.5, 0.75, 1}, tried)
}

// around are the levels of this round's ladder about k, and those scouted that must
// not stay with a glance: in the first round what lies between them, later what
// lies above, as long as no knee is found.
func (a *Adaptive) around(k float64, found bool, tried []int, have map[int]int) []int {
	levels := a.snap(k, ladders[a.rounds%len(ladders)], tried)
	if len(levels) < minAround { // multiples of few streams fall together, high ones end at the highest
		levels = append(levels, a.snap(k, []float64{0.9, 1, 1.1, 1.25}, nil)...)
	}
	for _, n := range tried {
		x := float64(n) / k
		kept := a.rounds == 0 && x >= keptFrom && x <= keptTo
		// A glance at the plateau may be what hides the knee.
		doubtful := a.rounds > 0 && !found && x > 1 && have[n] < a.Measurements
		if kept || doubtful {
			levels = append(levels, n)
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// snap turns multiples of k into levels that may be visited, those that exist
// already before new ones next to them.
func (a *Adaptive) snap(k float64, multiples []float64, tried []int) []int {
	var levels []int
	for _, f := range multiples {
		want := f * k
		n := int(math.Round(want))
		for _, t := range tried {
			if math.Abs(float64(t)-want) <= near*want {
				n = t
			}
		}
		levels = append(levels, n)
	}
	return a.clamp(levels)
}

// clamp brings levels into the range that may be visited, ascending, each once.
func (a *Adaptive) clamp(levels []int) []int {
	highest := a.Max
	if a.lid.level > 0 {
		highest = min(highest, a.lid.level-1)
	}
	if highest < 1 {
		return nil
	}
	for i, n := range levels {
		levels[i] = max(1, min(n, highest))
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// bend is where the fit bends, whatever the verdict.
func bend(r knee.Result) load.Opt[float64] {
	switch {
	case r.Concurrency.OK:
		return load.Some(r.Concurrency.V.Value)
	case r.Verdict == knee.AtOrBelowFirst:
		return load.Some(1.0)
	case r.Fit != nil:
		return load.Some(r.Fit.K)
	}
	return load.Opt[float64]{}
}

// windowsOf counts the windows of each level that could be held.
func windowsOf(visits []load.Visit) map[int]int {
	have := map[int]int{}
	for i := range visits {
		if v := &visits[i]; v.Ended == "" {
			have[v.Level.Concurrency] += len(v.Live.Rates)
		}
	}
	return have
}
