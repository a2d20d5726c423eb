//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
)

const (
	coverageSeeds = 400  // 1…400, all of them
	falseSeeds    = 1000 // 1…1000, all of them
	generatedCV   = 0.10
)

// generate draws ten windows a level around f, each with a lognormal error, and
// each level with a lognormal shift of its own.
func generate(seed uint64, f func(n float64) float64, cv, shift float64) []knee.Point {
	const stream = 0x67656e // "gen"
	rng := rand.New(rand.NewPCG(seed, stream))
	var points []knee.Point
	for _, n := range levels {
		p := knee.Point{N: n}
		own := math.Exp(shift * rng.NormFloat64())
		for range accuracy.Measurements {
			p.Windows = append(p.Windows, f(float64(n))*own*math.Exp(cv*rng.NormFloat64()))
		}
		points = append(points, p)
	}
	return points
}

// TestIndependentWindows is the error of the default estimator on straight ramps,
// and of the bent one on bent ramps, whose windows share nothing.
func TestIndependentWindows(t *testing.T) {
	straight := func(n, k float64) float64 { return 25 * min(n, k) }
	bent := func(n, k float64) float64 { return 25 * min(n, k) / (1 + min(n, k)/(2*k-3)) }
	var table strings.Builder
	fmt.Fprintf(&table, "| ramp | CV of a window | definition | verdict knee | median error, of those | of all sweeps | target |\n|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name       string
		f          func(n, k float64) float64
		cv, target float64
		finder     knee.Finder
	}{
		{"straight", straight, 0.10, 0.033, knee.Segmented{}},
		{"straight", straight, 0.20, 0.065, knee.Segmented{}},
		{"straight", straight, 0.30, 0.095, knee.Segmented{}},
		{"bent", bent, 0.10, 0.06, knee.HyperbolaCap{}},
	} {
		var found, all []float64
		for _, k := range []float64{20, 40, 60, 90} {
			for seed := uint64(1); seed <= coverageSeeds; seed++ {
				points := generate(seed, func(n float64) float64 { return row.f(n, k) }, row.cv, 0)
				e := row.finder.Find(points, seed).Concurrency
				if !e.OK {
					continue
				}
				all = append(all, e.V.Value/k-1)
				if knee.Choose(points, seed).Verdict == knee.Found {
					found = append(found, e.V.Value/k-1)
				}
			}
		}
		got := size(found, len(found))
		fmt.Fprintf(&table, "| %s | %.0f %% | `%s` | %d of %d | **%.2f %%** | %.2f %% | %.1f %% |\n", row.name, 100*row.cv, row.finder.Method(),
			len(found), 4*coverageSeeds, 100*got, 100*size(all, 4*coverageSeeds), 100*row.target)
		if got > row.target {
			t.Errorf("%s ramp, CV %g: median error %.2f %%, want at most %.1f %%", row.name, row.cv, 100*got, 100*row.target)
		}
	}
	t.Logf("\n%s", table.String())
}

// TestIntervals asks how often the interval holds the truth when levels are off
// by something that all their windows share, and how wide it is.
func TestIntervals(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| levels off by | K | levels at or above | verdict knee | truth in interval, of those | median width / 3.92 SD |\n|---|---|---|---|---|---|\n")
	for _, shift := range []float64{0, 0.05, 0.10} {
		for _, k := range []float64{20, 40, 60, 90} {
			var values, widths []float64
			covered, above := 0, 0
			for _, n := range levels {
				if float64(n) >= k {
					above++
				}
			}
			for seed := uint64(1); seed <= coverageSeeds; seed++ {
				r := knee.Choose(generate(seed, func(n float64) float64 { return 25 * min(n, k) }, generatedCV, shift), seed)
				if r.Verdict != knee.Found {
					continue
				}
				c := r.Concurrency.V
				values, widths = append(values, c.Value), append(widths, c.Hi-c.Lo)
				if c.Lo <= k && k <= c.Hi {
					covered++
				}
			}
			_, variance := stat.Variance(values)
			share, ratio := float64(covered)/float64(len(values)), stat.Median(widths)/(3.92*math.Sqrt(variance))
			fmt.Fprintf(&table, "| %.0f %% | %.0f | %d | %d of %d | %.1f %% | %.2f |\n", 100*shift, k, above, len(values), coverageSeeds, 100*share, ratio)
			if share < 0.93 {
				t.Errorf("levels off by %.0f %%, K = %.0f: covered in %.1f %%, want 93 %%", 100*shift, k, 100*share)
			}
			if shift == 0 && above >= 3 && ratio > 2 {
				t.Errorf("K = %.0f: width %.2f × 3.92 SD, want at most 2.0", k, ratio)
			}
		}
	}
	t.Logf("\n%s", table.String())
}

// TestFalseKnees counts knees on curves that have none.
func TestFalseKnees(t *testing.T) {
	last := float64(levels[len(levels)-1])
	creep := func(gain float64) func(n float64) float64 {
		e := math.Log2(1 + gain)
		return func(n float64) float64 { return 25 * min(n, 16) * math.Pow(max(1, n/16), e) }
	}
	shapes := []struct {
		name string
		f    func(n float64) float64
	}{
		{"straight", func(n float64) float64 { return 25 * n }},
		{"concave: square root", func(n float64) float64 { return 100 * math.Sqrt(n) }},
		{"concave: hyperbola, half way at the last level", func(n float64) float64 { return 5000 * n / (n + last) }},
		{"creeping: a straight ramp to 16, then 15 % per doubling", creep(0.15)},
		{"the last level only: a straight ramp to 200", func(n float64) float64 { return 25 * min(n, 200) }},
		{"flat", func(float64) float64 { return 500 }},
		{"declining by 10 % per doubling from the first level", func(n float64) float64 { return 500 * math.Pow(n, math.Log2(0.9)) }},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| shape | false knees of %d | other verdicts |\n|---|---|---|\n", falseSeeds)
	for _, s := range shapes {
		verdicts := map[knee.Verdict]int{}
		for seed := uint64(1); seed <= falseSeeds; seed++ {
			verdicts[knee.Choose(generate(seed, s.f, generatedCV, 0), seed).Verdict]++
		}
		wrong := verdicts[knee.Found]
		var others []string
		for _, v := range []knee.Verdict{knee.AtOrBelowFirst, knee.NotLocated, knee.StillRising} {
			if verdicts[v] > 0 {
				others = append(others, fmt.Sprintf("`%s` %d", v, verdicts[v]))
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %s |\n", s.name, wrong, strings.Join(others, ", "))
		if wrong > falseSeeds*2/100 {
			t.Errorf("%s: %d false knees of %d, want at most 2 %%", s.name, wrong, falseSeeds)
		}
	}
	t.Logf("\n%s", table.String())
}
