//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
)

const seeds = 400 // 1…400, all of them

// cell is the outcome of all seeds of one setting.
type cell struct {
	mu       sync.Mutex
	errs     []float64 // |knee − truth| / truth of those that gave a knee
	covered  int
	verdicts map[knee.Verdict]int
	cv       []float64 // coefficient of variation within levels
	admitted int       // admission limit equal to the truth
}

func (c *cell) add(d analysis.Data, truth float64) {
	out := analysis.Analyze(d)
	var groups [][]float64
	for _, s := range out.Steps {
		groups = append(groups, s.Measurements)
	}
	cv, _ := stat.PooledCV(groups)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cv = append(c.cv, cv)
	c.verdicts[out.Knee.Verdict]++
	if out.Admission.OK && out.Admission.V.Value == truth {
		c.admitted++
	}
	if k := out.Knee.Concurrency; k.OK {
		c.errs = append(c.errs, math.Abs(k.V.Value-truth)/truth)
		if k.V.Lo <= truth && truth <= k.V.Hi {
			c.covered++
		}
	}
}

// run fills a cell: every seed is one real sweep.
func run(t *testing.T, name string, s accuracy.Setting) *cell {
	c := &cell{verdicts: map[knee.Verdict]int{}}
	truth := s.Endpoint(1).Truth(1, s.Output).Knee
	eachSeed(t, name, seeds, func(t *testing.T, seed uint64) { c.add(runSweep(t, s, seed), truth) })
	return c
}

// TestAccuracy is the study of docs/accuracy.md; it prints its table.
func TestAccuracy(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| setting | K | seeds | verdict knee | median error | p90 error | truth in interval | admission exact | CV within levels |\n|---|---|---|---|---|---|---|---|---|\n")
	row := func(name string, k int, c *cell) {
		slices.Sort(c.errs)
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %.2f %% | %.2f %% | %.1f %% | %d | %.1f %% |\n", name, k, seeds, c.verdicts[knee.Found],
			100*stat.Quantile(c.errs, 0.5), 100*stat.Quantile(c.errs, 0.9), 100*float64(c.covered)/seeds, c.admitted, 100*stat.Mean(c.cv))
	}
	for _, drift := range []float64{0, 0.20, -0.20} {
		name := "no drift"
		if drift != 0 {
			name = fmt.Sprintf("drift %+.0f %%", 100*drift)
		}
		var pooled []float64
		for _, k := range []int{20, 40, 60, 90} {
			s := setting(k)
			s.Drift, s.DriftOver = drift, length(t, s)
			c := run(t, fmt.Sprintf("%s/K=%d", name, k), s)
			row(name, k, c)
			pooled = append(pooled, c.errs...)
			if share := float64(c.covered) / seeds; share < 0.92 {
				t.Errorf("%s, K = %d: the interval covers the truth in %.1f %%, want at least 92 %%", name, k, 100*share)
			}
		}
		m := stat.Median(pooled)
		fmt.Fprintf(&table, "| %s | all | %d | | **%.2f %%** | | | | |\n", name, 4*seeds, 100*m)
		if m > 0.033 {
			t.Errorf("%s: pooled median error %.2f %%, want at most 3.3 %%", name, 100*m)
		}
	}
	never := run(t, "unsaturated", setting(4*levels[len(levels)-1]))
	fmt.Fprintf(&table, "\nUnsaturated, K = %d: verdicts %v\n", 4*levels[len(levels)-1], never.verdicts)
	if n := never.verdicts[knee.Found]; n > 0 {
		t.Errorf("unsaturated: %d of %d sweeps claim a knee", n, seeds)
	}
	t.Logf("\n%s", table.String())
}
