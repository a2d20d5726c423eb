// Package sweep is the controller: it visits concurrency levels in the order of
// a policy and holds each in a closed loop of workers, through a discarded
// warm-up and a number of measurement windows. What it measures goes to sinks;
// it computes no figures of the result.
package sweep

import (
	"context"
	"slices"
	"sync"
	"time"

	"kneesweep/load"
)

// Sender is the system under test: one prompt in, one timed Sample out. A
// failed request is data, not an error. Send must be safe for concurrent use
// and return soon after ctx ends.
type Sender interface {
	Send(ctx context.Context, p load.Prompt) load.Sample
}

// Stepper holds one level. An error stops the sweep; a level that failed is a
// Visit whose Ended says why.
type Stepper interface {
	Hold(ctx context.Context, level load.Level) (load.Visit, error)
}

// Policy chooses the next level from what was measured so far, or ends the sweep.
// It is asked once after each visit. The zero Outcome means that the sweep goes on.
type Policy interface {
	Next(h History) (level load.Level, end Outcome)
}

// History is what a policy may look at.
type History struct {
	Visits []load.Visit // in the order made
}

// Event is one thing that happened in a sweep; exactly one field is set. A
// visit is sent when it begins, after each window and when it is over: the last
// one with an index counts.
type Event struct {
	Visit  *load.Visit
	Sample *load.Sample
	Beat   *load.Beat
	Server *load.Server
	Open   *load.OpenPhase

	taken chan<- struct{} // closed when all events before have been taken
}

// Sink takes the events of a sweep in order, from one goroutine.
type Sink func(Event)

// Tee sends every event to all sinks.
func Tee(sinks ...Sink) Sink {
	return func(e Event) {
		for _, s := range sinks {
			if s != nil {
				s(e)
			}
		}
	}
}

// Memory is a Sink that keeps visits and samples for the analysis. While a sweep
// runs its fields must not be touched; Snapshot is safe.
type Memory struct {
	Visits  []load.Visit // by index, the last state of each
	Samples []load.Sample
	Server  []load.Server
	Open    []load.OpenPhase // by index, the last state of each

	mu sync.Mutex
}

// Snapshot returns what is there so far. The samples must not be changed.
func (m *Memory) Snapshot() ([]load.Visit, []load.Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.Visits), slices.Clip(m.Samples)
}

// Take is the Sink.
func (m *Memory) Take(e Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Sample != nil:
		m.Samples = append(m.Samples, *e.Sample)
	case e.Visit != nil:
		m.Visits = load.UpsertVisit(m.Visits, *e.Visit)
	case e.Open != nil:
		m.Open = load.UpsertPhase(m.Open, *e.Open)
	case e.Server != nil:
		m.Server = append(m.Server, *e.Server)
	}
}

// Outcome says how a sweep ended.
type Outcome struct {
	Status load.Status
	Reason string // why it ended; may be empty when complete
}

// Run visits levels until the policy ends the sweep, a visit cannot be held, or ctx
// ends.
func Run(ctx context.Context, st Stepper, p Policy) (Outcome, error) {
	var h History
	for {
		if ctx.Err() != nil {
			return Outcome{load.StatusInterrupted, "interrupted"}, nil
		}
		level, end := p.Next(h)
		if end.Status != "" {
			return end, nil
		}
		v, err := st.Hold(ctx, level)
		if err != nil {
			return Outcome{load.StatusStopped, err.Error()}, err
		}
		h.Visits = append(h.Visits, v)
	}
}

// wait sleeps for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
