package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// TestBudget ends a sweep when its time or its tokens are used up, and not before.
func TestBudget(t *testing.T) {
	sample := func(prompt load.Opt[int], output, retries int) sweep.Event {
		return sweep.Event{Sample: &load.Sample{PromptTokens: prompt, OutputTokens: output, Retries: retries}}
	}
	synctest.Test(t, func(t *testing.T) {
		b := &budget{time: time.Minute, tokens: 1000, least: 10}
		ctx, stop := b.start(t.Context())
		defer stop()
		b.take(sweep.Event{Beat: &load.Beat{}})
		b.take(sample(load.Some(100), 400, 0))
		if got := b.spent(); got != 0.5 || ctx.Err() != nil {
			t.Errorf("spent %v of the tokens, %v", got, ctx.Err())
		}
		time.Sleep(45 * time.Second)
		if got := b.spent(); math.Abs(got-0.75) > 1e-9 || ctx.Err() != nil {
			t.Errorf("spent %v of the time, %v", got, ctx.Err())
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if cause := context.Cause(ctx); cause == nil || cause.Error() != "the time budget of 1m0s is used up" {
			t.Errorf("after a minute: %v", cause)
		}
	})
	b := &budget{time: time.Hour, tokens: 1000, least: 10}
	ctx, stop := b.start(t.Context())
	defer stop()
	for range 33 { // failed requests that the server counts as nothing, each tried three times
		b.take(sample(load.Opt[int]{}, 0, 2))
	}
	if ctx.Err() != nil {
		t.Errorf("990 tokens of 1000: %v", context.Cause(ctx))
	}
	if b.take(sample(load.Opt[int]{}, 1, 0)); !errors.Is(context.Cause(ctx), errTokenBudget) {
		t.Errorf("1001 tokens of 1000: %v", context.Cause(ctx))
	}
}

// exhaust lets a sweep that chooses its levels run on a simulated endpoint until its
// budget ends, in virtual time.
func exhaust(t *testing.T, b *budget, input, output, slots int, step, window time.Duration) (samples []load.Sample, end sweep.Outcome, took time.Duration, cause error) {
	t.Helper()
	var mem sweep.Memory
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(sim.Config{Slots: slots, StepBase: step, OutputTokens: output, StepJitter: 0.1, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		epoch := time.Now()
		e.SetEpoch(epoch)
		ctx, stop := b.start(t.Context())
		local, err := sweep.NewLocal(sweep.Config{
			Sender: e, Source: workload.Synthetic{InputTokens: input, OutputTokens: output, Seed: 1}, Sink: sweep.Tee(mem.Take, b.take),
			Epoch: epoch, Warmup: 5, Window: window, MaxErrorRate: 0.05, Seed: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		plan := levelPlan{levels: []int{256}, adaptive: true, precision: 1e-9, measurements: 10, passes: 2, seed: 1}
		if end, err = sweep.Run(ctx, local, plan.policy(b.spent, nil)); err != nil {
			t.Fatal(err)
		}
		took, cause = time.Since(epoch), context.Cause(ctx)
		local.Close()
		stop()
		e.Close()
	})
	return mem.Samples, end, took, cause
}

// TestBudgetsEndASweep: a sweep that chooses its levels goes over neither budget by
// more than one window.
func TestBudgetsEndASweep(t *testing.T) {
	const window, output, slots = time.Second, 20, 24
	step := 10 * time.Millisecond
	perWindow := int(float64(slots) * window.Seconds() / step.Seconds()) // tokens, on the plateau
	for _, c := range []struct {
		name   string
		time   time.Duration
		tokens int
	}{
		{"time", 37 * time.Second, 1 << 30}, {"a little time", 1500 * time.Millisecond, 1 << 30},
		{"tokens", time.Hour, 50_000}, {"a few tokens", time.Hour, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &budget{time: c.time, tokens: c.tokens, least: 1}
			samples, end, took, _ := exhaust(t, b, 1, output, slots, step, window)
			spent := 0
			for _, s := range samples {
				spent += s.PromptTokens.V + max(s.OutputTokens, len(s.Chunks))
			}
			t.Logf("%v, %d tokens, %+v", took, spent, end)
			if end.Status != load.StatusInterrupted {
				t.Errorf("ended as %+v before its budget was used up", end)
			}
			if took > c.time+window || spent > c.tokens+perWindow {
				t.Errorf("took %v of %v and %d tokens of %d", took, c.time, spent, c.tokens)
			}
		})
	}
}
