package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trend is the outcome of a trend test.
type Trend struct {
	S          float64 // Kendall's score: rising pairs minus falling pairs
	Z          float64 // standard normal deviate, corrected for autocorrelation
	P          float64 // two-sided probability of a |Z| as large without trend
	Correction float64 // factor by which autocorrelation multiplied the variance of S
	Slope      float64 // Sen's slope: median change from one value to the next
}

// MannKendall tests xs, in the order of time, for a monotone trend. It asks
// nothing of the distribution (Mann 1945, Kendall 1975; variance with ties).
// The variance of S is multiplied by the correction of Hamed and Rao (1998),
//
//	1 + 2/(n(n−1)(n−2)) · Σ (n−i)(n−i−1)(n−i−2)·ρ(i),
//
// ρ(i) being the autocorrelation at lag i of the ranks of xs minus its Sen
// slope; only lags significant at 5 % count. A correction that is not positive,
// which strong negative autocorrelation yields, is taken as 1. Fewer than three
// values, or equal ones, have no trend: P = 1. It takes time and memory
// quadratic in the number of values.
func MannKendall(xs []float64) Trend {
	n := len(xs)
	t := Trend{P: 1, Correction: 1}
	if n < 3 {
		return t
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range n - 1 {
		for j := i + 1; j < n; j++ {
			d := xs[j] - xs[i]
			switch {
			case d > 0:
				t.S++
			case d < 0:
				t.S--
			}
			slopes = append(slopes, d/float64(j-i))
		}
	}
	slices.Sort(slopes)
	t.Slope = MedianSorted(slopes)
	v := scoreVariance(xs)
	if v <= 0 {
		return t
	}
	t.Correction = hamedRao(xs, t.Slope)
	sd := math.Sqrt(v * t.Correction)
	switch {
	case t.S > 0:
		t.Z = (t.S - 1) / sd
	case t.S < 0:
		t.Z = (t.S + 1) / sd
	}
	t.P = min(1, 2*distuv.UnitNormal.Survival(math.Abs(t.Z)))
	return t
}

// scoreVariance is the variance of Kendall's S for independent values, with ties.
func scoreVariance(xs []float64) float64 {
	n := float64(len(xs))
	v := n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(xs))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		g := float64(j - i)
		v -= g * (g - 1) * (2*g + 5)
		i = j
	}
	return v / 18
}

// hamedRao is the factor n/n* of [MannKendall].
func hamedRao(xs []float64, slope float64) float64 {
	n := len(xs)
	flat := make([]float64, n)
	for i, x := range xs {
		flat[i] = x - slope*float64(i)
	}
	r := ranks(flat)
	mean := float64(n+1) / 2
	var c0 float64
	for _, v := range r {
		c0 += (v - mean) * (v - mean)
	}
	if c0 == 0 {
		return 1
	}
	limit := 1.959963984540054 / math.Sqrt(float64(n))
	var sum float64
	for lag := 1; lag < n-2; lag++ {
		var c float64
		for i := range n - lag {
			c += (r[i] - mean) * (r[i+lag] - mean)
		}
		if rho := c / c0; math.Abs(rho) > limit {
			k := float64(n - lag)
			sum += k * (k - 1) * (k - 2) * rho
		}
	}
	f := float64(n)
	correction := 1 + 2*sum/(f*(f-1)*(f-2))
	if correction <= 0 {
		return 1
	}
	return correction
}

// ranks returns the rank of each value from 1, ties sharing their mean rank.
func ranks(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case xs[a] < xs[b]:
			return -1
		case xs[a] > xs[b]:
			return 1
		}
		return 0
	})
	r := make([]float64, len(xs))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && xs[order[j]] == xs[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			r[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return r
}
