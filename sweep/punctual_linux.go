package sweep

import (
	"context"
	"syscall"
	"time"
)

// timerGrain is by how much a timer of the runtime may be late on an idle machine, which
// waits for it in whole milliseconds.
const timerGrain = 2 * time.Millisecond

// Punctual sleeps for d to some 0.1 ms, where a timer is late by up to 1 ms, or until ctx
// ends. It knows no virtual time.
func Punctual(ctx context.Context, d time.Duration) {
	until := time.Now().Add(d)
	wait(ctx, d-timerGrain)
	for rest := time.Until(until); rest > 0 && ctx.Err() == nil; rest = time.Until(until) {
		ts := syscall.NsecToTimespec(int64(rest))
		_ = syscall.Nanosleep(&ts, nil) // a signal may cut it short
	}
}
