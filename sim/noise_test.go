package sim_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
	"kneesweep/sim"
)

// At a noise of 10 % and a jitter of 20 % a step, the ten windows of a level of a
// real sweep, five on the way up and five on the way down, vary by about 10 %.
func TestNoiseOfWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("100 sweeps")
	}
	s := accuracy.Setting{
		Slots: 4, Levels: []int{1, 2, 4, 8}, Noise: 0.10,
		Step: 10 * ms, Output: 20, Window: 300 * ms,
	}
	var all []float64
	for seed := uint64(1); seed <= 100; seed++ {
		bubble(t, func(t *testing.T) {
			epoch := time.Now()
			e := start(t, s.Endpoint(seed))
			d, err := accuracy.Sweep(e, epoch, s, s.Grid(seed), seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range analysis.Summarize(d) {
				if len(step.Measurements) != 10 {
					t.Fatalf("%d windows", len(step.Measurements))
				}
				mean, variance := stat.Variance(step.Measurements)
				all = append(all, math.Sqrt(variance)/mean)
			}
		})
	}
	cv := stat.Mean(all)
	t.Logf("mean coefficient of variation of the ten windows of a level: %.2f %% over %d levels", 100*cv, len(all))
	if cv < 0.08 || cv > 0.12 {
		t.Errorf("%.2f %%, want 8 to 12 %%", 100*cv)
	}
}

// Noise and jitter scatter throughput around that of the formula, and do not move it.
func TestNoiseKeepsTheMean(t *testing.T) {
	for _, cfg := range []sim.Config{
		{Slots: 2, StepBase: 10 * ms, Noise: 0.3, NoiseWindow: 50 * ms, Seed: 1},
		{Slots: 2, StepBase: 10 * ms, StepJitter: 0.3, Seed: 1},
	} {
		bubble(t, func(t *testing.T) {
			e := start(t, cfg)
			samples := closedLoop(e, 2, 1, 50, 100*time.Second, ms)
			near(t, "tokens/s", rate(samples, 0, 100*time.Second, 1), 200, 0.025)
		})
	}
}

// Speed changes one way only, up to the value asked for, and stays there.
func TestDrift(t *testing.T) {
	for _, drift := range []float64{-0.20, 0.30} {
		bubble(t, func(t *testing.T) {
			e := start(t, sim.Config{Slots: 2, StepBase: 2 * ms, Drift: drift, DriftOver: 8 * time.Second})
			samples := closedLoop(e, 2, 1, 50, 12*time.Second, ms)
			full := 2.0 / 0.002
			last := full
			for i := range 12 {
				x := rate(samples, time.Duration(i)*time.Second, time.Duration(i+1)*time.Second, 1)
				if change := (x - last) * math.Copysign(1, drift); change < -4 {
					t.Errorf("drift %g: second %d has %g tokens/s after %g", drift, i, x, last)
				}
				last = x
				want := full * (1 + drift*math.Min(1, (float64(i)+0.5)/8))
				near(t, fmt.Sprintf("second %d", i), x, want, 0.01)
			}
		})
	}
}

// noisyRun returns the times of everything that an endpoint did, in order.
func noisyRun(t *testing.T, seed uint64) (times []time.Duration) {
	bubble(t, func(t *testing.T) {
		e := start(t, sim.Config{Slots: 3, StepBase: 10 * ms, Noise: 0.2, NoiseWindow: 100 * ms, StepJitter: 0.2, Seed: seed,
			Faults: sim.Faults{Reject: 0.1, Truncate: 0.1, StreamError: 0.1}})
		for _, s := range closedLoop(e, 5, 3, 10, 2*time.Second, 7*ms) {
			times = append(times, s.Sent, s.End)
			for _, c := range s.Chunks {
				times = append(times, c.At)
			}
			if s.Cause == load.CauseCanceled && s.End < 2*time.Second {
				t.Errorf("canceled at %v", s.End)
			}
		}
	})
	slices.Sort(times)
	return times
}

func TestSameSeedSameRun(t *testing.T) {
	a := noisyRun(t, 1)
	if len(a) < 300 {
		t.Fatalf("only %d events", len(a))
	}
	for range 3 {
		if !slices.Equal(a, noisyRun(t, 1)) {
			t.Fatal("the same seed gave another run")
		}
	}
	if slices.Equal(a, noisyRun(t, 2)) {
		t.Error("another seed gave the same run")
	}
}
