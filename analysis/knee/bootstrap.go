package knee

import (
	"math"
	"math/rand/v2"
	"slices"

	"kneesweep/analysis/stat"
)

const (
	replicates      = 1000
	bootstrapStream = 0x6b6e6565 // second word of the generator's seed, "knee"
	confidence      = 0.95
)

// interval returns the 95 % percentile interval of the knee by a bootstrap on
// two levels. Each replicate draws the windows of every level anew with
// replacement, takes the median, multiplies it by exp(τ·z) with z standard
// normal, and goes through the whole choice of levels and the fit again: trim
// and range depend on the data, and an interval that took them for given would
// be too short. Outliers stay out in all replicates. A replicate without a
// rising line counts as a knee at the first level. With one level below the
// knee the interval goes on to the second level at least.
//
// τ is the scatter between levels that the windows do not explain: a window
// belongs to one visit, and what a visit got wrong all its windows share.
func interval(levels []level, fit line, fitted int, seed uint64) (lo, hi float64) {
	n, _, w := columns(levels)
	var s scanner
	lo, hi = percentiles(levels, fitted, seed, func(x []float64) float64 {
		s.load(n, x, w)
		if l, _, ok := s.locate(); ok {
			return l.k
		}
		return n[0]
	})
	if second := n[1]; fit.k <= second { // no level measured tells the knees up to it apart
		hi = max(hi, second)
	}
	return min(lo, fit.k), max(hi, fit.k)
}

// percentiles returns the central 95 % of what a definition reads from replicates
// of the levels' medians. The same levels and seed give every definition the same
// replicates, so that intervals compare. fitted is how many levels the default
// fit used, from which τ is taken.
func percentiles(levels []level, fitted int, seed uint64, read func(x []float64) float64) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(seed, bootstrapStream))
	_, x, _ := columns(levels)
	pooled := pooledResiduals(levels)
	tau := levelScatter(levels[:fitted])
	if single(levels) {
		tau = max(tau, soleScatter(levels[:trim(x)]))
	} else {
		tau *= widening(fitted)
	}
	counts := make([]int, 0, 64)
	values := make([]float64, replicates)
	for rep := range values {
		for i, l := range levels {
			x[i] = resample(l, pooled, rng, &counts)
			if tau > 0 {
				x[i] *= math.Exp(tau * rng.NormFloat64())
			}
		}
		values[rep] = read(x)
	}
	slices.Sort(values)
	return stat.Quantile(values, (1-confidence)/2), stat.Quantile(values, (1+confidence)/2)
}

// resample draws as many windows as l has, with replacement, and returns their
// median. One or two windows are too few to draw from: the median is then moved
// by residuals drawn from all levels.
func resample(l level, pooled []float64, rng *rand.Rand, counts *[]int) float64 {
	r := len(l.windows)
	if r < 3 {
		if len(pooled) == 0 {
			return l.median
		}
		var sum float64
		for range r {
			sum += pooled[rng.IntN(len(pooled))]
		}
		return l.median * max(1+sum/float64(r), math.SmallestNonzeroFloat64)
	}
	c := slices.Grow((*counts)[:0], r)[:r]
	clear(c)
	*counts = c
	for range r {
		c[rng.IntN(r)]++
	}
	// The windows are ascending: count up to the two middle ones.
	lower, upper := (r-1)/2, r/2
	below, i := c[0], 0
	for below <= lower {
		i++
		below += c[i]
	}
	v := l.windows[i]
	if upper == lower {
		return v
	}
	for below <= upper {
		i++
		below += c[i]
	}
	return v + (l.windows[i]-v)/2
}

// pooledResiduals are the relative deviations of all windows from the median of
// their level, scaled by √(r/(r−1)) (√2 for two windows) for the freedom that
// the median took.
func pooledResiduals(levels []level) []float64 {
	var pooled []float64
	for _, l := range levels {
		r := float64(len(l.windows))
		if r < 2 {
			continue
		}
		for _, x := range l.windows {
			pooled = append(pooled, (x-l.median)/l.median*math.Sqrt(r/(r-1)))
		}
	}
	return pooled
}
