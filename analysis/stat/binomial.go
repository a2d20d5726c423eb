package stat

import "gonum.org/v1/gonum/stat/distuv"

// BinomialAtMost returns the probability of k or fewer hits in n independent
// trials of probability q each: 1 when k ≥ n.
func BinomialAtMost(k, n int, q float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return distuv.Binomial{N: float64(n), P: q}.CDF(float64(k))
}

// ShareBelow reports whether k hits in n trials show, with the one-sided
// confidence (0.95), that the true share of hits is at most q: whether so few
// hits would have a probability of at most 1 − confidence if it were q. That is
// the same as the upper Clopper–Pearson bound of the share lying at or below q.
// With hits being values above a limit it is also the same as the upper bound
// of the (1 − q)-quantile by order statistics lying at or below the limit.
func ShareBelow(k, n int, q, confidence float64) bool {
	return BinomialAtMost(k, n, q) <= 1-confidence
}

// ShareAbove reports whether k hits in n trials show with the one-sided
// confidence that the true share of hits is above q.
func ShareAbove(k, n int, q, confidence float64) bool {
	return 1-BinomialAtMost(k-1, n, q) <= 1-confidence
}

// TrialsNeeded returns the smallest number of trials in which k hits show that
// the true share of hits is at most q ([ShareBelow]), for 0 < q < 1.
func TrialsNeeded(k int, q, confidence float64) int {
	lo, hi := k, 2*(k+1) // lo does not do
	for !ShareBelow(k, hi, q, confidence) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; ShareBelow(k, mid, q, confidence) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
