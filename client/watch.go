package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"kneesweep/load"
)

// watch ends a request that has been silent for too long. It has one timer for the
// whole request: an event only moves the deadline, and the timer that fires early
// sets itself again.
type watch struct {
	now      func() time.Duration
	cancel   context.CancelFunc
	deadline atomic.Int64 // time.Duration since the epoch

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
	cause load.Cause // what it means if the deadline passes now
	fired load.Cause
}

// phase starts a new stretch of waiting: limit from now, and cause if it passes.
func (w *watch) phase(limit time.Duration, cause load.Cause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.cause = limit, cause
	w.deadline.Store(int64(w.now() + limit))
	if w.timer == nil {
		w.timer = time.AfterFunc(limit, w.ring)
		return
	}
	w.timer.Reset(limit)
}

// touch says that at time at the wait began anew.
func (w *watch) touch(at time.Duration) { w.deadline.Store(int64(at + w.limit)) }

func (w *watch) ring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := time.Duration(w.deadline.Load()) - w.now()
	if left > 0 {
		w.timer.Reset(left)
		return
	}
	w.fired = w.cause
	w.cancel()
}

// over returns the cause for which the watch ended the request, if it did.
func (w *watch) over() load.Cause {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// giveUp ends the request at once for the given cause.
func (w *watch) giveUp(cause load.Cause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fired = cause
	w.cancel()
}
