package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"kneesweep/load"
	"kneesweep/workload"
)

// Config is how Local holds a level. Sender and Source are required.
type Config struct {
	Sender       Sender
	Source       workload.Source
	Sink         Sink
	Epoch        time.Time     // offsets count from here; must be the Sender's own epoch
	Warmup       int           // discarded requests per visit, at least
	Window       time.Duration // 0 = per level: the larger of 1 s and half the median E2E
	Think        time.Duration // pause of a worker between two requests
	MaxErrorRate float64       // a visit that passes it ends early
	Seed         uint64
	Health       *Health // watches the measuring process; nil = not watched

	After After // what an earlier process measured

	// Probe asks the server how it is, twice a second; nil = not asked. It must return
	// soon after its context ends.
	Probe func(context.Context) (load.Server, error)
}

// Validate reports every problem of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	if c.Sender == nil || c.Source == nil {
		errs = append(errs, errors.New("sweep: Sender and Source are required"))
	}
	if c.Warmup < 0 {
		errs = append(errs, fmt.Errorf("--warmup: %d is negative", c.Warmup))
	}
	if c.Window < 0 {
		errs = append(errs, fmt.Errorf("--window: %v is negative", c.Window))
	}
	if c.Think < 0 {
		errs = append(errs, fmt.Errorf("--think: %v is negative", c.Think))
	}
	if c.MaxErrorRate < 0 || c.MaxErrorRate > 1 {
		errs = append(errs, fmt.Errorf("--max-error-rate: %g, need 0…1 or a percentage", c.MaxErrorRate))
	}
	return errors.Join(errs...)
}

// Local is the Stepper that drives its Sender from this process: a pool of
// workers, one per stream, that lives across visits. Levels are raised without
// draining; lowering retires workers as their request ends. Hold must not be
// called concurrently; Status may be called at any time.
type Local struct {
	cfg     Config
	ctx     context.Context // of every request; canceled by Close
	cancel  context.CancelFunc
	workers errgroup.Group
	events  *queue
	drained chan struct{} // the collector has ended
	changed chan struct{} // buffered 1: a request ended, or a back-off began

	chunks   atomic.Int64          // token-bearing chunks so far
	inFlight atomic.Int64          // changed under mu, read without it by the collector
	meter    atomic.Pointer[meter] // of the visit that is running now

	mu       sync.Mutex
	nextID   int64
	target   int // workers wanted; whoever ends a request while there are more retires
	alive    int
	nextSlot int
	visit    *visit
	visits   int
	windows  map[int]time.Duration // length chosen per level, so that all passes agree
	prevP95  time.Duration         // p95 E2E of the previous visit; 0 = none
}

// NewLocal checks cfg and starts the collector. Close must be called.
func NewLocal(cfg Config) (*Local, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Sink == nil {
		cfg.Sink = func(Event) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Local{
		cfg: cfg, ctx: ctx, cancel: cancel,
		events:  newQueue(),
		drained: make(chan struct{}),
		changed: make(chan struct{}, 1),
		windows: cfg.After.lengths(), visits: len(cfg.After.Visits), nextID: cfg.After.Requests,
	}
	go l.collect()
	if cfg.Probe != nil {
		l.workers.Go(func() error { l.probe(); return nil })
	}
	return l, nil
}

// Close stops every worker at once, waits for them and for the sinks. What was
// in flight reaches the sinks as canceled samples with the chunks that arrived.
func (l *Local) Close() {
	l.mu.Lock()
	l.target = 0
	l.mu.Unlock()
	l.cancel()
	_ = l.workers.Wait() // workers return no errors
	l.events.end()
	<-l.drained
}

// collect hands events to the sinks, and a beat every second.
func (l *Local) collect() {
	defer close(l.drained)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for more := true; more; {
		select {
		case <-l.events.ready:
			var list []Event
			list, more = l.events.take()
			for _, e := range list {
				if e.taken != nil {
					close(e.taken)
					continue
				}
				l.cfg.Sink(e)
			}
		case <-tick.C:
			l.cfg.Sink(Event{Beat: &load.Beat{At: l.now(), InFlight: int(l.inFlight.Load())}})
		}
	}
}

// arrived counts a chunk in the visit that is running now, whichever sent it.
func (l *Local) arrived(at time.Duration) {
	l.chunks.Add(1)
	l.meter.Load().arrived(at)
}

// now is the time since the epoch.
func (l *Local) now() time.Duration { return time.Since(l.cfg.Epoch) }

// Hold sets the level, warms it up, measures its windows and returns; workers
// go on at the level until the next Hold or Close. The sinks have taken all that
// happened by then. It returns an error only when the level cannot be held at all.
func (l *Local) Hold(ctx context.Context, level load.Level) (load.Visit, error) {
	if level.Concurrency < 1 || level.Windows < 1 {
		return load.Visit{}, fmt.Errorf("sweep: level %d with %d windows cannot be held", level.Concurrency, level.Windows)
	}
	v := l.begin(level)
	l.watch()
	l.warm(ctx, v)
	switch {
	case v.ended() != "":
	case level.Requests > 0:
		l.measureRequests(ctx, v)
	default:
		l.measure(ctx, v)
	}
	out := l.finish(v)
	taken := make(chan struct{})
	l.events.put(Event{taken: taken})
	<-taken
	return out, nil
}

// begin opens a visit and brings the pool to its level.
func (l *Local) begin(level load.Level) *visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := newVisit(load.Visit{Index: l.visits, Level: level, Started: l.now(), Ended: load.EndedRunning})
	if l.visits == len(l.cfg.After.Visits) {
		v.seq = [2]int{l.cfg.After.Asked, l.cfg.After.Asked}
	}
	l.visits++
	if l.visit != nil {
		v.inBackoff = l.visit.inBackoff // who waits now leaves the back-off of this visit
	}
	l.visit = v
	l.meter.Store(&v.meter)
	l.target = level.Concurrency
	l.report(v)
	for l.alive < l.target {
		slot := l.nextSlot
		l.nextSlot++
		l.alive++
		l.workers.Go(func() error { l.work(slot); return nil })
	}
	return v
}

// watch judges the process from now on: the measured part of a visit, or all of one that
// does not come so far.
func (l *Local) watch() {
	if l.cfg.Health != nil {
		l.cfg.Health.begin()
	}
}

// finish closes a visit and reports its last state.
func (l *Local) finish(v *visit) load.Visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.out.Ended == load.EndedRunning {
		v.out.Ended = v.hopeless()
	}
	v.tick(l.now())
	v.out.Backoff = v.backoff
	v.out.Live = v.live()
	if l.cfg.Health != nil {
		v.out.Client = l.cfg.Health.end()
	}
	l.prevP95 = v.p95()
	l.report(v)
	return v.out
}

// report sends the state of a visit to the sinks.
func (l *Local) report(v *visit) {
	out := v.out
	out.Windows = append([]load.Span(nil), out.Windows...)
	l.events.put(Event{Visit: &out})
}
