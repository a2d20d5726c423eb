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
	"kneesweep/sweep"
)

// gridWindows is what the grid of the study takes.
const gridWindows = 9 * accuracy.Measurements

// slots spreads the knees 5…120 over the seeds.
func slots(seed uint64) int { return 5 + int(math.Round(115*float64(seed-1)/(seeds-1))) }

// policies are what is compared: each makes a policy for a seed.
var policies = []struct {
	name string
	make func(s accuracy.Setting, seed uint64) sweep.Policy
}{
	{"grid 1, 2, 4 … 256", func(s accuracy.Setting, seed uint64) sweep.Policy { return s.Grid(seed) }},
	{"adaptive, at most as many windows", func(s accuracy.Setting, seed uint64) sweep.Policy { return chosen(seed, 1e-9, gridWindows) }},
	{"adaptive, as it is by default", func(s accuracy.Setting, seed uint64) sweep.Policy { return chosen(seed, 0.10, 0) }},
}

func chosen(seed uint64, precision float64, windows int) sweep.Policy {
	return &sweep.Adaptive{
		Max: levels[len(levels)-1], Measurements: accuracy.Measurements, Passes: accuracy.Passes,
		Precision: precision, MaxWindows: windows, Seed: seed,
	}
}

// choice is the outcome of all seeds of one policy.
type choice struct {
	mu      sync.Mutex
	errs    []float64 // of all seeds; 1 without a knee
	found   int
	covered int
	within  int // intervals of at most ± 10 %
	tokens  float64
	windows float64
}

func (c *choice) add(d analysis.Data, truth float64) {
	out := analysis.Analyze(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range d.Visits {
		c.windows += float64(v.Level.Windows)
	}
	for i := range d.Samples {
		c.tokens += float64(d.Samples[i].OutputTokens)
	}
	k := out.Knee.Concurrency
	if out.Knee.Verdict != knee.Found {
		c.errs = append(c.errs, 1)
		return
	}
	c.found++
	c.errs = append(c.errs, math.Abs(k.V.Value-truth)/truth)
	if k.V.Lo <= truth && truth <= k.V.Hi {
		c.covered++
	}
	if k.V.Hi-k.V.Lo <= 0.2*k.V.Value {
		c.within++
	}
}

// TestAdaptive compares the adaptive policy with the fixed grid.
func TestAdaptive(t *testing.T) {
	results := make([]*choice, len(policies))
	for i, p := range policies {
		c := &choice{}
		results[i] = c
		eachSeed(t, p.name, seeds, func(t *testing.T, seed uint64) {
			s := setting(slots(seed))
			s.Noise = 0.20
			c.add(runPolicy(t, s, p.make(s, seed), seed), s.Endpoint(seed).Truth(1, s.Output).Knee)
		})
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| levels | verdict knee | median error | p90 error | truth in interval | interval within ± 10 %% | windows | tokens |\n|---|---|---|---|---|---|---|---|\n")
	for i, p := range policies {
		c := results[i]
		slices.Sort(c.errs)
		fmt.Fprintf(&table, "| %s | %d | **%.2f %%** | %.2f %% | %.1f %% | %d | %.0f | %.2f M |\n", p.name, c.found, 100*stat.Median(c.errs),
			100*stat.Quantile(c.errs, 0.9), 100*float64(c.covered)/float64(c.found), c.within, c.windows/seeds, c.tokens/seeds/1e6)
	}
	t.Logf("\n%s", table.String())
	grid, same := results[0], results[1]
	a, b := stat.Median(grid.errs), stat.Median(same.errs)
	if !(b <= 0.85*a || b <= a && same.tokens <= 0.6*grid.tokens) {
		t.Errorf("median error %.2f %% against %.2f %% of the grid, with %.2f of its tokens", 100*b, 100*a, same.tokens/grid.tokens)
	}
	if same.windows > grid.windows {
		t.Errorf("%.0f windows against %.0f", same.windows/seeds, grid.windows/seeds)
	}
}
