package stat

import (
	"math"
	"testing"
)

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{ // computed by hand from the formula with z = 1.959964
		{0, 0, 0, 1}, {0, 10, 0, 0.27753}, {10, 10, 0.72247, 1}, {5, 10, 0.23659, 0.76341}, {81, 263, 0.25527, 0.36621},
	} {
		if lo, hi := Wilson(c.k, c.n, 0.95); math.Abs(lo-c.lo) > 1e-4 || math.Abs(hi-c.hi) > 1e-4 {
			t.Errorf("%d of %d: %.5f to %.5f, want %v to %v", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

func TestFewerHits(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int
		p              float64
	}{
		{3, 4, 1, 4, 17.0 / 70}, // the lady tasting tea
		{4, 4, 0, 4, 1.0 / 70},
		{10, 10, 10, 10, 1},
		{0, 10, 5, 10, 1},
		{2, 2, 1, 3, 3.0 / 10}, // of the ten ways to place three hits among five, three have both in the first two
	} {
		if p := FewerHits(c.k1, c.n1, c.k2, c.n2); math.Abs(p-c.p) > 1e-9 {
			t.Errorf("%+v: %v", c, p)
		}
	}
}

func TestWelch(t *testing.T) {
	// t = 2 with equal scatter and 18 degrees of freedom: p = 0.0608
	if p := Welch(0, math.Sqrt(5), 10, 2, math.Sqrt(5), 10); math.Abs(p-0.0608) > 1e-4 {
		t.Errorf("p %v", p)
	}
	for _, c := range []struct{ p, want float64 }{{Welch(1, 0, 5, 1, 0, 5), 1}, {Welch(1, 0, 5, 2, 0, 5), 0}, {Welch(1, 1, 1, 9, 1, 9), 1}} {
		if c.p != c.want {
			t.Errorf("p %v, want %v", c.p, c.want)
		}
	}
}
