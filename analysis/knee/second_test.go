package knee

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// With one level below the knee every knee in the gap fits alike: it is the
// smallest that a proportional rise allows, and the interval reaches the second
// level.
func TestKneeBelowSecondLevel(t *testing.T) {
	tests := []struct {
		name    string
		points  []Point
		k, hi   float64
		measure string // part of the warning; empty for none
	}{
		{"16 to 64", one([]int{16, 64, 128, 256}, 320, 400, 400, 400), 20, 64, "measure between 16 and 64"},
		{"8 to 16", one([]int{8, 16, 32, 64}, 160, 240, 240, 240), 12, 16, "measure between 8 and 16"},
		{"nothing between 1 and 2", one([]int{1, 2, 4, 8, 16}, 20, 26, 26, 26, 26), 1.3, 2, ""},
		{"at the second level", one([]int{8, 16, 32, 64}, 160, 320, 320, 320), 16, 16, ""},
		{"steeper than proportional", one([]int{8, 16, 32, 64}, 100, 320, 320, 320), 16, 16, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Choose(test.points, 1)
			checkInvariants(t, r)
			if r.Verdict != Found {
				t.Fatalf("verdict %s, want a knee", r.Verdict)
			}
			k := r.Concurrency.V
			if !near(k.Value, test.k, 1e-9) || k.Lo > k.Value || !near(k.Hi, test.hi, 1e-9) {
				t.Errorf("knee %+v, want %g up to %g", k, test.k, test.hi)
			}
			if want := max(0.95*r.Plateau.V-r.Fit.A, 0) / r.Fit.B; !near(r.N95.V, max(want, float64(r.Fit.From)), 1e-9) {
				t.Errorf("N95 %g, want %g on the fitted line", r.N95.V, want)
			}
			var told bool
			for _, w := range r.Warnings {
				told = told || test.measure != "" && strings.Contains(w.Text, test.measure)
				if test.measure == "" && strings.Contains(w.Text, "measure between") {
					t.Errorf("warning %q, want none", w.Text)
				}
			}
			if test.measure != "" && !told {
				t.Errorf("warnings %v, want %q", r.Warnings, test.measure)
			}
		})
	}
}

// Noise at the second level does not hide a knee below it, nor does the choice
// of the smaller knee pull down one above it.
func TestSmallKnees(t *testing.T) {
	const sweeps = 60
	levels := []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
	for _, k := range []float64{1.3, 2, 2.3, 3} {
		var covered int
		var errs []float64
		for seed := range uint64(sweeps) {
			r := Choose(noisy(rand.New(rand.NewPCG(seed, 77)), ramp(20, k), levels, 10, 0.03), seed)
			if r.Verdict != Found {
				t.Fatalf("K = %g: %s", k, r.Verdict)
			}
			c := r.Concurrency.V
			errs = append(errs, max(c.Value/k-1, 1-c.Value/k))
			if c.Lo <= k && k <= c.Hi {
				covered++
			}
		}
		slices.Sort(errs)
		if covered < sweeps*93/100 || errs[sweeps/2] > 0.02 {
			t.Errorf("K = %g: covered in %d of %d, median error %.1f %%", k, covered, sweeps, 100*errs[sweeps/2])
		}
	}
}
