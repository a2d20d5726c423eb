package stat

import (
	"cmp"
	"slices"
)

// Holm adjusts the probabilities of several tests for their number (Holm 1979):
// an adjusted value below α is a finding, and all findings together contain a
// false one with a probability of at most α, however the tests depend on each
// other. The result is in the order of p.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	most := 0.0
	for i, at := range order {
		most = min(1, max(most, float64(len(p)-i)*p[at]))
		adjusted[at] = most
	}
	return adjusted
}
