package sweep

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kneesweep/load"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

// Open is the open loop: requests are sent when a process says so, whatever became
// of those before. Sender and Source are required.
type Open struct {
	Sender  Sender
	Source  workload.Source
	Sink    Sink
	Epoch   time.Time // offsets count from here; must be the Sender's own epoch
	Streams int       // most requests in flight; arrivals beyond wait for one to end
	Pass    int       // of the prompts, so that they repeat none of an earlier phase
}

// Run lets requests arrive for warmup and then for as long as measured, or until the
// process ends, and waits for the answers. Samples carry the time at which they were
// meant to be sent. A context that ends stops everything at once.
func (o Open) Run(ctx context.Context, arrivals pace.Process, warmup, measured time.Duration) (load.OpenPhase, error) {
	if o.Sender == nil || o.Source == nil || o.Streams < 1 || measured <= 0 {
		return load.OpenPhase{}, errors.New("sweep: an open loop needs a Sender, a Source, streams and a time")
	}
	if o.Sink == nil {
		o.Sink = func(Event) {}
	}
	begin := time.Since(o.Epoch)
	r := &openRun{Open: o, free: make(chan struct{}, o.Streams)}
	r.phase.Streams = o.Streams
	r.phase.Measured = load.Span{From: begin + warmup, To: begin + warmup + measured}
	var workers errgroup.Group
	at := begin
	for seq := 0; ctx.Err() == nil; seq++ {
		gap, ok := arrivals.Next()
		if at += gap; !ok || at >= r.phase.Measured.To {
			break
		}
		if wait(ctx, at-time.Since(o.Epoch)); ctx.Err() != nil {
			break
		}
		r.arrive(ctx, &workers, at, seq)
	}
	wait(ctx, r.phase.Measured.To-time.Since(o.Epoch))
	r.end()
	return r.phase, workers.Wait()
}

// noVisit is the visit of what was sent outside of all.
const noVisit = -1

// openRun is the state of a run.
type openRun struct {
	Open
	free chan struct{} // holds one for each stream in use

	mu    sync.Mutex
	phase load.OpenPhase
	over  bool
}

// arrive sends a request as soon as a stream is free. Its goroutine waits, so the
// next arrival is never late for it.
func (r *openRun) arrive(ctx context.Context, workers *errgroup.Group, at time.Duration, seq int) {
	counts := r.phase.Measured.Holds(at)
	late := false
	select {
	case r.free <- struct{}{}:
	default:
		late = true
	}
	r.mu.Lock()
	if counts {
		r.phase.Arrivals++
		if late {
			r.phase.Waited++
		}
	}
	r.mu.Unlock()
	workers.Go(func() error {
		if late && !r.queue(ctx, counts) {
			return nil
		}
		p := r.Source.Prompt(workload.Key{Concurrency: r.Streams, Pass: r.Pass, Warmup: !counts, Seq: seq, Stream: seq})
		p.ID = int64(seq + 1)
		s := r.Sender.Send(ctx, p)
		<-r.free
		s.Scheduled, s.Warmup, s.Visit = load.Some(at), !counts, noVisit
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Sink(Event{Sample: &s})
		return nil
	})
}

// queue waits for a free stream; false if the phase ends before.
func (r *openRun) queue(ctx context.Context, counts bool) bool {
	select {
	case r.free <- struct{}{}:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil && !r.over {
		return true
	}
	if counts {
		r.phase.Unsent++
	}
	if ctx.Err() == nil {
		<-r.free
	}
	return false
}

// end lets no arrival be sent any more that has waited until now.
func (r *openRun) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
