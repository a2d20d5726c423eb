//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/internal/accuracy"
	"kneesweep/sim"
	"kneesweep/sweep"
)

const (
	laterEndpoint = 1000 // added to a seed for the noise of the other endpoint
	comparedRuns  = 200  // seeds of a row
)

// sweepPair sweeps two endpoints, interleaved or one after the other; the drift goes
// on through both.
func sweepPair(t *testing.T, a, b accuracy.Setting, seed uint64, interleaved bool) (pair [2]analysis.Data) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var senders []sweep.Sender
		for i, s := range []accuracy.Setting{a, b} {
			e, err := sim.New(s.Endpoint(seed + uint64(i)*laterEndpoint))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			e.SetEpoch(epoch)
			senders = append(senders, e)
		}
		if interleaved {
			all, err := accuracy.Interleaved(senders, epoch, a, seed)
			if err != nil {
				t.Fatal(err)
			}
			pair = [2]analysis.Data(all)
			return
		}
		for i, s := range senders {
			d, err := accuracy.Sweep(s, epoch, a, a.Grid(seed), seed)
			if err != nil {
				t.Fatal(err)
			}
			pair[i] = d
		}
	})
	return pair
}

// runOf is one side of a comparison.
func runOf(d analysis.Data, label string) compare.Run {
	d.Run.Label = label
	return compare.Run{Curve: analysis.Analyze(d), Data: &d}
}

// TestInterleaved measures what the comparison of two endpoints finds while both
// drift alike: how far from the truth, and how often where there is nothing.
func TestInterleaved(t *testing.T) {
	base := setting(40)
	whole := 2 * length(t, base)
	var table strings.Builder
	table.WriteString("| b against a | common drift | measured | within 3 % of the truth | a difference found | worse or better by more than 5 % | truth in interval | mean width |\n|---|---|---|---|---|---|---|---|\n")
	for _, row := range []struct{ loss, drift float64 }{{0, 0}, {0, -0.20}, {0.10, 0}, {0.10, -0.20}} {
		for _, interleaved := range []bool{true, false} {
			if row.drift == 0 && !interleaved {
				continue
			}
			a := base
			a.Drift, a.DriftOver = row.drift, whole
			b := a
			b.Step = time.Duration(float64(a.Step) / (1 - row.loss))
			how := map[bool]string{true: "in turn", false: "one after the other"}[interleaved]
			var mu sync.Mutex
			var near, found, judged, covered int
			var width float64
			eachSeed(t, fmt.Sprintf("%g %g %s", row.loss, row.drift, how), comparedRuns, func(t *testing.T, seed uint64) {
				pair := sweepPair(t, a, b, seed, interleaved)
				x, y := runOf(pair[0], "a"), runOf(pair[1], "b")
				c := compare.Runs([]compare.Run{x}, y, compare.Options{})
				if interleaved {
					c = compare.Paired(x, y, compare.Options{})
				}
				r := c.Figures[0].Change.Ratio
				mu.Lock()
				defer mu.Unlock()
				truth := 1 - row.loss
				near += count(math.Abs(r.Value-truth) <= 0.03)
				found += count(r.Lo > 1 || r.Hi < 1)
				judged += count(c.Verdict == compare.Regression || c.Verdict == compare.Improvement)
				covered += count(r.Lo <= truth && truth <= r.Hi)
				width += (r.Hi - r.Lo) / comparedRuns
			})
			fmt.Fprintf(&table, "| −%.0f %% | %.0f %% | %s | %d | %d | %d | %d | ± %.1f %% |\n", 100*row.loss, 100*row.drift, how, near, found, judged, covered, 50*width)
			switch {
			case interleaved && row.loss > 0 && near < 184:
				t.Errorf("−%g under a drift of %g: %d of %d within 3 %%", row.loss, row.drift, near, comparedRuns)
			case interleaved && row.loss == 0 && max(found, judged) > 18:
				t.Errorf("equal under a drift of %g: a difference in %d and %d of %d", row.drift, found, judged, comparedRuns)
			}
		}
	}
	t.Logf("\n%s", table.String())
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
