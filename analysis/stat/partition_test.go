package stat_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kneesweep/analysis/stat"
)

// TestPartition holds it against sorting, with ties, runs and every pattern that
// breaks a naive choice of the pivot.
func TestPartition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(i, n int) float64{
		"random": func(int, int) float64 { return rng.Float64() },
		"ties":   func(int, int) float64 { return float64(rng.IntN(3)) },
		"equal":  func(int, int) float64 { return 7 },
		"up":     func(i, _ int) float64 { return float64(i) },
		"down":   func(i, _ int) float64 { return -float64(i) },
		"organ":  func(i, n int) float64 { return float64(min(i, n-i)) },
	}
	for name, shape := range shapes {
		for _, n := range []int{1, 2, 31, 33, 100, 1000, 4097} {
			v := make([]float64, n)
			for i := range v {
				v[i] = shape(i, n)
			}
			sorted := slices.Sorted(slices.Values(v))
			ranks := []int{0, n / 2, min(n/2+1, n-1), n * 9 / 10, n - 1}
			slices.Sort(ranks)
			ranks = slices.Compact(ranks)
			stat.Partition(v, ranks...)
			for _, r := range ranks {
				if v[r] != sorted[r] {
					t.Errorf("%s, %d values: rank %d is %g, want %g", name, n, r, v[r], sorted[r])
				}
			}
			if slices.Sort(v); !slices.Equal(v, sorted) {
				t.Errorf("%s, %d values: they are no longer the same", name, n)
			}
		}
	}
}
