//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
)

const shapeSeeds = 200

func TestShapes(t *testing.T) {
	var table strings.Builder
	for _, s := range accuracy.Shapes() {
		for _, windows := range []int{1, 3} {
			for _, cv := range []float64{0.01, 0.03, 0.10} {
				v := map[knee.Verdict]int{}
				var errs []float64
				var covered, retro int
				for seed := uint64(1); seed <= shapeSeeds; seed++ {
					points, truth := s.Draw(seed, windows, cv)
					r := knee.Choose(points, seed)
					v[r.Verdict]++
					if r.Retrograde != nil {
						retro++
					}
					if c := r.Concurrency; c.OK && s.Knee {
						errs = append(errs, math.Abs(c.V.Value/truth-1))
						if c.V.Lo <= truth && truth <= c.V.Hi {
							covered++
						}
					}
				}
				slices.Sort(errs)
				med, p90 := math.NaN(), math.NaN()
				if len(errs) > 0 {
					med, p90 = stat.Quantile(errs, .5), stat.Quantile(errs, .9)
				}
				fmt.Fprintf(&table, "| %-32s | %d | %2.0f %% | knee %3d | first %3d | notloc %3d | rising %3d | med %5.1f | p90 %5.1f | cov %d/%d | retro %d\n",
					s.Name, windows, 100*cv, v[knee.Found], v[knee.AtOrBelowFirst], v[knee.NotLocated], v[knee.StillRising], 100*med, 100*p90, covered, len(errs), retro)
			}
		}
	}
	t.Logf("\n%s", table.String())
}
