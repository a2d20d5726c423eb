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
	Epoch   time.Time     // offsets count from here; must be the Sender's own epoch
	Streams int           // most requests in flight; arrivals beyond wait for one to end
	Pass    int           // of the prompts, so that they repeat none of an earlier phase
	Index   int           // of the phase
	Grace   time.Duration // requests still in flight so long after the end are canceled; 0 = all are waited for

	Whole bool // every arrival is waited for and sent, and the measured span ends with the last answer

	// Sleep waits for the next arrival, or until the context ends; nil = a timer. See [Punctual].
	Sleep func(context.Context, time.Duration)

	// Ended, if set, is called with every request that ended. It returns true when the
	// phase must end early, and must be safe for concurrent use.
	Ended func(*load.Sample) bool
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
	if o.Sleep == nil {
		o.Sleep = wait
	}
	begin := time.Since(o.Epoch)
	r := &openRun{Open: o, free: make(chan struct{}, o.Streams), events: newQueue()}
	r.ctx, r.cancel = context.WithCancel(ctx)
	defer r.cancel()
	r.coming, r.stop = context.WithCancel(r.ctx)
	defer r.stop()
	r.phase.Streams, r.phase.Index, r.phase.Started = o.Streams, o.Index, begin
	r.phase.Measured = load.Span{From: begin + warmup, To: begin + warmup + measured}
	drained := make(chan struct{})
	go func() { defer close(drained); r.collect() }()
	r.arrivals(arrivals, begin)
	if o.Whole {
		_ = r.workers.Wait() // workers return no errors
		r.phase.Measured.To = time.Since(o.Epoch)
	} else {
		wait(r.coming, r.phase.Measured.To-time.Since(o.Epoch))
	}
	r.end()
	r.drain()
	r.events.end()
	<-drained
	return r.phase, nil
}

// noVisit is the visit of what the first phase sent; later ones count on downwards.
const noVisit = -1

// openRun is the state of a run.
type openRun struct {
	Open
	ctx     context.Context // of every request
	cancel  context.CancelFunc
	coming  context.Context // while requests arrive
	stop    context.CancelFunc
	free    chan struct{} // holds one for each stream in use
	workers errgroup.Group
	events  *queue // a sink must not make an arrival late

	mu    sync.Mutex
	phase load.OpenPhase
	over  bool
}

// collect hands samples to the sink, in the order in which they ended.
func (r *openRun) collect() {
	for more := true; more; {
		<-r.events.ready
		var list []Event
		list, more = r.events.take()
		for _, e := range list {
			r.Sink(e)
		}
	}
}

// arrivals starts each request at its time, until the next one lies past the measured span.
func (r *openRun) arrivals(process pace.Process, at time.Duration) {
	for seq := 0; r.coming.Err() == nil; seq++ {
		gap, ok := process.Next()
		if at += gap; !ok || at >= r.phase.Measured.To {
			break
		}
		if r.Sleep(r.coming, at-time.Since(r.Epoch)); r.coming.Err() != nil {
			break
		}
		r.arrive(at, seq)
	}
}

// drain waits for what is in flight, as long as it is given.
func (r *openRun) drain() {
	if r.Grace > 0 {
		timer := time.AfterFunc(r.Grace, r.cancel)
		defer timer.Stop()
	}
	_ = r.workers.Wait() // workers return no errors
}

// arrive sends a request as soon as a stream is free. Its goroutine waits, so the
// next arrival is never late for it.
func (r *openRun) arrive(at time.Duration, seq int) {
	counts := r.phase.Measured.Holds(at)
	late := false
	select {
	case r.free <- struct{}{}:
	default:
		late = true
	}
	if counts {
		r.mu.Lock()
		r.phase.Arrivals++
		if late {
			r.phase.Waited++
		}
		r.mu.Unlock()
	}
	r.workers.Go(func() error {
		if late && !r.queue(counts) {
			return nil
		}
		p := r.Source.Prompt(workload.Key{Concurrency: r.Streams, Pass: r.Pass, Warmup: !counts, Seq: seq, Stream: seq})
		p.ID = int64(r.Index)<<32 + int64(seq+1)
		s := r.Sender.Send(r.ctx, p)
		<-r.free
		s.Scheduled, s.Warmup, s.Visit = load.Some(at), !counts, noVisit-r.Index
		r.events.put(Event{Sample: &s})
		if r.Ended != nil && r.Ended(&s) {
			r.stop()
		}
		return nil
	})
}

// queue waits for a free stream; false if the phase ends before.
func (r *openRun) queue(counts bool) bool {
	held := false
	select {
	case r.free <- struct{}{}:
		held = true
	case <-r.coming.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if held && !r.over {
		return true
	}
	if counts {
		r.phase.Unsent++
	}
	if held {
		<-r.free
	}
	return false
}

// end lets no arrival be sent any more that has waited until now, and notes how far
// the phase came.
func (r *openRun) end() {
	r.mu.Lock()
	r.over = true
	r.phase.Measured.To = max(r.phase.Measured.From, min(r.phase.Measured.To, time.Since(r.Epoch)))
	r.mu.Unlock()
	r.stop()
}
