package nightly

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"kneesweep/record/history"
)

const (
	leaseLength = 5 * time.Minute
	renewal     = time.Minute
	grace       = 10 * time.Minute // a start that is later than this is missed
	longestNap  = time.Minute      // a clock that was set, or a host that slept, is noticed this late at most
	mostMissed  = 1000             // starts written for one gap
	writeTime   = time.Minute      // to write what became of a start, after the end of the context too
)

// The outcomes of a start.
const (
	Running = "running"
	Done    = "done"
	Failed  = "failed"
	Missed  = "missed"  // nobody was there to start it
	Skipped = "skipped" // the last one still ran, or another host swept the target
)

// Job is a sweep that is started again and again.
type Job struct {
	Name     string // unique in the history
	Schedule Schedule
	Jitter   time.Duration // a start is delayed by a random part of it
	Target   string        // no two sweeps of one target run at once
	// Run sweeps once. The context ends when the lease of the target is lost. An
	// error says in words, without secrets, why there is no good result.
	Run func(ctx context.Context, due time.Time) error
}

// Loop starts jobs. Two sweeps of one loop never run at once: they would disturb
// each other's figures. A later one waits.
type Loop struct {
	DB   *history.DB
	Host string // who holds leases; unique to the process
	Log  *slog.Logger

	machine chan struct{} // holds the job that sweeps
}

// Run starts jobs when they are due, until the context ends, and waits for what
// runs then. What was due since the last start that the history knows, while
// nobody was there, is written down as missed.
func (l *Loop) Run(ctx context.Context, jobs []Job) error {
	l.machine = make(chan struct{}, 1)
	var all sync.WaitGroup
	errs := make([]error, len(jobs))
	for i, j := range jobs {
		all.Go(func() { errs[i] = l.serve(ctx, j) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (l *Loop) serve(ctx context.Context, j Job) error {
	last, known, err := l.DB.LastStart(ctx, j.Name)
	if err != nil {
		return err
	}
	due := j.Schedule.Next(time.Now())
	if known {
		due = l.pass(ctx, j, last, Missed, "nobody was there to start it")
	}
	for !due.IsZero() {
		l.Log.Info("next start", "job", j.Name, "due", due)
		if !until(ctx, due.Add(jitter(j, l.Host, due))) {
			return nil
		}
		if late := time.Since(due) - j.Jitter; late > grace {
			l.note(ctx, history.Start{Job: j.Name, Due: due, Outcome: Missed, Note: fmt.Sprintf("the host slept until %v later", late.Round(time.Second))})
		} else {
			l.start(ctx, j, due)
		}
		due = l.pass(ctx, j, due, Skipped, "the last one still ran")
	}
	return nil
}

// pass writes down the due times after one up to now, and returns the next.
func (l *Loop) pass(ctx context.Context, j Job, after time.Time, outcome, why string) time.Time {
	due := j.Schedule.Next(after)
	for n := 0; !due.IsZero() && !due.After(time.Now()); n++ {
		if n == mostMissed {
			return j.Schedule.Next(time.Now())
		}
		l.note(ctx, history.Start{Job: j.Name, Due: due, Outcome: outcome, Note: why})
		due = j.Schedule.Next(due)
	}
	return due
}

// note writes a start that did not happen.
func (l *Loop) note(ctx context.Context, s history.Start) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	s.Host = l.Host
	if claimed, err := l.DB.ClaimStart(ctx, s); err != nil {
		l.Log.Error("not written down", "job", s.Job, "due", s.Due, "err", err)
	} else if claimed {
		l.Log.Warn(s.Outcome, "job", s.Job, "due", s.Due, "why", s.Note)
	}
}

// start runs a job that is due, unless another host has taken this start.
func (l *Loop) start(ctx context.Context, j Job, due time.Time) {
	select {
	case <-ctx.Done():
		return
	case l.machine <- struct{}{}:
	}
	defer func() { <-l.machine }()
	s := history.Start{Job: j.Name, Due: due, Host: l.Host, Outcome: Running}
	claimed, err := l.DB.ClaimStart(ctx, s)
	switch {
	case err != nil: // without the history nobody knows who else sweeps
		l.Log.Error("not started", "job", j.Name, "due", due, "err", err)
		return
	case !claimed:
		l.Log.Info("taken by another host", "job", j.Name, "due", due)
		return
	}
	err = l.Once(ctx, j, due)
	s.Outcome = Done
	switch {
	case errors.As(err, new(Held)):
		s.Outcome, s.Note = Skipped, err.Error()
	case err != nil:
		s.Outcome, s.Note = Failed, err.Error()
	}
	l.Log.Info(s.Outcome, "job", j.Name, "due", due, "why", s.Note)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	if err := l.DB.EndStart(ctx, s); err != nil {
		l.Log.Error("not written down", "job", j.Name, "due", due, "err", err)
	}
}

// until waits for a time of the wall clock; false when the context ends first.
func until(ctx context.Context, at time.Time) bool {
	at = at.Round(0) // the monotonic clock stands still while a host sleeps
	for {
		left := at.Sub(time.Now().Round(0))
		if left <= 0 {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(left, longestNap)):
		}
	}
}

// jitter is the delay of a start, another one on each host.
func jitter(j Job, host string, due time.Time) time.Duration {
	if j.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", host, j.Name)
	return time.Duration(rand.New(rand.NewPCG(h.Sum64(), uint64(due.Unix()))).Int64N(int64(j.Jitter)))
}
