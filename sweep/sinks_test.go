package sweep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// A sink that cannot keep up holds up no stream, and gets everything in the end.
func TestSlowSinkStallsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sender{epoch: time.Now(), answer: steadyAnswer(20*time.Millisecond, 100*time.Millisecond)}
		var mem sweep.Memory
		slow := func(e sweep.Event) {
			if e.Sample != nil {
				time.Sleep(5 * time.Millisecond) // 200 samples/s of the 640
			}
		}
		l, err := sweep.NewLocal(sweep.Config{
			Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Epoch: s.epoch, Warmup: 5, Window: time.Second,
			MaxErrorRate: 0.05, Sink: sweep.Tee(mem.Take, slow),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Hold(t.Context(), load.Level{Concurrency: 64, Windows: 10}); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if n := int(s.sent.Load()); len(mem.Samples) != n {
			t.Errorf("%d requests sent, %d reached the sinks", n, len(mem.Samples))
		}
		for _, m := range mem.Samples {
			if m.Dispatch.V != 0 {
				t.Fatalf("a stream waited %v between two requests", m.Dispatch.V)
			}
		}
		step := analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples})[0]
		if step.InFlight.Mean < 63.9 || step.Throughput.V.Value < 1279 {
			t.Errorf("%.4g in flight, %.4g tokens/s", step.InFlight.Mean, step.Throughput.V.Value)
		}
	})
}

// The part of a gap in which the last answer still held its connection is told apart.
func TestDrainIsPartOfTheGap(t *testing.T) {
	const held = 30 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		inner := &sender{epoch: time.Now(), answer: steadyAnswer(20*time.Millisecond, 100*time.Millisecond)}
		for _, think := range []time.Duration{0, 50 * time.Millisecond} {
			var mem sweep.Memory
			l, err := sweep.NewLocal(sweep.Config{
				Sender: lingering{inner, held}, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Epoch: inner.epoch, Warmup: 5,
				Window: time.Second, Think: think, MaxErrorRate: 0.05, Sink: mem.Take,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Hold(t.Context(), load.Level{Concurrency: 2, Windows: 2}); err != nil {
				t.Fatal(err)
			}
			l.Close()
			want := held
			if think > 0 {
				want = 0 // the pause begins when the connection is free
			}
			for _, m := range mem.Samples[2:] {
				if m.Dispatch.V != want || m.Drain != want {
					t.Fatalf("think %v: gap %v, of it %v for the connection, want %v", think, m.Dispatch.V, m.Drain, want)
				}
			}
		}
	})
}

// lingering holds the connection of an answer for a while after its end.
type lingering struct {
	*sender
	by time.Duration
}

func (l lingering) Send(ctx context.Context, p load.Prompt) load.Sample {
	s := l.sender.Send(ctx, p)
	select {
	case <-time.After(l.by):
	case <-ctx.Done():
	}
	return s
}
