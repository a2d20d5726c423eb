package knee

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var grid = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// On a true plateau noise alone is neither a decline nor an outlier, whatever the
// number of windows; a knee keeps its coverage.
func TestNoiseIsNoEvidence(t *testing.T) {
	const sweeps = 60
	for _, windows := range []int{1, 3} {
		for _, k := range []float64{2, 10, 45} {
			var declines, outliers, found, covered int
			for seed := range uint64(sweeps) {
				r := Choose(noisy(rand.New(rand.NewPCG(seed, 77)), ramp(20, k), grid, windows, 0.1), seed)
				if r.Retrograde != nil {
					declines++
				}
				if len(r.Outliers) > 0 {
					outliers++
				}
				if c := r.Concurrency; c.OK {
					found++
					if c.V.Lo <= k && k <= c.V.Hi {
						covered++
					}
				}
			}
			if declines > sweeps/10 || outliers > sweeps/20 || covered < found*90/100 || found < sweeps/2 {
				t.Errorf("K = %g, %d windows, %d sweeps: %d decline, %d lose a level, %d of %d knees covered",
					k, windows, sweeps, declines, outliers, covered, found)
			}
		}
	}
}

// A loss of 40 % at the end is told, and one level as low on a plateau is found,
// if the noise allows it.
func TestEvidenceIsFound(t *testing.T) {
	const sweeps = 40
	for _, test := range []struct {
		windows int
		cv      float64
		least   int // sweeps of which each must be told
	}{{1, 0.03, 36}, {10, 0.03, 40}, {10, 0.1, 34}} {
		var declines, outliers int
		for seed := range uint64(sweeps) {
			rng := rand.New(rand.NewPCG(seed, 7))
			lossy := func(where func(n float64) bool) []Point {
				return noisy(rng, func(n float64) float64 {
					if x := 20 * min(n, 10); !where(n) {
						return x
					}
					return 120
				}, grid, test.windows, test.cv)
			}
			if Choose(lossy(func(n float64) bool { return n >= 128 }), seed).Retrograde != nil {
				declines++
			}
			if slices.Equal(Choose(lossy(func(n float64) bool { return n == 64 }), seed).Outliers, []int{64}) {
				outliers++
			}
		}
		if declines < test.least || outliers < test.least {
			t.Errorf("%d windows at %g: %d declines and %d outliers of %d told, want %d",
				test.windows, test.cv, declines, outliers, sweeps, test.least)
		}
	}
}

// The peak before a decline shows the capacity; a spike on a plateau does not.
func TestPeakIsNoSpike(t *testing.T) {
	r := Choose(spread(0.025, 10, doubling, 100, 200, 400, 800, 405, 201, 99), 1)
	if r.Retrograde == nil || r.Retrograde.From != 16 || r.Fit == nil || r.Fit.K <= 4 {
		t.Errorf("fit %+v, decline %+v; want a knee past 4 and a decline from 16", r.Fit, r.Retrograde)
	}
	for _, windows := range []int{2, 10} {
		r = Choose(spread(0.025, windows, doubling, 100, 200, 400, 800, 1300, 810, 790), 1)
		if !slices.Equal(r.Outliers, []int{16}) {
			t.Errorf("outliers %v, want the spike at 16", r.Outliers)
		}
	}
}

// A rise is given only where noise does not explain it.
func TestRisePerDoubling(t *testing.T) {
	points := spread(0.25, 3, grid, 22.6, 27.7, 26.9, 30.4, 29.8, 31.6, 30.6, 30.6, 32.1)
	if r := risePerDoubling(pool(points)); r.OK {
		t.Errorf("%.1f %% per doubling, want undefined", 100*r.V)
	}
	if r := risePerDoubling(pool(one(doubling, 1, 2, 4, 8, 10, 10, 10))); r.OK {
		t.Errorf("%g of a flat end, want undefined", r.V)
	}
	for _, points := range [][]Point{
		one(doubling, 1, 2, 4, 8, 16, 20, 25),
		spread(0.02, 5, doubling, 1, 2, 4, 8, 16, 20, 25),
	} {
		if r := risePerDoubling(pool(points)); !r.OK || !near(r.V, 0.25, 1e-2) {
			t.Errorf("%+v, want 25 %%", r)
		}
	}
}
