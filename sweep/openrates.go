package sweep

import (
	"context"
	"math"
	"sync"
	"time"

	"kneesweep/load"
	"kneesweep/sweep/pace"
)

// Rates is a sweep over offered rates: an open loop at each, in passes up, down and then
// shuffled, the windows of a rate shared out among them. Like a level of [Grid] a rate
// that fails is a lid. It must not be used by two sweeps.
type Rates struct {
	Open         Open
	Offered      []float64 // requests/s, ascending
	Process      func(rate float64, pass int) pace.Process
	Measurements int           // windows per rate, over all passes
	Passes       int           // at least 1
	Window       time.Duration // 0 = per rate: the larger of 1 s, half the median E2E and ten arrivals
	Warmup       int           // discarded requests per phase, at least
	Answer       time.Duration // how long an answer takes, until it is known better
	MaxErrorRate float64
	Seed         uint64
	Health       *Health                                     // watches the measuring process; nil = not watched
	Began        func(p load.OpenPhase, until time.Duration) // called when a phase begins; nil = nobody asks

	windows map[float64]time.Duration // chosen per rate, so that all passes agree
	tally   *openTally
}

const (
	perWindow  = 10 // arrivals of a window, on average, at least
	warmAnswer = 3  // answers of a stream that a warm-up lasts, as in a closed loop
	leastGrace = 2 * time.Second
)

// Plan returns the phases in order: of each level its Concurrency is the index of a rate,
// counted from 1.
func (r *Rates) Plan() []load.Level {
	g := Grid{Measurements: r.Measurements, Passes: r.Passes, Seed: r.Seed}
	for i := range r.Offered {
		g.Levels = append(g.Levels, i+1)
	}
	return g.Plan()
}

// Run holds every rate.
func (r *Rates) Run(ctx context.Context) (Outcome, error) {
	r.windows = map[float64]time.Duration{}
	var lid lid
	for i, level := range r.Plan() {
		if lid.forbids(level.Concurrency) {
			continue
		}
		if ctx.Err() != nil {
			return Outcome{load.StatusInterrupted, "interrupted"}, nil
		}
		p, err := r.hold(ctx, i, level)
		if err != nil {
			return Outcome{load.StatusStopped, err.Error()}, err
		}
		if p.Ended == load.EndedInterrupted {
			return Outcome{load.StatusInterrupted, "interrupted"}, nil
		}
		lid.note(&load.Visit{Level: level, Ended: p.Ended})
		if lid.inRow == 2 {
			return stopped("two rates in a row ended as %s, the last at %.6g requests/s", p.Ended, p.Rate), nil
		}
	}
	if lid.level > 0 {
		return stopped("rates from %.6g requests/s on ended as %s", r.Offered[lid.level-1], lid.ended), nil
	}
	return Outcome{Status: load.StatusComplete}, nil
}

// hold runs one phase and reports how it ended.
func (r *Rates) hold(ctx context.Context, index int, level load.Level) (load.OpenPhase, error) {
	rate := r.Offered[level.Concurrency-1]
	r.tally = &openTally{limit: r.MaxErrorRate}
	window := r.window(rate)
	warmup := max(warmAnswer*r.Answer, seconds(float64(r.Warmup)/rate))
	measured := time.Duration(level.Windows) * window
	begin := time.Since(r.Open.Epoch)
	running := load.OpenPhase{
		Index: index, Rate: rate, Streams: r.Open.Streams, Pass: level.Pass, Started: begin, Windows: level.Windows,
		Measured: load.Span{From: begin + warmup, To: begin + warmup + measured}, Ended: load.EndedRunning,
	}
	r.report(running)
	if r.Began != nil {
		r.Began(running, warmup+measured)
	}
	o := r.Open
	o.Index, o.Pass = index, index
	o.Ended = r.tally.add
	o.Grace = max(leastGrace, warmAnswer*r.Answer)
	if r.Health != nil {
		r.Health.begin()
	}
	p, err := o.Run(ctx, r.Process(rate, level.Pass), warmup, measured)
	if err != nil {
		return p, err
	}
	p.Rate, p.Pass, p.Windows, p.Ended = rate, level.Pass, level.Windows, r.tally.ended()
	if ctx.Err() != nil {
		p.Ended = load.EndedInterrupted
	}
	if r.Health != nil {
		p.Client = r.Health.end()
	}
	if p.Ended != "" {
		cut(&p, window)
	}
	if answer := r.tally.p95(); answer > 0 {
		r.Answer = answer
	}
	r.report(p)
	return p, nil
}

// window is the length of the windows of a rate.
func (r *Rates) window(rate float64) time.Duration {
	if r.Window > 0 {
		return r.Window
	}
	if _, known := r.windows[rate]; !known {
		r.windows[rate] = max(time.Second, r.Answer/2, seconds(perWindow/rate))
	}
	return r.windows[rate]
}

// report sends the state of a phase to the sinks.
func (r *Rates) report(p load.OpenPhase) {
	if r.Open.Sink != nil {
		r.Open.Sink(Event{Open: &p})
	}
}

// cut takes away the windows that had not passed when a phase ended early.
func cut(p *load.OpenPhase, window time.Duration) {
	whole := int((p.Measured.To - p.Measured.From) / window)
	p.Windows = min(p.Windows, whole)
	p.Measured.To = p.Measured.From + time.Duration(p.Windows)*window
}

// seconds is a duration of so many seconds, at most about a year.
func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, 3e7) * float64(time.Second))
}

// openTally is the account of a phase by which it may have to end early.
type openTally struct {
	limit float64

	mu                      sync.Mutex
	good, failed, throttled int
	e2e                     []time.Duration
}

// add counts a request; true if too many have failed.
func (t *openTally) add(s *load.Sample) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case s.Cause == load.CauseCanceled:
	case s.Failed():
		t.failed++
		if s.Status == 429 || s.RetryAfter.OK {
			t.throttled++
		}
	default:
		t.good++
		t.e2e = append(t.e2e, s.E2E())
	}
	return t.over()
}

// over reports whether the limit on the error rate is passed on enough requests.
func (t *openTally) over() bool {
	all := t.good + t.failed
	return t.failed >= 5 && all >= 20 && float64(t.failed) > t.limit*float64(all)
}

// ended is how the phase ended: not well if it was cut short by failures, or if nothing
// but failures came.
func (t *openTally) ended() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.over() && (t.failed == 0 || t.good > 0):
		return ""
	case 2*t.throttled >= t.failed:
		return load.EndedThrottled
	}
	return load.EndedFailing
}

func (t *openTally) p95() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return quantile(t.e2e, 0.95)
}
