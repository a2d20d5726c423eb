// Package accuracy measures the product against its own simulated endpoint: it
// runs real sweeps, in virtual time, and compares the knee that the analysis
// finds with the one that the endpoint was built with.
package accuracy

import (
	"context"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// Setting is one cell of the study.
type Setting struct {
	Slots     int
	Levels    []int
	Noise     float64       // CV of a window's throughput
	Drift     float64       // change of the endpoint's speed over the sweep
	DriftOver time.Duration // length of the sweep
	Step      time.Duration
	Slowdown  time.Duration // added to a step for each request in it: the ramp bends
	Even      bool          // steps of equal length, without jitter
	Output    int
	Window    time.Duration
}

// Endpoint returns the simulated endpoint of a setting.
func (s Setting) Endpoint(seed uint64) sim.Config {
	jitter := 0.20
	if s.Even {
		jitter = 0
	}
	return sim.Config{
		Slots: s.Slots, StepBase: s.Step, StepPerSequence: s.Slowdown, OutputTokens: s.Output, StepJitter: jitter,
		Noise: s.Noise, NoiseWindow: s.Window, Drift: s.Drift, DriftOver: s.DriftOver, Seed: seed,
	}
}

// How every sweep of the study measures.
const (
	Measurements = 10
	Passes       = 2
	warmup       = 5
)

// Grid is the policy of fixed levels of a setting.
func (s Setting) Grid(seed uint64) sweep.Policy {
	return sweep.Grid{Levels: s.Levels, Measurements: Measurements, Passes: Passes, Seed: seed}
}

// Sweep runs one sweep of sender and returns its account. Call it inside a
// synctest bubble.
func Sweep(sender sweep.Sender, epoch time.Time, s Setting, policy sweep.Policy, seed uint64) (analysis.Data, error) {
	var mem sweep.Memory
	local, err := sweep.NewLocal(sweep.Config{
		Sender: sender, Source: workload.Synthetic{InputTokens: 1, OutputTokens: s.Output, Seed: seed},
		Sink: mem.Take, Epoch: epoch, Warmup: warmup, Window: s.Window, MaxErrorRate: 0.05, Seed: seed,
	})
	if err != nil {
		return analysis.Data{}, err
	}
	out, err := sweep.Run(context.Background(), local, policy)
	local.Close()
	if err != nil {
		return analysis.Data{}, err
	}
	run := load.Run{
		Seed: seed, Status: out.Status, StopReason: out.Reason,
		Request:  load.RequestShape{InputTokensAsked: 1, OutputTokensAsked: s.Output, Stream: true},
		Settings: load.Settings{Window: s.Window, Measurements: Measurements, Passes: Passes, Warmup: warmup, MaxErrorRate: 0.05},
	}
	return analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples}, nil
}
