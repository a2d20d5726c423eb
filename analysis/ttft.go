package analysis

import (
	"math"
	"slices"
	"time"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// TTFTIntervals are the quantiles of the time to first token, in seconds, for the
// given shares (0…1) at every level that has one, each with its 95 % interval by
// order statistics. Requests close in time share the state of the endpoint: they
// count as so many independent ones as they are worth, by the factor of the
// limits (docs/method.md, 11). A bound that the requests are too few for is NaN.
func TTFTIntervals(d Data, shares ...float64) map[int][]load.Estimate {
	return levelIntervals(d, (*levelData).ttfts, shares...)
}

// levelIntervals are the quantiles, at every level that has one, of the values that
// pick takes from it with the times at which their requests stood there.
func levelIntervals(d Data, pick func(*levelData) ([]float64, []time.Duration), shares ...float64) map[int][]load.Estimate {
	requests := d.requests()
	all := map[int][]load.Estimate{}
	for n, visits := range visitsByLevel(d.Visits) {
		level := newLevelData(d.Run, n, visits, requests)
		values, at := pick(level)
		if len(values) == 0 {
			continue
		}
		sorted := slices.Sorted(slices.Values(values))
		for _, p := range shares {
			all[n] = append(all[n], level.quantileInterval(sorted, values, at, p))
		}
	}
	return all
}

// ttfts are the times to first token of the level in seconds, and when they ended.
func (d *levelData) ttfts() (values []float64, at []time.Duration) {
	d.each(func(s *load.Sample, span load.Span) {
		if s.Failed() && s.Cause != load.CauseCanceled || !within(s.FirstToken(), span) {
			return
		}
		values = append(values, s.TTFT().V.Seconds())
		at = append(at, s.FirstToken().V)
	})
	return values, at
}

func (d *levelData) quantileInterval(sorted, values []float64, at []time.Duration, p float64) load.Estimate {
	e := load.Estimate{Value: stat.Quantile(sorted, p)}
	above, width := excess{bins: map[time.Duration]*bin{}}, d.binWidth()
	for i, v := range values {
		above.count(v > e.Value, at[i], width)
	}
	above.share = float64(above.over) / float64(above.n)
	_, n := above.independent()
	lo, hi := quantileBounds(n, p)
	e.Lo, e.Hi = math.NaN(), math.NaN()
	if lo >= 0 {
		e.Lo = min(e.Value, stat.Quantile(sorted, lo))
	}
	if hi <= 1 {
		e.Hi = max(e.Value, stat.Quantile(sorted, hi))
	}
	return e
}

// quantileBounds are the shares whose quantiles bound the p-quantile of n
// independent values at 95 %, outside 0…1 where even the extreme value does not.
func quantileBounds(n int, p float64) (lo, hi float64) {
	const tail = 0.025
	half := stat.Student{DF: math.Inf(1)}.Quantile(1-tail) * math.Sqrt(p*(1-p)/float64(n))
	lo, hi = max(0, p-half), min(1, p+half)
	if math.Pow(1-p, float64(n)) > tail {
		lo = -1
	}
	if math.Pow(p, float64(n)) > tail {
		hi = 2
	}
	return lo, hi
}
