package sweep_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/sweep"
)

// TestProbe asks the server twice a second while the sweep runs, and gives up on
// one that says nothing.
func TestProbe(t *testing.T) {
	var asked atomic.Int64
	answer := func(context.Context) (load.Server, error) {
		return load.Server{Running: load.Some(float64(asked.Add(1)))}, nil
	}
	level := load.Level{Concurrency: 2, Windows: 10}
	s := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return 10 * time.Millisecond, 100 * time.Millisecond, ""
	}}
	mem, visits := hold(t, s, sweep.Config{Window: time.Second, Warmup: 2, Probe: answer}, level)
	if n := len(mem.Server); n < 20 || n > 22 || len(visits[0].Windows) != 10 {
		t.Errorf("%d readings in ten seconds, %d windows", n, len(visits[0].Windows))
	}
	asked.Store(0)
	silent := func(context.Context) (load.Server, error) {
		asked.Add(1)
		return load.Server{}, errors.New("nothing")
	}
	mem, _ = hold(t, s, sweep.Config{Window: time.Second, Warmup: 2, Probe: silent}, level)
	if n := asked.Load(); n != 10 || len(mem.Server) != 0 {
		t.Errorf("a silent server was asked %d times and gave %d readings", n, len(mem.Server))
	}
	slow := func(ctx context.Context) (load.Server, error) {
		<-ctx.Done()
		return load.Server{}, ctx.Err()
	}
	if _, visits = hold(t, s, sweep.Config{Window: time.Second, Warmup: 2, Probe: slow}, level); len(visits[0].Windows) != 10 {
		t.Error("a server that is late with its metrics disturbs the sweep")
	}
}
