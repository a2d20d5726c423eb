package knee

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"kneesweep/analysis/stat"
)

// leastFreedom is the number of degrees of freedom that Student's t is taken
// for, at least. With one it is 6.5 times the normal, and what it would widen is
// as a rule not noise, but where a decline begins.
const leastFreedom = 2

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

// soleScatter is the noise of levels that have one window each, as far as it
// tells where the knee may lie: their scatter, widened. The levels are those
// before a decline.
func soleScatter(levels []level) float64 {
	return math.Sqrt(scatter(levels)) * widening(len(levels))
}

// widening is Student's t over the normal at 95 %, by which a standard deviation
// goes that count levels tell about a curve of three figures: few tell it poorly,
// and too small a one makes the interval too short more often than too large a
// one makes it too long.
func widening(count int) float64 {
	df := count - 3
	if df < 1 {
		return 1
	}
	const p = (1 + confidence) / 2
	return stat.StudentQuantile(p, max(leastFreedom, df)) / distuv.UnitNormal.Quantile(p)
}

// scatter is the variance of the levels' relative residuals about the better of
// two curves with three figures each: a straight ramp and plateau, see
// [lackOfFit], or a power of N up to a plateau, which is the same fit to
// logarithms. A ramp that bends is not straight, but that is no noise.
func scatter(levels []level) float64 {
	n, x, w := columns(levels)
	for i := range n {
		n[i], x[i] = math.Log(n[i]), math.Log(x[i])
	}
	straight := lackOfFit(levels)
	var s scanner
	s.load(n, x, w)
	fit, ok := s.fit(len(levels))
	if !ok {
		return straight
	}
	sum := 0.0
	for i := range x {
		e := x[i] - fit.at(n[i])
		sum += w[i] * e * e
	}
	return min(straight, variance(sum, w))
}

// lackOfFit is Σw·e²/(L−3), the variance of the levels' relative residuals. The
// residuals are those of the line that fits best in relative terms (weights
// 1/x²): under the unweighted line of the estimate a plateau that lies a few
// per cent off shifts the intercept by a multiple of the first level's value,
// and the residual there says nothing about the scatter of levels.
func lackOfFit(levels []level) float64 {
	n, x, w := columns(levels)
	relative := make([]float64, len(w))
	for i := range w {
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
	return variance(sum, w)
}

// variance is a weighted sum of squared residuals about a curve of three figures
// over its degrees of freedom, the weights being counted as one on average.
func variance(sum float64, w []float64) float64 {
	total := 0.0
	for _, v := range w {
		total += v
	}
	count := float64(len(w))
	return sum * count / total / max(1, count-3)
}
