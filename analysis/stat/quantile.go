package stat

import (
	"math"
	"slices"
)

// madScale makes the median absolute deviation of a normal sample estimate its
// standard deviation: 1/Φ⁻¹(3/4).
const madScale = 1.4826022185056018

// Quantile returns the p-quantile, 0 ≤ p ≤ 1, of values sorted in ascending
// order, by Hyndman and Fan's type 7 (the default of R and NumPy): linear
// between the order statistics at 1+(n−1)p. It has the unit of the values, and
// is NaN when there are none.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := min(max(p, 0), 1) * float64(n-1)
	i := int(h)
	if i >= n-1 {
		return sorted[n-1]
	}
	lo, hi := sorted[i], sorted[i+1]
	return lo + (h-float64(i))*(hi-lo)
}

// Median returns the middle value of xs in any order, the mean of the two
// middle ones for an even count, and NaN for none.
func Median(xs []float64) float64 {
	return MedianSorted(slices.Sorted(slices.Values(xs)))
}

// MedianSorted is [Median] for values in ascending order; it allocates nothing.
func MedianSorted(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1] + (sorted[n/2]-sorted[n/2-1])/2
}

// RobustScale returns 1.4826 times the median absolute deviation from the
// median: the standard deviation of a normal sample, unmoved by a few wild
// values. It has the unit of xs; it is 0 for fewer than two values.
func RobustScale(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	m := Median(xs)
	dev := make([]float64, len(xs))
	for i, x := range xs {
		dev[i] = math.Abs(x - m)
	}
	slices.Sort(dev)
	return madScale * MedianSorted(dev)
}

// Mean returns the arithmetic mean, NaN for none.
func Mean(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Variance returns the mean and the unbiased variance (divisor n−1) of xs; the
// variance of fewer than two values is 0.
func Variance(xs []float64) (mean, variance float64) {
	mean = Mean(xs)
	if len(xs) < 2 {
		return mean, 0
	}
	var ss float64
	for _, x := range xs {
		ss += (x - mean) * (x - mean)
	}
	return mean, ss / float64(len(xs)-1)
}

// PooledCV returns the coefficient of variation within groups, pooled over
// them: the square root of Σ(r−1)·(s/mean)² / Σ(r−1), a fraction. Groups of
// fewer than two values, or with a mean that is not positive, carry no
// information; without any other ok is false.
func PooledCV(groups [][]float64) (cv float64, ok bool) {
	var sum, dof float64
	for _, g := range groups {
		mean, v := Variance(g)
		if len(g) < 2 || mean <= 0 {
			continue
		}
		d := float64(len(g) - 1)
		sum += d * v / (mean * mean)
		dof += d
	}
	if dof == 0 {
		return 0, false
	}
	return math.Sqrt(sum / dof), true
}
