package workload

import (
	"slices"
	"time"
)

// Crowd is how many requests of a trace were in flight, weighted by time from the
// first arrival to the last end. Time without any counts as 0.
type Crowd struct {
	Mean     float64
	P50, P95 int
	Max      int
	Span     time.Duration
}

// InFlight computes the crowd of a trace; false if it does not tell when requests
// came and how long they took.
func (t *Trace) InFlight() (Crowd, bool) {
	if !t.has[fieldTime] || !t.has[fieldDuration] {
		return Crowd{}, false
	}
	return crowdOf(t.Arrivals, func(a Arrival) time.Duration { return a.Took.V })
}

// EstimatedInFlight computes the crowd of a trace as it would be on an endpoint
// where every answer takes ttft + output·tpot; false if the trace does not tell when
// requests came and how long their answers were.
func (t *Trace) EstimatedInFlight(ttft, tpot time.Duration) (Crowd, bool) {
	if !t.has[fieldTime] || !t.has[fieldOutput] {
		return Crowd{}, false
	}
	return crowdOf(t.Arrivals, func(a Arrival) time.Duration { return ttft + time.Duration(a.Output)*tpot })
}

// crowdOf sweeps over arrivals and ends. Where they fall together ends go first, so
// that a stream which sends again at once counts as one.
func crowdOf(arrivals []Arrival, took func(Arrival) time.Duration) (Crowd, bool) {
	type event struct {
		at time.Duration
		by int
	}
	events := make([]event, 0, 2*len(arrivals))
	for _, a := range arrivals {
		if d := took(a); d > 0 {
			events = append(events, event{a.At, 1}, event{a.At + d, -1})
		}
	}
	if len(events) == 0 {
		return Crowd{}, false
	}
	slices.SortFunc(events, func(a, b event) int {
		if a.at != b.at {
			return int(min(1, max(-1, a.at-b.at)))
		}
		return a.by - b.by
	})
	var c Crowd
	var at []time.Duration // time with so many in flight
	n, sum := 0, 0.0
	for i, e := range events {
		if i > 0 {
			d := e.at - events[i-1].at
			for len(at) <= n {
				at = append(at, 0)
			}
			at[n] += d
			sum += float64(n) * d.Seconds()
		}
		n += e.by
		c.Max = max(c.Max, n)
	}
	c.Span = events[len(events)-1].at - events[0].at
	c.Mean = sum / c.Span.Seconds()
	c.P50, c.P95 = quantileOf(at, c.Span, 0.50), quantileOf(at, c.Span, 0.95)
	return c, true
}

// quantileOf is the smallest number of requests that at least the share q of the
// time did not exceed.
func quantileOf(at []time.Duration, span time.Duration, q float64) int {
	left := time.Duration(q * float64(span))
	for n, d := range at {
		if left -= d; left <= 0 {
			return n
		}
	}
	return len(at) - 1
}
