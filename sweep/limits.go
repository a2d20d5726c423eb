package sweep

import (
	"math"
	"slices"

	"kneesweep/load"
)

// Limits is a Policy that follows another one and, once that is complete, closes
// in on the largest level that meets the limits of the caller: levels that had too
// few requests to tell are measured in full, and then the gap between the largest
// that meets them and the next that does not is halved. It must not be used by two
// sweeps.
type Limits struct {
	Policy
	Max          int // highest level
	Measurements int // windows of such a visit
	Requests     int // the same, counted

	// Steps returns the steps so far, judged by the limits.
	Steps func() []load.Step

	after
	visits int
	lid    int // lowest level that did not go well; 0 = none
}

const (
	limitVisits = 8    // at most
	closeEnough = 1.10 // ratio of two levels between which none is looked for
)

// Next is the Policy.
func (l *Limits) Next(h History) (load.Level, Outcome) {
	level, end, over := l.over(l.Policy, h)
	if !over {
		return level, end
	}
	for i := range h.Visits {
		if v := &h.Visits[i]; v.Ended != "" && (l.lid == 0 || v.Level.Concurrency < l.lid) {
			l.lid = v.Level.Concurrency
		}
	}
	n := l.candidate()
	if n == 0 || l.visits == limitVisits {
		return load.Level{}, end
	}
	l.visits++
	return load.Level{Concurrency: n, Windows: l.Measurements, Pass: lastPass(h.Visits) + 1, Requests: l.Requests}, Outcome{}
}

// candidate is the level that would tell most; 0 when the answer is known well
// enough, or no level meets the limits.
func (l *Limits) candidate() int {
	steps := l.Steps()
	met := 0 // the largest level that meets the limits
	for _, s := range steps {
		if s.Valid && s.SLO.V.Met.OK && s.SLO.V.Met.V {
			met = max(met, s.Concurrency)
		}
	}
	missed := l.Max + 1 // the next that does not, or cannot be shown to
	for _, s := range slices.Backward(steps) {
		if s.Concurrency <= met {
			break
		}
		known := !s.Valid || s.SLO.V.Met.OK || len(s.Measurements) >= l.Measurements
		if known {
			missed = s.Concurrency
		}
	}
	if l.lid > 0 {
		missed = min(missed, l.lid)
	}
	// Glances between them come first: they are there to be looked at again.
	for _, s := range slices.Backward(steps) {
		if n := s.Concurrency; n > met && n < missed && float64(n) > closeEnough*float64(met) {
			return n
		}
	}
	if met == 0 { // below the lowest level nothing can be tried
		return 0
	}
	mid := int(math.Round(math.Sqrt(float64(met) * float64(missed))))
	if mid <= met || mid >= missed || float64(missed) <= closeEnough*float64(met) {
		return 0
	}
	return mid
}
