package pace

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func gaps(p Process, n int) []float64 {
	var out []float64
	for range n {
		gap, ok := p.Next()
		if !ok {
			break
		}
		out = append(out, gap.Seconds())
	}
	return out
}

// TestConstantDoesNotDrift: rounding never adds up.
func TestConstantDoesNotDrift(t *testing.T) {
	for _, rate := range []float64{0.3, 1, 3, 7, 333.3, 1e6} {
		c := &Constant{Rate: rate}
		var at time.Duration
		for n := 1; n <= 100_000; n++ {
			gap, ok := c.Next()
			if at += gap; !ok || gap < 0 || math.Abs(at.Seconds()-float64(n)/rate) > 1e-9 {
				t.Fatalf("rate %g: arrival %d at %v", rate, n, at)
			}
		}
	}
}

// TestGammaHasItsDistribution: Kolmogorov–Smirnov at 1 % over seeds, and the mean
// and the variation asked for.
func TestGammaHasItsDistribution(t *testing.T) {
	const n, seeds = 2000, 60
	for _, cv := range []float64{0.3, 1, 2.5} {
		refused := 0
		var all []float64
		for seed := range uint64(seeds) {
			g := NewGamma(20, cv, rng(seed))
			x := gaps(g, n)
			all = append(all, x...)
			if ks(x, distuv.Gamma{Alpha: 1 / (cv * cv), Beta: 20 / (cv * cv)}.CDF) > 1.63/math.Sqrt(n) {
				refused++
			}
		}
		if refused > 4 { // 0.6 are expected
			t.Errorf("CV %g: refused for %d of %d seeds", cv, refused, seeds)
		}
		mean, sd := stat.MeanStdDev(all, nil)
		if math.Abs(mean*20-1) > 0.03 || math.Abs(sd/mean/cv-1) > 0.03 {
			t.Errorf("CV %g: mean gap %.4g s, variation %.3g", cv, mean, sd/mean)
		}
	}
}

// ks is the largest distance of the empirical distribution from cdf, for values
// that were cut to nanoseconds.
func ks(x []float64, cdf func(float64) float64) float64 {
	sorted := append([]float64(nil), x...)
	stat.SortWeighted(sorted, nil)
	worst := 0.0
	for i, v := range sorted {
		worst = max(worst, cdf(v)-float64(i)/float64(len(sorted)), float64(i+1)/float64(len(sorted))-cdf(v+1e-9))
	}
	return worst
}

func TestPoissonIsGammaOfOne(t *testing.T) {
	a, b := gaps(NewPoisson(5, rng(1)), 100), gaps(NewGamma(5, 1, rng(1)), 100)
	for i := range a {
		if a[i] != b[i] || a[i] < 0 {
			t.Fatalf("gap %d: %g and %g", i, a[i], b[i])
		}
	}
}

func TestTrace(t *testing.T) {
	p := NewTrace([]time.Duration{7 * time.Second, 3 * time.Second, 3 * time.Second, 4 * time.Second}, 2)
	got := gaps(p, 10)
	want := []float64{0, 0, 0.5, 1.5}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if _, ok := NewTrace(nil, 1).Next(); ok {
		t.Error("an empty trace has an arrival")
	}
}

func TestCheck(t *testing.T) {
	if err := Check(5, 1); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]float64{{0, 1}, {-1, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, 0}, {1, math.NaN()}, {1, 1000}} {
		if Check(c[0], c[1]) == nil {
			t.Errorf("%v is taken", c)
		}
	}
}
