package sweep

import (
	"fmt"
	"math"
	"time"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

const (
	scoutWindows  = 2
	minScouts     = 4    // levels that a verdict needs
	flatGain      = 0.10 // of throughput on a doubling, below which it no longer counts as growing
	confidence    = 0.95
	latencyGrows  = 2   // factor of latency over two doublings that shows a limit
	decodingStops = 1.5 // growth of the streams that decode on a doubling, below which a ceiling holds them
)

// scout returns the next level on the way up, or why there is none: the last two
// doublings gained less than 10 % each on average and latency at least doubled over
// them, the highest level is reached, or half of the budget is spent.
// Real endpoints stall for one doubling and rise again. Where the last level is the
// first to show a ceiling of the streams that decode, one more level must show it
// too: an admission limit is believed at two.
func (a *Adaptive) scout(visits []load.Visit) (next load.Level, why string) {
	var up []*load.Visit
	for i := range visits {
		if visits[i].Level.Scout {
			up = append(up, &visits[i])
		}
	}
	n := len(up)
	switch {
	case n == 0:
		return a.glance(1), ""
	case a.lid.level > 0:
		return next, fmt.Sprintf("%d streams are more than the endpoint takes", a.lid.level)
	case n >= minScouts && saturated(up) && (ceiling(up) != 1 || up[n-1].Level.Concurrency >= a.Max):
		return next, fmt.Sprintf("throughput grows no more from %d streams on", up[n-3].Level.Concurrency)
	case up[n-1].Level.Concurrency >= a.Max:
		return next, fmt.Sprintf("%d streams are the most that may be tried", a.Max)
	case n >= minScouts && a.Spent != nil && a.Spent() >= 0.5:
		return next, fmt.Sprintf("half of the budget was spent at %d streams", up[n-1].Level.Concurrency)
	}
	return a.glance(min(a.Max, 2*up[n-1].Level.Concurrency)), ""
}

// beyond returns the next level above all that were tried; its concurrency is 0
// when there is none.
func (a *Adaptive) beyond(visits []load.Visit) load.Level {
	top := 0
	for i := range visits {
		top = max(top, visits[i].Level.Concurrency)
	}
	if top >= a.Max || a.lid.level > 0 || a.Spent != nil && a.Spent() >= 0.5 {
		return load.Level{}
	}
	a.pass++
	return a.glance(min(a.Max, 2*top))
}

// glance is a scouting visit.
func (a *Adaptive) glance(n int) load.Level {
	l := load.Level{Concurrency: n, Windows: scoutWindows, Pass: a.pass, Scout: true}
	if a.Requests > 0 {
		l.Requests = max(scoutWindows, a.Requests*scoutWindows/max(1, a.Measurements))
	}
	return l
}

// saturated reports whether the last two doublings gained next to nothing, by the
// slope over all windows of their levels, and cost latency.
func saturated(up []*load.Visit) bool {
	last := up[len(up)-3:]
	var x, y []float64
	for _, v := range last {
		for _, rate := range v.Live.Rates {
			x, y = append(x, float64(v.Level.Concurrency)), append(y, rate)
		}
	}
	if e, ok := stat.Elasticity(x, y, confidence); !ok || e.Value >= math.Log2(1+flatGain) {
		return false
	}
	before, after := last[0].Live, last[2].Live
	grew := func(a, b time.Duration) bool { return a > 0 && b >= latencyGrows*a }
	return grew(before.TTFT, after.TTFT) || grew(before.TPOT, after.TPOT) || grew(before.E2E, after.E2E)
}

// ceiling counts the last levels, one after the other, at which the streams that
// decode grew much less than the level did.
func ceiling(up []*load.Visit) (levels int) {
	for i := len(up) - 1; i > 0; i-- {
		before, after := up[i-1].Live.Decoding, up[i].Live.Decoding
		if before <= 0 || after >= decodingStops*before {
			break
		}
		levels++
	}
	return levels
}
