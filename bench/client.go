package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A task is what a client does: streams closed loops against the source until the
// context ends.
type task struct {
	base    string // http://127.0.0.1:PORT
	streams int
	stamps  bool          // compare arrivals with the stamps of the source
	ramp    time.Duration // over which the streams start
}

// A client asks once and tells tally of every token-bearing event. An error after
// the end of ctx is none.
type client func(ctx context.Context, t *tally) error

// clients makes a client for a task.
var clients = map[string]func(task) client{
	product:                    ours,
	"net/http + encoding/json": ordinary,
	"go-openai":                sashabaranov,
	"openai-go":                openai,
}

// tally is what one stream has seen. It belongs to one goroutine.
type tally struct {
	Events    int64
	Coalesced int64           // events that came with an earlier one in the same read, where the client can tell
	errors    []time.Duration // arrival less the source's stamp, of events that did not
}

// result is what a client process prints.
type result struct {
	Events, Coalesced int64
	P50, P99          float64 // µs; −1 = not compared
	Objects           float64 // heap objects made per event, the request's own included
	MaxRSS            int64   // bytes
}

// run is the whole life of a client process.
func run(name string, t task, seconds float64, profile string) error {
	dial, ok := clients[name]
	if !ok {
		return fmt.Errorf("no client %q", name)
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ask := dial(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	tallies := make([]tally, t.streams)
	var loops sync.WaitGroup
	for i := range tallies {
		loops.Go(func() {
			time.Sleep(t.ramp * time.Duration(i) / time.Duration(t.streams))
			for ctx.Err() == nil {
				if err := ask(ctx, &tallies[i]); err != nil && ctx.Err() == nil {
					fmt.Fprintln(os.Stderr, name+":", err)
					os.Exit(1)
				}
			}
		})
	}
	loops.Wait()
	return json.NewEncoder(os.Stdout).Encode(sum(tallies))
}

func sum(tallies []tally) (r result) {
	var errors []time.Duration
	for i := range tallies {
		t := &tallies[i]
		r.Events += t.Events
		r.Coalesced += t.Coalesced
		errors = append(errors, t.errors...)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Objects = float64(m.Mallocs) / float64(r.Events)
	slices.Sort(errors)
	r.P50, r.P99 = quantile(errors, 0.50), quantile(errors, 0.99)
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		r.MaxRSS = u.Maxrss << 10
	}
	return r
}

// quantile of ascending times, in µs.
func quantile(v []time.Duration, q float64) float64 {
	if len(v) == 0 {
		return -1
	}
	i := min(len(v)-1, int(math.Floor(q*float64(len(v)))))
	return float64(v[i]) / 1e3
}

// sentAt reads the stamp at the end of an event's content: CLOCK_MONOTONIC in ns.
func sentAt(content string) time.Duration {
	var v int64
	for _, c := range content[len(content)-stampDigits:] {
		v = v*10 + int64(c-'0')
	}
	return time.Duration(v)
}

const (
	stampDigits    = 19
	clockMonotonic = 1 // CLOCK_MONOTONIC
)

// monotonic returns CLOCK_MONOTONIC, the clock of the source's stamps.
func monotonic() time.Duration { return begun + time.Since(epoch) }

// epoch is a moment on Go's clock, and begun the same moment on CLOCK_MONOTONIC.
var epoch, begun = joinClocks()

// joinClocks reads both clocks until a pair was read fast.
func joinClocks() (time.Time, time.Duration) {
	var at time.Time
	var mono time.Duration
	best := time.Hour
	for range 1000 {
		before := time.Now()
		m := clockGettime(clockMonotonic)
		if took := time.Since(before); took < best {
			best, at, mono = took, before.Add(took/2), m
		}
	}
	return at, mono
}
