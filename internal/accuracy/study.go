// Package accuracy measures the product against its own simulated endpoint: it
// runs real sweeps, in virtual time, and compares the knee that the analysis
// finds with the one that the endpoint was built with.
package accuracy

import (
	"cmp"
	"context"
	"fmt"
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
	Lengths   workload.Length // of answers, drawn in place of Output; nil = all alike

	Input   int           // tokens of a prompt; 0 = 1
	Prefill time.Duration // of a prompt token
	Rate    float64       // requests/s admitted, more get 429; 0 = unlimited
	Cache   string        // cold or warm prompts; empty = as they are

	Refusals float64 // error rate that a level may have; 0 = 5 %
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
		Prefill: s.Prefill, RateLimit: s.Rate, RateBurst: max(1, int(s.Rate/10)),
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
	local, err := s.local(sender, epoch, &mem, seed)
	if err != nil {
		return analysis.Data{}, err
	}
	out, err := sweep.Run(context.Background(), local, policy)
	local.Close()
	if err != nil {
		return analysis.Data{}, err
	}
	return s.data(&mem, out, seed), nil
}

// local drives a sender as every sweep of the study does.
func (s Setting) local(sender sweep.Sender, epoch time.Time, mem *sweep.Memory, seed uint64) (*sweep.Local, error) {
	source, err := s.source(sender, seed)
	if err != nil {
		return nil, err
	}
	return sweep.NewLocal(sweep.Config{
		Sender: sender, Source: source,
		Sink: mem.Take, Epoch: epoch, Warmup: warmup, Window: s.Window, MaxErrorRate: cmp.Or(s.Refusals, 0.05), Seed: seed,
	})
}

// source is what is asked. If that is to be warm, all of it is sent once.
func (s Setting) source(sender sweep.Sender, seed uint64) (workload.Source, error) {
	words := workload.Synthetic{InputTokens: max(1, s.Input), OutputTokens: s.Output, Output: s.Lengths, Seed: seed}
	switch s.Cache {
	case load.CacheCold:
		return workload.Cold{Prompts: words, Run: "study"}, nil
	case load.CacheWarm:
		warm := workload.Warm{Prompts: words}
		for _, p := range warm.Fill() {
			if got := sender.Send(context.Background(), p); got.Failed() {
				return nil, fmt.Errorf("filling the cache: %s %s", got.Cause, got.Error)
			}
		}
		return warm, nil
	}
	return words, nil
}

// data is the account of a sweep.
func (s Setting) data(mem *sweep.Memory, out sweep.Outcome, seed uint64) analysis.Data {
	run := load.Run{
		Seed: seed, Status: out.Status, StopReason: out.Reason,
		Request:  load.RequestShape{InputTokensAsked: max(1, s.Input), OutputTokensAsked: s.Output, Stream: true, CacheMode: s.Cache},
		Settings: load.Settings{Window: s.Window, Measurements: Measurements, Passes: Passes, Warmup: warmup, MaxErrorRate: cmp.Or(s.Refusals, 0.05)},
	}
	return analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples}
}

// Interleaved runs one sweep of several senders in turn and returns the account of
// each. Call it inside a synctest bubble.
func Interleaved(senders []sweep.Sender, epoch time.Time, s Setting, seed uint64) ([]analysis.Data, error) {
	memories, locals := make([]sweep.Memory, len(senders)), make([]sweep.Resting, len(senders))
	for i, sender := range senders {
		local, err := s.local(sender, epoch, &memories[i], seed)
		if err != nil {
			return nil, err
		}
		defer local.Close()
		locals[i] = local
	}
	grid := sweep.Grid{Levels: s.Levels, Measurements: Measurements, Passes: Passes, Seed: seed}
	outcomes, err := sweep.Interleave(context.Background(), grid, locals, nil)
	if err != nil {
		return nil, err
	}
	all := make([]analysis.Data, len(senders))
	for i := range all {
		all[i] = s.data(&memories[i], outcomes[i], seed)
	}
	return all, nil
}
