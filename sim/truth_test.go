package sim_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/sim"
)

// plateau is throughput at n sequences by the formula of the documentation.
func plateau(c sim.Config, in, out int, n float64) float64 {
	g := float64(max(1, c.TokensPerChunk))
	steps := math.Ceil(float64(out)/g) + math.Ceil(float64(c.HiddenTokens)/g)
	step := c.StepBase.Seconds() + c.StepPerSequence.Seconds()*n + n/steps*c.Prefill.Seconds()*float64(in)
	return n * float64(out) / (steps * step)
}

// The knee that is computed is the one that is measured: below it throughput is
// that of the formula at N, at it and beyond it that of the plateau.
func TestTruthIsMeasured(t *testing.T) {
	tests := []struct {
		name    string
		cfg     sim.Config
		in, out int
		knee    float64
	}{
		{"slots", sim.Config{Slots: 8, StepBase: 10 * ms}, 10, 20, 8},
		{"KV cache", sim.Config{Slots: 64, StepBase: 10 * ms, KVTokens: 199}, 10, 20, 6},
		{"KV cache below one sequence", sim.Config{Slots: 64, StepBase: 10 * ms, KVTokens: 7}, 10, 20, 1},
		{"steps grow with sequences", sim.Config{Slots: 8, StepBase: 10 * ms, StepPerSequence: 2 * ms}, 10, 20, 8},
		{"prefill", sim.Config{Slots: 6, StepBase: 10 * ms, Prefill: 200 * time.Microsecond}, 50, 20, 6},
		{"several tokens a step", sim.Config{Slots: 5, StepBase: 10 * ms, TokensPerChunk: 4}, 10, 40, 5},
		{"hidden tokens", sim.Config{Slots: 4, StepBase: 10 * ms, HiddenTokens: 30}, 10, 20, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			truth := test.cfg.Truth(test.in, test.out)
			if truth.Knee != test.knee || truth.AdmissionLimit != test.knee {
				t.Fatalf("truth %+v, want %g", truth, test.knee)
			}
			k := int(test.knee)
			for _, n := range []int{max(1, k/2), k, 2*k + 1, 4 * k} {
				bubble(t, func(t *testing.T) {
					e := start(t, test.cfg)
					samples := closedLoop(e, n, test.in, test.out, 24*time.Second, ms)
					x := rate(samples, 4*time.Second, 24*time.Second, max(1, test.cfg.TokensPerChunk))
					near(t, "tokens/s", x, plateau(test.cfg, test.in, test.out, math.Min(float64(n), test.knee)), 0.01)
				})
			}
		})
	}
}

// Under a rate limit R the knee lies where N streams just make R requests/s.
func TestRateLimitTruth(t *testing.T) {
	cfg := sim.Config{Slots: 32, StepBase: 10 * ms, StepPerSequence: ms / 2, RateLimit: 25, RateBurst: 4}
	truth := cfg.Truth(10, 20)
	// N / (20·(0.010 + 0.0005·N)) = 25
	near(t, "knee", truth.Knee, 5/(1-0.25), 1e-9)
	near(t, "requests/s at the knee", plateau(cfg, 10, 20, truth.Knee)/20, 25, 1e-9)
	for _, n := range []int{3, 12, 24} {
		bubble(t, func(t *testing.T) {
			e := start(t, cfg)
			samples := closedLoop(e, n, 10, 20, 24*time.Second, 5*ms)
			want := math.Min(25*20, plateau(cfg, 10, 20, float64(n)))
			near(t, "tokens/s", rate(samples, 4*time.Second, 24*time.Second, 1), want, 0.01)
		})
	}
	// N / (20·0.010 + N·50·0.0001) = 25
	fill := sim.Config{Slots: 99, StepBase: 10 * ms, Prefill: ms / 10, RateLimit: 25}
	near(t, "knee with prefill", fill.Truth(50, 20).Knee, 5/(1-0.125), 1e-9)
	if slow := (sim.Config{Slots: 4, StepBase: 10 * ms, RateLimit: 1000}).Truth(10, 20); slow.Knee != 4 {
		t.Errorf("a limit that slots never reach moves the knee to %g", slow.Knee)
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	err := sim.Config{Slots: 0, Noise: math.NaN(), Drift: -1, Faults: sim.Faults{Reject: 0.7, Stall: 0.7}, NoUsage: true, UsageInChunks: true, RateBurst: -1}.Validate()
	for _, want := range []string{"--slots", "--step:", "--noise", "--drift", "more than 1", "--no-usage", "--rate-burst"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := sim.New(sim.Config{}); err == nil {
		t.Error("an empty configuration makes an endpoint")
	}
	if err := (sim.Config{Slots: 1, StepBase: ms}).Validate(); err != nil {
		t.Error(err)
	}
}
