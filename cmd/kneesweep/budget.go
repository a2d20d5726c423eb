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

// budget bounds the time, the tokens and the money of a sweep. Its methods are safe
// for concurrent use.
type budget struct {
	time   time.Duration
	tokens int
	least  int // that an attempt costs, whatever the server counts
	money  moneyBudget

	began  time.Time
	used   atomic.Int64
	cancel context.CancelCauseFunc
}

// start begins to count. The context ends with the cause when a budget is used up;
// stop must be called.
func (b *budget) start(parent context.Context) (ctx context.Context, stop func()) {
	ctx, b.cancel = context.WithCancelCause(parent)
	b.began = time.Now()
	length, cause := b.time, fmt.Errorf("the time budget of %v is used up", b.time)
	if paid := b.money.paid(); paid > 0 && paid < length {
		length, cause = paid, b.money.over()
	}
	timer := time.AfterFunc(length, func() { b.cancel(cause) })
	return ctx, func() { timer.Stop(); b.cancel(nil) }
}

// take is a sink.
func (b *budget) take(e sweep.Event) {
	switch {
	case e.Visit != nil:
		b.money.hold(e.Visit.Level.Concurrency)
	case e.Sample != nil:
		prompt := max(e.Sample.PromptTokens.V, (1+e.Sample.Retries)*b.least)
		b.money.pay(prompt, e.Sample.CachedTokens.V, e.Sample.OutputTokens)
		if b.used.Add(int64(e.Sample.OutputTokens+prompt)) > int64(b.tokens) {
			b.cancel(errTokenBudget)
		}
	default:
		return
	}
	if b.money.share(b.least) >= 1 {
		b.cancel(b.money.over())
	}
}

// spent is the share used up of the budget that is nearest to its end.
func (b *budget) spent() float64 {
	elapsed := time.Since(b.began)
	share := max(float64(b.used.Load())/float64(b.tokens), elapsed.Seconds()/b.time.Seconds(), b.money.share(b.least))
	if paid := b.money.paid(); paid > 0 {
		share = max(share, elapsed.Seconds()/paid.Seconds())
	}
	return share
}
