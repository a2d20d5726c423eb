//go:build accuracy

package accuracy_test

import (
	"math"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
	"kneesweep/workload"
)

// TestHighestRateOfAReplica compares the rate that a plan gives to a replica, from
// sweeps of an endpoint without noise, with the one at which the replica meets the
// limit by its configuration: what is left is what the method leaves out.
func TestHighestRateOfAReplica(t *testing.T) {
	const seeds, within = 6, 0.01
	limits, err := slo.Parse("ttft_p95<=300ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*accuracy.Setting)
	}{
		{"as above", func(*accuracy.Setting) {}},
		{"no prefill", func(s *accuracy.Setting) { s.Prefill = 0 }},
		{"no prefill, no slowdown", func(s *accuracy.Setting) { s.Prefill, s.Slowdown = 0, 0 }},
		{"the same, answers of 39 to 41 tokens", func(s *accuracy.Setting) {
			s.Prefill, s.Slowdown, s.Lengths = 0, 0, workload.Uniform{From: 39, To: 41}
		}},
	} {
		s := planned()
		s.Noise, s.Even = 0, true
		c.change(&s)
		truth := meets(s, limits[0], seeds)
		var rates []float64
		for seed := uint64(1); seed <= seeds; seed++ {
			p, err := plan.Make(analysis.Analyze(runSweep(t, s, seed)), plan.Demand{Rate: 50, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			rates = append(rates, p.PerReplica.Value)
		}
		bias := stat.Mean(rates)/truth - 1
		t.Logf("%s: truth %.2f/s, plans %.2f (%+.2f %%)", c.name, truth, stat.Mean(rates), 100*bias)
		if math.Abs(bias) > within {
			t.Errorf("%s: %.2f/s, and the truth is %.2f", c.name, rates, truth)
		}
	}
}

// meets is the rate at which a replica with all its slots in use meets a limit.
func meets(s accuracy.Setting, l slo.Limit, seeds uint64) float64 {
	lo, hi := 0.0, 100.0
	for range 13 {
		mid := (lo + hi) / 2
		var all []answered
		for seed := uint64(1); seed <= seeds; seed++ {
			all = append(all, replica(s.Endpoint(seed), s, s.Slots, mid, seed)...)
		}
		if above(all, l) > l.Allowed {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}
