package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson returns the interval of a share of which k of n trials were seen, by Wilson's
// (1927) score: the shares that a two-sided normal test at 1 − confidence does not
// reject. It is 0…1 without trials.
func Wilson(k, n int, confidence float64) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	lo, hi = max(0, mid-half), min(1, mid+half)
	if k == 0 {
		lo = 0 // but for rounding
	}
	if k == n {
		hi = 1
	}
	return lo, hi
}

// FewerHits is the one-sided probability of k2 or fewer hits in n2 trials if they are as
// likely as in n1 trials with k1 hits: Fisher's (1934) exact test, which deals the
// k1 + k2 hits out among all trials at random.
func FewerHits(k1, n1, k2, n2 int) float64 {
	hits, all := k1+k2, n1+n2
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := 0.0
	for k := max(0, hits-n1); k <= k2; k++ {
		p += math.Exp(choose(n2, k) + choose(n1, hits-k) - choose(all, hits))
	}
	return min(1, p)
}

// Welch is the two-sided probability of means so far apart if those of two samples were
// equal (Welch 1947), by mean, standard deviation and number. Without any scatter it is
// 0 for different means and 1 for equal ones; it is 1 with fewer than two values.
func Welch(mean1, sd1 float64, n1 int, mean2, sd2 float64, n2 int) float64 {
	if n1 < 2 || n2 < 2 {
		return 1
	}
	a, b := sd1*sd1/float64(n1), sd2*sd2/float64(n2)
	d := math.Abs(mean1 - mean2)
	switch {
	case d == 0:
		return 1
	case a+b == 0:
		return 0
	}
	df := (a + b) * (a + b) / (a*a/float64(n1-1) + b*b/float64(n2-1))
	return Student{df}.TwoSided(d / math.Sqrt(a+b))
}
