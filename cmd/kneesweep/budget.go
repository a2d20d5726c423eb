package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"kneesweep/sweep"
)

var errTokenBudget = errors.New("the token budget is used up")

// budget bounds the time and the tokens of a sweep. Its methods are safe for
// concurrent use.
type budget struct {
	time   time.Duration
	tokens int
	least  int // that an attempt costs, whatever the server counts

	began  time.Time
	used   atomic.Int64
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// start begins to count. The context ends with the cause when a budget is used up;
// stop must be called.
func (b *budget) start(parent context.Context) (ctx context.Context, stop func()) {
	ctx, b.cancel = context.WithCancelCause(parent)
	b.began = time.Now()
	b.timer = time.AfterFunc(b.time, func() { b.cancel(fmt.Errorf("the time budget of %v is used up", b.time)) })
	return ctx, func() { b.timer.Stop(); b.cancel(nil) }
}

// take is a sink.
func (b *budget) take(e sweep.Event) {
	if e.Sample == nil {
		return
	}
	prompt := max(e.Sample.PromptTokens.V, (1+e.Sample.Retries)*b.least)
	if b.used.Add(int64(e.Sample.OutputTokens+prompt)) > int64(b.tokens) {
		b.cancel(errTokenBudget)
	}
}

// spent is the share used up of the budget that is nearer to its end.
func (b *budget) spent() float64 {
	return max(float64(b.used.Load())/float64(b.tokens), time.Since(b.began).Seconds()/b.time.Seconds())
}
