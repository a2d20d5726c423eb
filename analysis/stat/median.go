package stat

import (
	"math"
	"slices"

	"kneesweep/load"
)

// medianVariance[n] is n·Var(median)/σ² for n normal values, from the moments
// of normal order statistics (Sarhan and Greenberg 1962).
var medianVariance = [...]float64{0, 1, 1, 1.35, 1.19, 1.43, 1.29, 1.47, 1.35, 1.49, 1.38}

// MedianVarianceFactor returns c such that the median of n normal values has
// variance c·σ²/n: 1 for one or two values, where the median is the mean, 1.38
// for ten, and π/2 for many. Beyond ten it is interpolated between the exact
// values at ten and the limit, apart for even and odd n.
func MedianVarianceFactor(n int) float64 {
	if n < len(medianVariance) {
		return medianVariance[max(n, 0)]
	}
	offset := 0.43
	if n%2 == 0 {
		offset = 1.38
	}
	return math.Pi / 2 * float64(n) / (float64(n) + offset)
}

// MedianInterval returns a two-sided interval for the median that a sample was
// drawn from, at the given confidence (0.95), in the unit of xs.
//
//   - n = 1: there is none; ok is false.
//   - n = 2 to 5: no pair of order statistics reaches 95 %, so the interval is
//     median ± t(n−1)·s·√(c/n), s the standard deviation and c
//     [MedianVarianceFactor]: exact for normal windows at n = 2.
//   - n ≥ 6: order statistics, interpolated between the two pairs that enclose
//     the confidence (Hettmansperger and Sheather 1986): it assumes no shape,
//     and one wild window does not move it. When the extremes fall short of the
//     confidence they are the interval.
func MedianInterval(xs []float64, confidence float64) (lo, hi float64, ok bool) {
	n := len(xs)
	if n < 2 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(xs))
	if n < 6 {
		_, v := Variance(sorted)
		t := StudentQuantile((1+confidence)/2, n-1)
		half := t * math.Sqrt(v*MedianVarianceFactor(n)/float64(n))
		m := MedianSorted(sorted)
		return m - half, m + half, true
	}
	d, lambda := orderPair(n, confidence)
	lo = sorted[d-1] + lambda*(sorted[d]-sorted[d-1])
	hi = sorted[n-d] - lambda*(sorted[n-d]-sorted[n-d-1])
	return lo, hi, true
}

// orderPair returns the largest rank d such that the order statistics d and
// n+1−d hold the median with at least the confidence, and the share λ of the
// way towards the next inner pair at which the interpolated coverage equals it.
func orderPair(n int, confidence float64) (d int, lambda float64) {
	logHalf := float64(n) * math.Ln2
	lgn, _ := math.Lgamma(float64(n + 1))
	tail := 0.0 // P(Binomial(n, 1/2) < d)
	coverage := func(tail float64) float64 { return 1 - 2*tail }
	for d = 1; ; d++ {
		a, _ := math.Lgamma(float64(d))
		b, _ := math.Lgamma(float64(n - d + 2))
		tail += math.Exp(lgn - a - b - logHalf) // P(B = d−1)
		outer := coverage(tail)
		if outer < confidence { // only at d = 1
			return 1, 0
		}
		a, _ = math.Lgamma(float64(d + 1))
		b, _ = math.Lgamma(float64(n - d + 1))
		inner := coverage(tail + math.Exp(lgn-a-b-logHalf))
		if inner >= confidence && d+1 <= n/2 {
			continue
		}
		i := (outer - confidence) / (outer - inner)
		return d, float64(n-d) * i / (float64(d) + float64(n-2*d)*i)
	}
}

// MedianEstimate is the median of values that cannot be negative, with its 95 %
// interval ([MedianInterval]) cut at zero; where there is none both ends are the
// median. xs is not empty.
func MedianEstimate(xs []float64) load.Estimate {
	m := Median(xs)
	e := load.Estimate{Value: m, Lo: m, Hi: m}
	if lo, hi, ok := MedianInterval(xs, 0.95); ok {
		e.Lo, e.Hi = max(0, lo), hi
	}
	return e
}
