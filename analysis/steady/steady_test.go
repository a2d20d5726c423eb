package steady

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFewBins(t *testing.T) {
	for n := range minTrend {
		r := Test(make([]float64, n))
		if r.Tested || !r.Steady || r.P != 1 || !strings.Contains(r.Reason, "too few bins") {
			t.Errorf("%d bins: %+v, want untested and said so", n, r)
		}
	}
}

func TestConstantBins(t *testing.T) {
	for _, v := range []float64{0, 7} {
		bins := make([]float64, 60)
		for i := range bins {
			bins[i] = v
		}
		if r := Test(bins); !r.Steady || !r.Tested || r.Cut != 0 || r.P != 1 || r.Reason != "" {
			t.Errorf("all %g: %+v, want steady with nothing to cut", v, r)
		}
	}
}

// noise draws bins around level(i) with a standard deviation of 10.
func noise(seed uint64, n int, level func(i int) float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	bins := make([]float64, n)
	for i := range bins {
		bins[i] = level(i) + 10*rng.NormFloat64()
	}
	return bins
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name  string
		level func(i int) float64
		want  string // in the reason
	}{
		{"drift", func(i int) float64 { return 100 + 0.5*float64(i) }, "trend of +"},
		{"decline", func(i int) float64 { return 150 - 0.5*float64(i) }, "trend of -"},
		{"settles late", func(i int) float64 {
			if i < 70 {
				return 20
			}
			return 200
		}, "not settled: the first 70 of 100 bins"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Test(noise(1, 100, test.level))
			if r.Steady || !strings.Contains(r.Reason, test.want) {
				t.Errorf("got %+v, want not steady with %q", r, test.want)
			}
		})
	}
}

// A start that is unlike the rest is cut off.
func TestCut(t *testing.T) {
	at, left := cut(noise(1, 100, func(i int) float64 {
		if i < 20 {
			return 300
		}
		return 100
	}))
	if at != 20 || left > 0.1 {
		t.Errorf("cut at %d leaving %.2f of the squared error, want 20 and little", at, left)
	}
	// One batch of 9 before five of 1: after it nothing varies.
	bins := []float64{9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	if at, left := cut(bins); at != 5 || left != 0 {
		t.Errorf("cut at %d leaving %g, want 5 and 0", at, left)
	}
}

// Steady bins are called so in about 99 % of cases, correlated negatively or not.
func TestFalseAlarms(t *testing.T) {
	for _, n := range []int{20, 50, 100} {
		var alarms int
		const runs = 500
		for seed := range uint64(runs) {
			if !Test(noise(seed, n, func(int) float64 { return 100 })).Steady {
				alarms++
			}
		}
		if alarms > runs*3/100 {
			t.Errorf("%d bins of noise: %d of %d not steady, want about 1 %%", n, alarms, runs)
		}
	}
}
