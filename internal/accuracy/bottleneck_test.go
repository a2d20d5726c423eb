//go:build accuracy

package accuracy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
)

// bottlenecks are what the simulated endpoint cannot be held back by.
var bottlenecks = []struct {
	name  string
	cause string // that is to be named with the knee; "" = none, since levels beyond are not valid
	make  func() *accuracy.Bottleneck
}{
	{"prefill", analysis.CausePrefill, func() *accuracy.Bottleneck { return &accuracy.Bottleneck{Prefill: 25 * time.Millisecond} }},
	{"network", analysis.CauseNetwork, func() *accuracy.Bottleneck { return &accuracy.Bottleneck{Streams: 17} }},
	{"client", "", func() *accuracy.Bottleneck { return &accuracy.Bottleneck{Streams: 17, Late: true} }},
}

// TestBottlenecks: what holds an endpoint back is named by its own name.
func TestBottlenecks(t *testing.T) {
	var table strings.Builder
	fmt.Fprint(&table, "| held back by | seeds | verdict knee | knee, mean | named right | others | levels beyond called bound | below |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range bottlenecks {
		var mu sync.Mutex
		found, right, beyond, below, sum := 0, 0, 0, 0, 0.0
		others := map[string]int{}
		eachSeed(t, c.name, causeSeeds, func(t *testing.T, seed uint64) {
			curve := sweepBottleneck(t, c.make(), seed)
			mu.Lock()
			defer mu.Unlock()
			if curve.Knee.Verdict == knee.Found {
				found++
				sum += curve.Knee.Concurrency.V.Value
				if curve.Cause.Name == c.cause {
					right++
				} else {
					others[curve.Cause.Name]++
				}
			}
			for _, s := range curve.Steps {
				if s.Client.V.Bound && s.Concurrency > 17 {
					beyond++
				} else if s.Client.V.Bound && s.Concurrency < 16 {
					below++
				}
			}
		})
		fmt.Fprintf(&table, "| %s | %d | %d | %.1f | %d | %v | %d | %d |\n", c.name, causeSeeds, found, sum/float64(max(1, found)), right, others, beyond, below)
		if c.cause != "" && right < causeSeeds*96/100 {
			t.Errorf("%s: named right in %d of %d", c.name, right, causeSeeds)
		}
		if c.cause == "" && (found > 0 || beyond < causeSeeds*4) || below > 0 || others[analysis.CauseClient] > 0 {
			t.Errorf("%s: %d knees, %d levels beyond and %d below called bound", c.name, found, beyond, below)
		}
	}
	t.Logf("\n%s", table.String())
}

func sweepBottleneck(t *testing.T, b *accuracy.Bottleneck, seed uint64) (curve analysis.Curve) {
	t.Helper()
	s := setting(1)
	s.Levels, s.Window, s.Output = []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64}, time.Second, 40
	var d analysis.Data
	synctest.Test(t, func(t *testing.T) {
		b.Epoch, b.Token, b.Output, b.Noise, b.Seed = time.Now(), 10*time.Millisecond, s.Output, s.Noise, seed
		var err error
		if d, err = accuracy.Sweep(b, b.Epoch, s, s.Grid(seed), seed); err != nil {
			t.Fatal(err)
		}
	})
	if i := slices.IndexFunc(d.Samples, func(m load.Sample) bool { return m.Failed() && m.Cause != load.CauseCanceled }); i >= 0 {
		t.Fatalf("a request failed: %+v", d.Samples[i])
	}
	return analysis.Analyze(d)
}
