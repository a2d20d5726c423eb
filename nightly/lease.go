package nightly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kneesweep/record/history"
)

// Held is the error for a target that somebody else sweeps.
type Held struct{ Lease history.Lease }

func (h Held) Error() string {
	return fmt.Sprintf("%s is being swept by %s, whose lease ends at %s", h.Lease.Target, h.Lease.Holder, h.Lease.Expires.Format(time.RFC3339))
}

var errLost = errors.New("the lease of the target was lost, so that another host may sweep it")

// Once runs a job under the lease of its target, now. Its error is [Held] when
// somebody else has it, and else that of the job. A sweep whose lease cannot be
// prolonged is ended before it expires.
func (l *Loop) Once(ctx context.Context, j Job, due time.Time) error {
	want := func() history.Lease {
		return history.Lease{Target: j.Target, Holder: l.Host, Expires: time.Now().Add(leaseLength)}
	}
	held, err := l.DB.Acquire(ctx, want(), time.Now())
	switch {
	case err != nil:
		return err
	case held.Holder != l.Host:
		return Held{held}
	}
	run, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(run, cancel, held, want)
	}()
	err = j.Run(run, due)
	if lost := context.Cause(run); errors.Is(lost, errLost) {
		err = errors.Join(lost, err)
	}
	cancel(nil)
	<-renewed
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	if rerr := l.DB.Release(ctx, held); rerr != nil {
		l.Log.Warn("the lease ends by itself", "target", j.Target, "err", rerr)
	}
	return err
}

// renew prolongs a lease until the context ends, and ends it when it is lost.
func (l *Loop) renew(ctx context.Context, cancel context.CancelCauseFunc, held history.Lease, want func() history.Lease) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(renewal):
		}
		next := want()
		attempt, stop := context.WithTimeout(ctx, renewal)
		got, err := l.DB.Acquire(attempt, next, time.Now())
		stop()
		switch {
		case err == nil && got.Holder == l.Host:
			held = got
		case ctx.Err() != nil:
			return
		case err == nil, time.Until(held.Expires) < 2*renewal: // taken, or no longer sure
			cancel(errLost)
			return
		}
	}
}
