//go:build accuracy

package accuracy_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/internal/accuracy"
)

const (
	causeSeeds     = 50  // 1…50, all of them
	admissionSeeds = 100 // 1…100, all of them, for each number of slots
	claimSeeds     = 300 // 1…300, all of them
)

// bound are endpoints that something else than slots holds back.
func bound() map[string]accuracy.Setting {
	open := setting(4 * levels[len(levels)-1])
	open.Window = 0 // as long as the slow answers of full batches need
	compute, prefill := open, open
	compute.Slowdown = 2 * time.Millisecond
	prefill.Input, prefill.Prefill, prefill.Output = 64, 500*time.Microsecond, 100 // 32 ms a prompt, 1 s of decoding
	return map[string]accuracy.Setting{analysis.CauseCompute: compute, analysis.CausePrefill: prefill}
}

// named counts the answers of all seeds of one setting.
type named struct {
	mu     sync.Mutex
	found  int
	causes map[string]int
	limits int // admission limits claimed
}

func (n *named) add(c analysis.Curve) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.Admission.OK {
		n.limits++
	}
	if c.Knee.Verdict == knee.Found {
		n.found++
		n.causes[c.Cause.Name]++
	}
}

func everySeed(t *testing.T, name string, s accuracy.Setting, count uint64, add func(analysis.Curve)) {
	t.Helper()
	eachSeed(t, name, count, func(t *testing.T, seed uint64) { add(analysis.Analyze(runSweep(t, s, seed))) })
}

// TestCauses: what held an endpoint back is named by its own name where a knee is
// found at all.
func TestCauses(t *testing.T) {
	settings := bound()
	settings[analysis.CauseAdmission] = setting(24)
	throttled := setting(24)
	throttled.Rate = 118 // of 120 requests/s that the slots would serve: a few are refused
	settings[analysis.CauseThrottled] = throttled
	var table strings.Builder
	fmt.Fprintf(&table, "| held back by | seeds | verdict knee | named right | others |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		n := &named{causes: map[string]int{}}
		everySeed(t, name, settings[name], causeSeeds, n.add)
		right := n.causes[name]
		delete(n.causes, name)
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %v |\n", name, causeSeeds, n.found, right, n.causes)
		if n.causes[analysis.CauseClient] > 0 {
			t.Errorf("%s: an idle client is blamed %d times", name, n.causes[analysis.CauseClient])
		}
	}
	t.Logf("\n%s", table.String())
}

// TestAdmission: the number of slots is found exactly, whatever the noise, and
// none is claimed where there is no such limit.
func TestAdmission(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| load | slots | seeds | exact | none found | largest error |\n|---|---|---|---|---|---|\n")
	for _, heavy := range []string{"decode", "prefill"} {
		for _, k := range []int{2, 4, 8, 16, 32, 64, 128, 256} {
			s := setting(k)
			s.Noise = 0.30
			if heavy == "prefill" {
				s.Input, s.Prefill = 64, 100*time.Microsecond // of the whole batch: 6.4 ms a prompt
			}
			s.Levels = nil
			for n := 1; n <= 4*k; n *= 2 {
				s.Levels = append(s.Levels, n)
			}
			var mu sync.Mutex
			exact, none, worst := 0, 0, 0.0
			everySeed(t, fmt.Sprintf("%s/%d", heavy, k), s, admissionSeeds, func(c analysis.Curve) {
				mu.Lock()
				defer mu.Unlock()
				switch limit := c.Admission; {
				case !limit.OK:
					none++
				case limit.V.Value == float64(k):
					exact++
				default:
					worst = max(worst, math.Abs(limit.V.Value-float64(k)))
				}
			})
			fmt.Fprintf(&table, "| %s-heavy | %d | %d | %d | %d | %.0f |\n", heavy, k, admissionSeeds, exact, none, worst)
			if exact < admissionSeeds*95/100 && heavy == "decode" || worst > max(1, 0.05*float64(k)) {
				t.Errorf("%s, %d slots: exact in %d, off by up to %.0f", heavy, k, exact, worst)
			}
		}
	}
	fmt.Fprintf(&table, "\n| no slots, held back by | seeds | limits claimed |\n|---|---|---|\n")
	settings := bound()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		n := &named{causes: map[string]int{}}
		everySeed(t, "no slots/"+name, settings[name], claimSeeds, n.add)
		fmt.Fprintf(&table, "| %s | %d | %d |\n", name, claimSeeds, n.limits)
		if n.limits > claimSeeds*2/100 {
			t.Errorf("%s: %d limits claimed of %d", name, n.limits, claimSeeds)
		}
	}
	t.Logf("\n%s", table.String())
}
