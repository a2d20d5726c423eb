package sweep_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

// open runs an open loop in a bubble.
func open(t *testing.T, s *sender, streams int, process pace.Process, warmup, measured time.Duration) (samples []load.Sample, phase load.OpenPhase) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.epoch = time.Now()
		var mem sweep.Memory
		o := sweep.Open{Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Sink: mem.Take, Epoch: s.epoch, Streams: streams}
		var err error
		if phase, err = o.Run(t.Context(), process, warmup, measured); err != nil {
			t.Fatal(err)
		}
		samples = mem.Samples
	})
	slices.SortFunc(samples, func(a, b load.Sample) int { return int(a.Scheduled.V - b.Scheduled.V) })
	return samples, phase
}

func takes(life time.Duration) *sender {
	return &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return life / 2, life, ""
	}}
}

// Waiting inside the client is part of the latency from the schedule
// (vllm-project/vllm#54101): two streams of 500 ms serve four requests a second, and
// ten a second arrive.
func TestOpenLoopShowsTheWaitInTheClient(t *testing.T) {
	samples, phase := open(t, takes(500*time.Millisecond), 2, &pace.Constant{Rate: 10}, 0, 2*time.Second+time.Millisecond)
	if phase.Arrivals != 20 || phase.Waited != 18 || phase.Unsent == 0 || len(samples)+phase.Unsent != 20 {
		t.Fatalf("%+v, %d samples", phase, len(samples))
	}
	for i, s := range samples {
		scheduled := time.Duration(i+1) * 100 * time.Millisecond
		late := time.Duration(i/2)*500*time.Millisecond + 100*time.Millisecond*time.Duration(1+i%2) - scheduled
		if s.Scheduled.V != scheduled || s.FromSchedule().V != late {
			t.Errorf("request %d was meant for %v and sent %v later, want %v", i, s.Scheduled.V, s.FromSchedule().V, late)
		}
		if s.TTFT().V != 250*time.Millisecond {
			t.Errorf("request %d: TTFT from the send %v", i, s.TTFT().V)
		}
	}
}

// TestOpenLoopIsPunctual: answers that never come in time delay no arrival while
// there are streams.
func TestOpenLoopIsPunctual(t *testing.T) {
	process := pace.NewPoisson(200, rand.New(rand.NewPCG(1, 2)))
	samples, phase := open(t, takes(time.Second), 1000, process, time.Second, 4*time.Second)
	if phase.Waited != 0 || phase.Unsent != 0 || phase.Arrivals < 700 || phase.Arrivals > 900 {
		t.Errorf("%+v", phase)
	}
	inside := 0
	for _, s := range samples {
		if s.FromSchedule().V != 0 {
			t.Fatalf("sent %v late", s.FromSchedule().V)
		}
		if s.Warmup == phase.Measured.Holds(s.Scheduled.V) {
			t.Fatalf("scheduled at %v, warm-up %v", s.Scheduled.V, s.Warmup)
		}
		if !s.Warmup {
			inside++
		}
	}
	if inside != phase.Arrivals {
		t.Errorf("%d requests of %d arrivals", inside, phase.Arrivals)
	}
}

// TestOpenLoopEndsWithItsContext at once, and with its process.
func TestOpenLoopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := takes(time.Hour)
		s.epoch = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		o := sweep.Open{Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Epoch: s.epoch, Streams: 5}
		if _, err := o.Run(ctx, &pace.Constant{Rate: 10}, 0, time.Hour); err != nil || time.Since(s.epoch) != 3*time.Second {
			t.Errorf("ended after %v, %v", time.Since(s.epoch), err)
		}
	})
	samples, phase := open(t, takes(time.Second), 5, pace.NewTrace([]time.Duration{time.Hour, time.Hour + time.Second}, 1), 0, 10*time.Second)
	if len(samples) != 2 || phase.Arrivals != 2 || samples[1].Scheduled.V-samples[0].Scheduled.V != time.Second {
		t.Errorf("%d samples, %+v", len(samples), phase)
	}
}

// TestOpenLoopAgainstTheEndpointsLog: at 80 % of what the endpoint can serve the
// queueing is the endpoint's own, to the nanosecond, and the throughput that of the
// arrivals.
func TestOpenLoopAgainstTheEndpointsLog(t *testing.T) {
	const slots, output, step = 8, 20, 10 * time.Millisecond
	capacity := float64(slots) / (output * step.Seconds())
	for seed := range uint64(5) {
		var mem sweep.Memory
		var log []*sim.Entry
		var epoch time.Time
		synctest.Test(t, func(t *testing.T) {
			e, err := sim.New(sim.Config{Slots: slots, StepBase: step, OutputTokens: output, Seed: seed, Log: true})
			if err != nil {
				t.Fatal(err)
			}
			epoch = time.Now()
			e.SetEpoch(epoch)
			o := sweep.Open{Sender: e, Source: workload.Synthetic{InputTokens: 1, OutputTokens: output, Seed: seed}, Sink: mem.Take, Epoch: epoch, Streams: 500}
			phase, err := o.Run(t.Context(), pace.NewPoisson(0.8*capacity, rand.New(rand.NewPCG(seed, 9))), 2*time.Second, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			phase.Windows = 10
			mem.Open = []load.OpenPhase{phase}
			log = e.Log()
			e.Close()
		})
		byArrival := map[time.Duration]time.Duration{} // first token by arrival
		for _, entry := range log {
			if len(entry.Events) > 0 {
				byArrival[entry.Arrived.Sub(epoch)] = entry.Events[0].At.Sub(epoch)
			}
		}
		waited := 0
		for _, s := range mem.Samples {
			if s.Failed() {
				continue
			}
			first, known := byArrival[s.Scheduled.V]
			if !known || s.Chunks[0].At != first {
				t.Fatalf("request of %v: first token at %v, by the endpoint's log at %v (%v)", s.Scheduled.V, s.Chunks[0].At, first, known)
			}
			if s.TTFT().V > 2*step {
				waited++
			}
		}
		if waited == 0 {
			t.Error("nothing queued at 80 % of the capacity")
		}
		c := analysis.Analyze(analysis.Data{Samples: mem.Samples})
		if c.Confirm != nil {
			t.Error("a confirmation without a phase")
		}
	}
}
