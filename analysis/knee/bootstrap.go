package knee

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

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
	rng := rand.New(rand.NewPCG(seed, bootstrapStream))
	n, x, w := columns(levels)
	pooled := pooledResiduals(levels)
	tau := levelScatter(levels[:fitted])
	if single(levels) {
		tau = soleScatter(levels[:trim(x)])
	}
	counts := make([]int, 0, 64)
	knees := make([]float64, replicates)
	var s scanner
	for rep := range knees {
		for i, l := range levels {
			x[i] = resample(l, pooled, rng, &counts)
			if tau > 0 {
				x[i] *= math.Exp(tau * rng.NormFloat64())
			}
		}
		s.load(n, x, w)
		if l, _, ok := s.locate(); ok {
			knees[rep] = l.k
		} else {
			knees[rep] = n[0]
		}
	}
	slices.Sort(knees)
	lo = stat.Quantile(knees, (1-confidence)/2)
	hi = stat.Quantile(knees, (1+confidence)/2)
	if second := n[1]; fit.k <= second { // no level measured tells the knees up to it apart
		hi = max(hi, second)
	}
	return min(lo, fit.k), max(hi, fit.k)
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

// levelScatter returns τ, the standard deviation of the relative error that all
// windows of a level share:
//
//	τ² = max(0, Σw·e²/(L−3) − c·cv²/r)
//
// with e the relative residual of a level's median, w its number of windows r
// over the mean number, L the number of fitted levels, cv the pooled
// coefficient of variation within levels and c·cv²/r the variance that it gives
// the median, averaged over the levels with the same weights.
func levelScatter(levels []level) float64 {
	within, total := 0.0, 0.0
	groups := make([][]float64, len(levels))
	for i, l := range levels {
		groups[i] = l.windows
		total += float64(len(l.windows))
		within += stat.MedianVarianceFactor(len(l.windows))
	}
	cv, _ := stat.PooledCV(groups)
	within *= cv * cv / total
	return math.Sqrt(max(0, lackOfFit(levels)-within))
}

// soleScatter is τ where the windows tell nothing and it is all there is to an
// interval: from every level before a decline, and wider by Student's t over
// the normal, since the few of them tell it poorly.
func soleScatter(levels []level) float64 {
	tau := levelScatter(levels)
	if df := len(levels) - 3; df > 0 {
		const p = (1 + confidence) / 2
		tau *= stat.StudentQuantile(p, df) / distuv.UnitNormal.Quantile(p)
	}
	return tau
}

// lackOfFit is Σw·e²/(L−3), the variance of the levels' relative residuals. The
// residuals are those of the line that fits best in relative terms (weights
// 1/x²): under the unweighted line of the estimate a plateau that lies a few
// per cent off shifts the intercept by a multiple of the first level's value,
// and the residual there says nothing about the scatter of levels.
func lackOfFit(levels []level) float64 {
	n, x, w := columns(levels)
	total := 0.0
	relative := make([]float64, len(w))
	for i := range w {
		total += w[i]
		relative[i] = w[i] / (x[i] * x[i])
	}
	var s scanner
	s.load(n, x, relative)
	fit, ok := s.fit(len(levels))
	if !ok {
		return 0
	}
	sum := 0.0
	for i := range x {
		e := x[i]/max(fit.at(n[i]), x[i]/2) - 1 // a fit near or below zero says nothing relative
		sum += w[i] * e * e
	}
	count := float64(len(levels))
	return sum * count / total / max(1, count-3)
}
