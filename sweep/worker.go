package sweep

import (
	"math"
	"math/rand/v2"
	"time"

	"kneesweep/load"
	"kneesweep/workload"
)

const (
	backoffFirst = 100 * time.Millisecond
	backoffMax   = 5 * time.Second
	jitterStream = 0x6a69 << 32 // streams of the workers' back-off jitter
)

// work is one stream: requests one after the other until it is retired.
func (l *Local) work(slot int) {
	rng := rand.New(rand.NewPCG(l.cfg.Seed, jitterStream|uint64(slot)))
	var ready load.Opt[time.Duration] // when this worker could have sent its next request
	var drain time.Duration           // from then until it had a connection to send it on
	failures := 0
	for {
		p, v, warmup, ok := l.next(slot)
		if !ok {
			return
		}
		s := l.cfg.Sender.Send(l.ctx, p)
		s.Visit, s.Warmup = v.out.Index, warmup
		if ready.OK {
			s.Dispatch, s.Drain = load.Some(s.Sent-ready.V), drain
		}
		pause := l.cfg.Think
		failed := s.Failed()
		if failed {
			pause = backoff(&s, failures, rng)
			failures++
		} else {
			failures = 0
		}
		end := s.End
		drain = max(0, l.now()-end)
		l.spread(&s)
		l.ended(slot, &s)
		l.events.put(Event{Sample: &s})
		if l.ctx.Err() != nil {
			return
		}
		if pause > 0 {
			wait(l.ctx, pause)
			end, drain = l.now(), 0
		}
		if failed {
			l.returns()
		}
		ready = load.Some(end)
	}
}

// spread counts the tokens of an answer that came in one piece evenly over its
// life, for the live steady test and the progress.
func (l *Local) spread(s *load.Sample) {
	if len(s.Chunks) > 0 || s.Failed() {
		return
	}
	n := s.OutputTokens
	for i := range n {
		l.arrived(s.Sent + time.Duration((float64(i)+0.5)/float64(n)*float64(s.E2E())))
	}
}

// backoff is the wait after a failed request: the larger of Retry-After and
// 100 ms · 2^k after k earlier failures in a row, at most 5 s, with a jitter of
// up to a quarter so that workers do not return together.
func backoff(s *load.Sample, k int, rng *rand.Rand) time.Duration {
	d := backoffMax
	if k < 16 {
		d = min(backoffMax, time.Duration(float64(backoffFirst)*math.Exp2(float64(k))))
	}
	if s.RetryAfter.OK {
		d = min(backoffMax, max(d, s.RetryAfter.V))
	}
	return min(backoffMax, d+time.Duration(rng.Float64()*float64(d)/4))
}

// next gives a worker its next prompt; false retires it.
func (l *Local) next(slot int) (p load.Prompt, v *visit, warmup, ok bool) {
	l.mu.Lock()
	if l.alive > l.target {
		l.alive--
		delete(l.visit.slots, slot)
		l.mu.Unlock()
		l.signal()
		return p, nil, false, false
	}
	v = l.visit
	warmup = v.warming
	key := workload.Key{Concurrency: v.out.Level.Concurrency, Pass: v.out.Level.Pass, Warmup: warmup, Seq: v.nextSeq()}
	key.Stream, key.Turn = v.nextTurn(slot)
	l.nextID++
	id := l.nextID
	l.inFlight.Add(1)
	l.mu.Unlock()
	p = l.cfg.Source.Prompt(key)
	p.ID = id
	p.Arrived = l.arrived
	return p, v, warmup, true
}

// ended accounts for a request of a worker in the visit that is running now. With
// a failure its back-off begins: whoever looks at the visit must see both or
// neither, or a dead endpoint could pass for warm.
func (l *Local) ended(slot int, s *load.Sample) {
	l.mu.Lock()
	l.inFlight.Add(-1)
	l.visit.add(slot, s, l.alive <= l.target)
	if s.Failed() {
		l.shiftBackoff(1)
	}
	l.mu.Unlock()
	l.signal()
}

// returns ends the back-off of a worker.
func (l *Local) returns() {
	l.mu.Lock()
	l.shiftBackoff(-1)
	l.mu.Unlock()
	l.signal()
}

// shiftBackoff changes the number of workers in back-off, which is accounted to the
// visit that is running now. It needs mu.
func (l *Local) shiftBackoff(by int) {
	l.visit.tick(l.now())
	l.visit.inBackoff += by
}

func (l *Local) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}
