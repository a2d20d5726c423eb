// Package pace says when requests arrive in an open loop: arrivals that do not wait
// for answers. It holds no clock; the caller adds up the gaps.
//
// A Process is for one goroutine. The same parameters and the same source of
// randomness give the same arrivals on any machine.
package pace

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Process yields one arrival after the other.
type Process interface {
	// Next returns the gap from the arrival before (or from the start) to the next
	// one; false when there is none left.
	Next() (gap time.Duration, ok bool)
}

// Constant arrives every 1/Rate seconds. Gaps are rounded so that n arrivals take
// n/Rate to the nanosecond, however many there are.
type Constant struct {
	Rate float64 // arrivals/s, more than 0

	n    int
	last time.Duration
}

// Next is the Process.
func (c *Constant) Next() (time.Duration, bool) {
	c.n++
	at := time.Duration(math.Round(float64(c.n) / c.Rate * float64(time.Second)))
	gap := at - c.last
	c.last = at
	return gap, true
}

// Gamma has independent gaps with a gamma distribution of the mean 1/Rate and the
// coefficient of variation CV: 1 is a Poisson process, above it arrivals come in
// bunches (shape 1/CV², Cox and Isham 1980), below it they come evenly.
type Gamma struct {
	Rate float64 // arrivals/s, more than 0
	CV   float64 // more than 0

	dist distuv.Gamma
}

// NewGamma returns the process of a rate, drawing from rng.
func NewGamma(rate, cv float64, rng *rand.Rand) *Gamma {
	shape := 1 / (cv * cv)
	return &Gamma{Rate: rate, CV: cv, dist: distuv.Gamma{Alpha: shape, Beta: shape * rate, Src: rng}}
}

// NewPoisson returns the process of a rate whose arrivals know nothing of each
// other: gaps are exponential.
func NewPoisson(rate float64, rng *rand.Rand) *Gamma { return NewGamma(rate, 1, rng) }

// Next is the Process.
func (g *Gamma) Next() (time.Duration, bool) {
	return time.Duration(g.dist.Rand() * float64(time.Second)), true
}

// Trace arrives at recorded times and then ends.
type Trace struct {
	at   []time.Duration
	next int
	last time.Duration
}

// NewTrace returns the process of times that count from any origin, in any order.
// The first arrival comes at once; speed 2 lets it all happen in half the time.
func NewTrace(times []time.Duration, speed float64) *Trace {
	at := slices.Clone(times)
	slices.Sort(at)
	for i, t := range slices.Backward(at) {
		at[i] = time.Duration(float64(t-at[0]) / speed)
	}
	return &Trace{at: at}
}

// Next is the Process.
func (t *Trace) Next() (time.Duration, bool) {
	if t.next == len(t.at) {
		return 0, false
	}
	gap := t.at[t.next] - t.last
	t.last = t.at[t.next]
	t.next++
	return gap, true
}

// Check wants a rate and a coefficient of variation that can be.
func Check(rate, cv float64) error {
	switch {
	case !(rate > 0) || math.IsInf(rate, 0):
		return fmt.Errorf("a rate of %g requests/s cannot be held, need more than 0", rate)
	case !(cv > 0) || cv > 100:
		return errors.New("the coefficient of variation of the gaps must be more than 0 and at most 100")
	}
	return nil
}
