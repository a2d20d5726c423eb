package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kneesweep/load"
)

// Reading is what a curve says of a number of streams: measured, or interpolated
// between the valid levels beside it.
type Reading struct {
	Concurrency  int
	Why          string                  // where the number comes from, in words; may be empty
	Below, Above int                     // the levels beside it; both are Concurrency where it was measured
	Throughput   load.Opt[load.Estimate] // output tokens/s of all streams
	Decode       load.Opt[load.Estimate] // output tokens/s of one stream, median
	TTFT         load.Opt[load.Estimate] // seconds, median
	TPOT         load.Opt[load.Estimate] // seconds, median; of a table without it, that of ITL
	KneeBetween  bool                    // the knee may lie between the levels, where throughput bends
}

// ReadAt reads a curve at n streams. A figure between two levels lies on the straight
// line between theirs, f = (1−w)·f₁ + w·f₂ with w = (n−n₁)/(n₂−n₁). Its interval
// takes the errors of both as independent: its lower half is
// √(((1−w)·(f₁−lo₁))² + (w·(f₂−lo₂))²), the upper one likewise. Bounds are NaN where
// one is not known: those of latencies need the single requests, d, which may be
// nil. Nothing is extrapolated: the error names the range that was measured.
func ReadAt(c Curve, d *Data, n int) (Reading, error) {
	below, above, w, err := beside(c, n)
	if err != nil {
		return Reading{}, err
	}
	r := Reading{Concurrency: n, Below: below.Concurrency, Above: above.Concurrency, Throughput: between(below.Throughput, above.Throughput, w)}
	if k := c.Knee.Concurrency; k.OK && below.Concurrency < above.Concurrency {
		lo, hi := orValue(k.V.Lo, k.V.Value), orValue(k.V.Hi, k.V.Value)
		r.KneeBetween = lo < float64(above.Concurrency) && hi > float64(below.Concurrency)
	}
	ttft, decode := medians(d)
	r.TTFT = between(median(below.TTFT, ttft[below.Concurrency]), median(above.TTFT, ttft[above.Concurrency]), w)
	r.TPOT = between(perToken(below), perToken(above), w)
	r.Decode = between(median(below.Decode, decode[below.Concurrency]), median(above.Decode, decode[above.Concurrency]), w)
	return r, nil
}

// TTFTAt reads the p50, p90, p95 or p99 of the time to first token at n streams, in
// seconds, as [ReadAt] does.
func TTFTAt(c Curve, d *Data, n, percentile int) (load.Estimate, error) {
	below, above, w, err := beside(c, n)
	if err != nil {
		return load.Estimate{}, err
	}
	var known map[int][]load.Estimate
	if d != nil {
		known = TTFTIntervals(*d, float64(percentile)/100)
	}
	at := func(s load.Step) load.Opt[load.Estimate] {
		dist := s.TTFT
		dist.P50 = map[int]float64{50: dist.P50, 90: dist.P90, 95: dist.P95, 99: dist.P99}[percentile]
		return median(dist, known[s.Concurrency])
	}
	e := between(at(below), at(above), w)
	if !e.OK || math.IsNaN(e.V.Value) {
		return load.Estimate{}, fmt.Errorf("no p%d of TTFT is known at %d streams", percentile, n)
	}
	return e.V, nil
}

// beside finds the valid levels below and above n streams, and how far n lies from
// the first to the second; both are n where it was measured.
func beside(c Curve, n int) (below, above load.Step, w float64, err error) {
	valid := slices.DeleteFunc(slices.Clone(c.Steps), func(s load.Step) bool { return !s.Valid })
	switch {
	case len(valid) == 0:
		return below, above, 0, errors.New("no valid level was measured")
	case n < valid[0].Concurrency || n > valid[len(valid)-1].Concurrency:
		return below, above, 0, fmt.Errorf("%d streams lie outside of the valid levels, %d to %d, and nothing is extrapolated; sweep with a level of %d",
			n, valid[0].Concurrency, valid[len(valid)-1].Concurrency, n)
	}
	i := slices.IndexFunc(valid, func(s load.Step) bool { return s.Concurrency >= n })
	above, below = valid[i], valid[i]
	if above.Concurrency > n {
		below = valid[i-1]
		w = float64(n-below.Concurrency) / float64(above.Concurrency-below.Concurrency)
	}
	return below, above, w, nil
}

// orValue is v unless it is not known.
func orValue(v, otherwise float64) float64 {
	if math.IsNaN(v) {
		return otherwise
	}
	return v
}

// between interpolates; it is undefined if an end is.
func between(a, b load.Opt[load.Estimate], w float64) load.Opt[load.Estimate] {
	switch {
	case w == 0:
		return a
	case !a.OK || !b.OK:
		return load.Opt[load.Estimate]{}
	}
	v := (1-w)*a.V.Value + w*b.V.Value
	half := func(x, y float64) float64 { return math.Hypot((1-w)*x, w*y) }
	return load.Some(load.Estimate{
		Value: v,
		Lo:    v - half(a.V.Value-a.V.Lo, b.V.Value-b.V.Lo),
		Hi:    v + half(a.V.Hi-a.V.Value, b.V.Hi-b.V.Value),
	})
}

// median is that of a distribution, with its interval if that is known.
func median(d load.Dist, known []load.Estimate) load.Opt[load.Estimate] {
	switch {
	case len(known) > 0:
		return load.Some(known[0])
	case d.Count == 0:
		return load.Opt[load.Estimate]{}
	}
	return load.Some(load.Estimate{Value: d.P50, Lo: math.NaN(), Hi: math.NaN()})
}

// perToken is the median time of a token after the first, without its interval.
func perToken(s load.Step) load.Opt[load.Estimate] {
	if s.TPOT.Count > 0 {
		return median(s.TPOT, nil)
	}
	return median(s.ITL, nil)
}

// medians are those of the time to first token and of the decode rate at every level,
// with their intervals.
func medians(d *Data) (ttft, decode map[int][]load.Estimate) {
	if d == nil {
		return nil, nil
	}
	return TTFTIntervals(*d, 0.5), levelIntervals(*d, (*levelData).decodeRates, 0.5)
}

// decodeRates are the decode rates of the level in tokens/s, and when they ended.
func (d *levelData) decodeRates() (values []float64, at []time.Duration) {
	d.each(func(s *load.Sample, span load.Span) {
		if tpot := s.TPOT(); !s.Failed() && tpot.OK && tpot.V > 0 && within(s.LastToken(), span) {
			values, at = append(values, 1/tpot.V), append(at, s.LastToken().V)
		}
	})
	return values, at
}
