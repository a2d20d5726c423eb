package accuracy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/internal/accuracy"
	"kneesweep/sim"
	"kneesweep/sweep"
)

// levels is the grid of the study.
var levels = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// setting is a straight-ramp endpoint of k slots: 20-token answers, 10 ms a step.
func setting(k int) accuracy.Setting {
	return accuracy.Setting{
		Slots: k, Levels: levels, Noise: 0.10,
		Step: 10 * time.Millisecond, Output: 20, Window: 300 * time.Millisecond,
	}
}

// runSweep runs one whole sweep in virtual time, the endpoint being the Sender.
func runSweep(t *testing.T, s accuracy.Setting, seed uint64) (d analysis.Data) {
	t.Helper()
	return runPolicy(t, s, s.Grid(seed), seed)
}

// runPolicy is runSweep with levels chosen by a policy.
func runPolicy(t *testing.T, s accuracy.Setting, policy sweep.Policy, seed uint64) (d analysis.Data) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(s.Endpoint(seed))
		if err != nil {
			t.Fatal(err)
		}
		epoch := time.Now()
		e.SetEpoch(epoch)
		d, err = accuracy.Sweep(e, epoch, s, policy, seed)
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
	})
	return d
}

// length is the duration of a sweep of a setting without noise.
func length(t *testing.T, s accuracy.Setting) time.Duration {
	t.Helper()
	s.Noise, s.Drift = 0, 0
	d := runSweep(t, s, 1)
	w := d.Visits[len(d.Visits)-1].Windows
	return w[len(w)-1].To
}
