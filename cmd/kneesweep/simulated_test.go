package main

import (
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/report"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// simulatedCurve is the curve.json of a sweep in virtual time, which no busy machine
// disturbs: 24 slots, steps of 4 ms and answers of 40 tokens, so 6,000 tokens/s and 150
// requests/s at most.
func simulatedCurve(t *testing.T) (path string) {
	t.Helper()
	const input, output, window, warmup = 64, 40, 500 * time.Millisecond, 5
	run := load.Run{
		Seed: 1, Status: load.StatusComplete, Request: load.RequestShape{InputTokensAsked: input, OutputTokensAsked: output, Stream: true},
		Settings: load.Settings{Window: window, Measurements: 10, Passes: 2, Warmup: warmup, MaxErrorRate: 0.05},
	}
	var mem sweep.Memory
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(sim.Config{Slots: 24, StepBase: 4 * time.Millisecond, OutputTokens: output, Noise: 0.02, NoiseWindow: window, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		epoch := time.Now()
		e.SetEpoch(epoch)
		local, err := sweep.NewLocal(sweep.Config{
			Sender: e, Source: workload.Synthetic{InputTokens: input, OutputTokens: output, Seed: 1}, Sink: mem.Take,
			Epoch: epoch, Warmup: warmup, Window: window, MaxErrorRate: 0.05, Seed: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sweep.Run(t.Context(), local, sweep.Grid{Levels: []int{1, 4, 8, 16, 24, 32, 48}, Measurements: 10, Passes: 2, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		local.Close()
		e.Close()
	})
	doc, err := report.MarshalCurve(analysis.Analyze(analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples}))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, curveFile, string(doc))
}
