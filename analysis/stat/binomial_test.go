package stat

import (
	"math"
	"testing"
)

func TestBinomialAtMost(t *testing.T) {
	for _, c := range []struct {
		k, n int
		q    float64
		want float64
	}{
		{-1, 5, 0.5, 0}, {5, 5, 0.5, 1}, {0, 0, 0.5, 1}, {0, 3, 0.5, 0.125}, {1, 3, 0.5, 0.5}, {2, 3, 0.5, 0.875},
		{0, 59, 0.05, math.Pow(0.95, 59)},
		{1, 10, 0.1, math.Pow(0.9, 10) + 10*0.1*math.Pow(0.9, 9)},
	} {
		if got := BinomialAtMost(c.k, c.n, c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("P(B(%d, %v) ≤ %d) = %v, want %v", c.n, c.q, c.k, got, c.want)
		}
	}
}

// 0.95^58 = 0.0510 and 0.95^59 = 0.0485; the others are of tables for tolerance
// limits of one side: p99 at 99 % with none and one above, p90 alike.
func TestTrialsNeeded(t *testing.T) {
	for _, c := range []struct {
		k             int
		q, confidence float64
		want          int
	}{
		{0, 0.50, 0.95, 5}, {0, 0.10, 0.95, 29}, {0, 0.05, 0.95, 59}, {1, 0.05, 0.95, 93}, {0, 0.01, 0.95, 299}, {1, 0.01, 0.95, 473},
		{0, 0.01, 0.99, 459}, {1, 0.01, 0.99, 662}, {0, 0.10, 0.99, 44}, {1, 0.10, 0.99, 64},
	} {
		if got := TrialsNeeded(c.k, c.q, c.confidence); got != c.want {
			t.Errorf("k = %d, q = %v at %v: %d, want %d", c.k, c.q, c.confidence, got, c.want)
		}
		if ShareBelow(c.k, c.want-1, c.q, c.confidence) || !ShareBelow(c.k, c.want, c.q, c.confidence) {
			t.Errorf("k = %d, q = %v: not the boundary", c.k, c.q)
		}
	}
	// Three of ten above a p95: P(B(10, 0.05) ≥ 3) = 0.0115; two: 0.0861.
	if !ShareAbove(3, 10, 0.05, 0.95) || ShareAbove(2, 10, 0.05, 0.95) {
		t.Error("the share of 3 in 10 is above 5 %, that of 2 is not shown to be")
	}
}
