package sweep_test

import (
	"fmt"
	"slices"
	"testing"

	"kneesweep/load"
	"kneesweep/sweep"
)

// TestLimitsCloseIn finds the largest level that meets the limits within a tenth.
func TestLimitsCloseIn(t *testing.T) {
	for _, truth := range []int{0, 1, 2, 3, 6, 7, 11, 23, 40, 77, 130, 255, 256, 1000} {
		for _, enough := range []int{1, 10} { // windows that it takes to tell
			t.Run(fmt.Sprint(truth, "/", enough), func(t *testing.T) {
				var h sweep.History
				steps := func() (steps []load.Step) {
					_, all := windows(h)
					for n, w := range all {
						s := load.Step{Concurrency: n, Valid: true, Measurements: make([]float64, w), SLO: load.Some(load.SLO{})}
						if w >= enough {
							s.SLO.V.Met = load.Some(n <= truth)
						}
						steps = append(steps, s)
					}
					slices.SortFunc(steps, func(a, b load.Step) int { return a.Concurrency - b.Concurrency })
					return steps
				}
				policy := &sweep.Limits{Policy: adaptive(), Max: 256, Measurements: 10, Steps: steps}
				e := endpoint{rate: ramp(40)}
				after := 0
				for {
					l, end := policy.Next(h)
					if end.Status != "" {
						if end.Status != load.StatusComplete || end.Reason == "" {
							t.Errorf("ended as %+v", end)
						}
						break
					}
					if after++; len(h.Visits) > 60 {
						t.Fatalf("does not end: %v", levelsOf(h))
					}
					h.Visits = append(h.Visits, e.visit(len(h.Visits), l))
				}
				met := 0
				for _, s := range steps() {
					if s.SLO.V.Met.OK && s.SLO.V.Met.V {
						met = max(met, s.Concurrency)
					}
				}
				if want := min(truth, 256); met > want || float64(want) > 1.12*float64(met)+1 {
					t.Errorf("largest level that meets the limits %d, want %d: %v", met, want, levelsOf(h))
				}
			})
		}
	}
}
