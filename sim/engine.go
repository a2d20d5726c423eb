package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// engine is the batching loop. Requests wait in a FIFO queue; at each step
// boundary those that fit are admitted; every running sequence then emits in
// the same instant, as on a real engine.
type engine struct {
	cfg   Config
	start time.Time
	wake  chan struct{} // buffered 1: something was queued
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	queue   []*request
	running []*request
	kv      int
	cache   *prefixCache // nil = none
	faults  *rand.Rand
	others  *rand.Rand // of fallbacks
	bucket  float64    // tokens of the rate limit
	filled  time.Time
	log     []*Entry
}

func newEngine(cfg Config) *engine {
	e := &engine{
		cfg: cfg, start: time.Now(),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		faults: rand.New(rand.NewPCG(cfg.Seed, streamFaults)),
		others: rand.New(rand.NewPCG(cfg.Seed, streamFallback)),
		bucket: float64(cfg.RateBurst),
	}
	e.filled = e.start
	if cfg.PrefixCache > 0 {
		e.cache = newPrefixCache(cfg.PrefixCache)
	}
	go e.loop()
	return e
}

// close stops the loop and waits for it; requests in flight get no more tokens.
func (e *engine) close() {
	close(e.quit)
	<-e.done
}

// loop runs steps while there is work.
func (e *engine) loop() {
	defer close(e.done)
	z := newNoise(e.cfg, e.start)
	for {
		select {
		case <-e.quit:
			return
		case <-e.wake:
		}
		begin := time.Now()
		for {
			// The shortest sleep lets everything that happens in this instant
			// join the batch: in virtual time it makes admission deterministic.
			time.Sleep(time.Nanosecond)
			n, prompt := e.admit(begin)
			if n == 0 {
				break
			}
			nominal := e.cfg.StepBase + time.Duration(n)*e.cfg.StepPerSequence + time.Duration(prompt)*e.cfg.Prefill
			end := begin.Add(z.stretch(begin, nominal))
			if !e.sleepUntil(end) {
				return
			}
			e.emit()
			begin = end
			if late := time.Since(end); late > 100*time.Millisecond {
				begin = time.Now() // a stalled process must not replay the steps it missed
			}
		}
	}
}

func (e *engine) sleepUntil(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.quit:
		return false
	}
}

// admit moves requests from the queue to the batch and returns the size of the
// batch and the prompt tokens admitted that no cache had.
func (e *engine) admit(now time.Time) (n, prompt int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(&e.queue, false)
	e.drop(&e.running, true)
	for len(e.queue) > 0 {
		r := e.queue[0]
		if e.cache != nil {
			r.cached = min(e.cache.known(r.blocks), max(0, r.promptTokens-1)) // the last token is always computed
		}
		if len(e.running) >= e.cfg.Slots {
			break
		}
		if e.cfg.KVTokens > 0 && e.kv+r.need() > e.cfg.KVTokens && len(e.running) > 0 {
			break
		}
		e.queue[0] = nil
		e.queue = e.queue[1:]
		e.kv += r.need()
		e.running = append(e.running, r)
		r.worse = e.cfg.WorseAbove > 0 && len(e.running) > e.cfg.WorseAbove
		if e.cache != nil {
			e.cache.keep(r.blocks)
		}
		prompt += r.promptTokens - r.cached
		r.admitted(now)
	}
	return len(e.running), prompt
}

// drop removes requests whose client went away.
func (e *engine) drop(list *[]*request, running bool) {
	kept := (*list)[:0]
	for _, r := range *list {
		if !r.gone() {
			kept = append(kept, r)
			continue
		}
		if running {
			e.kv -= r.need()
		}
	}
	clear((*list)[len(kept):])
	*list = kept
}

// emit gives every running sequence its tokens of this step.
func (e *engine) emit() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	kept := e.running[:0]
	for _, r := range e.running {
		if r.step(now, e.cfg.TokensPerChunk) {
			kept = append(kept, r)
			continue
		}
		e.kv -= r.need()
	}
	clear(e.running[len(kept):])
	e.running = kept
}

// submit queues a request, or refuses it: status 0 means queued.
func (e *engine) submit(r *request) (status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.arrived = time.Now()
	if e.cfg.Log {
		r.entry = &Entry{Arrived: r.arrived, PromptTokens: r.promptTokens, HiddenTokens: r.hidden}
		e.log = append(e.log, r.entry)
	}
	switch {
	case !e.rateAllows(r.arrived):
		status = 429
	case e.cfg.Queue > 0 && len(e.queue) >= e.cfg.Queue:
		status = 503
	default:
		if r.fault = e.drawFault(); r.fault == faultReject {
			status = 500
		}
	}
	if status != 0 {
		if r.entry != nil {
			r.entry.Status = status
		}
		return status
	}
	r.model = e.drawModel()
	e.queue = append(e.queue, r)
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return 0
}

// rateAllows takes one token from the bucket of the rate limit.
func (e *engine) rateAllows(now time.Time) bool {
	if e.cfg.RateLimit <= 0 {
		return true
	}
	e.bucket = min(float64(e.cfg.RateBurst), e.bucket+now.Sub(e.filled).Seconds()*e.cfg.RateLimit)
	e.filled = now
	if e.bucket < 1-1e-9 {
		return false
	}
	e.bucket--
	return true
}

type fault uint8

const (
	faultNone fault = iota
	faultReject
	faultStallFirst
	faultStall
	faultTruncate
	faultStreamError
)

// drawModel draws the model that answers the next request.
func (e *engine) drawModel() string {
	if p := e.cfg.Faults.Fallback; p > 0 && e.others.Float64() < p {
		return FallbackModel
	}
	return e.cfg.Model
}

// drawFault draws at most one fault for the next request.
func (e *engine) drawFault() fault {
	f := e.cfg.Faults
	if f.Fallback = 0; f == (Faults{}) {
		return faultNone
	}
	u := e.faults.Float64()
	for i, p := range []float64{f.Reject, f.StallFirst, f.Stall, f.Truncate, f.StreamError} {
		if u < p {
			return faultReject + fault(i)
		}
		u -= p
	}
	return faultNone
}
