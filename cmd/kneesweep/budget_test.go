package main

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
	"kneesweep/sweep"
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
