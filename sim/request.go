package sim

import (
	"context"
	"sync"
	"time"
)

// Entry is what the endpoint did for one request, by its own clock.
type Entry struct {
	Arrived      time.Time
	Admitted     time.Time // zero if it never left the queue
	PromptTokens int
	CachedTokens int // of those
	HiddenTokens int
	Status       int       // HTTP status of a refusal; 0 = served
	Events       []Emit    // visible chunks
	Ended        time.Time // last event of a complete answer
}

// Emit is one visible chunk as it was sent.
type Emit struct {
	At     time.Time
	Tokens int
}

// request is one sequence inside the engine.
type request struct {
	ctx          context.Context
	promptTokens int
	blocks       []uint64 // of the prompt, for the prefix cache
	worse        bool     // the batch was too large to answer well; set at admission
	cached       int      // prompt tokens that it had at admission
	hidden       int      // tokens still to be generated unseen, then
	visible      int      // tokens of the answer
	fault        fault
	model        string // that answers
	arrived      time.Time
	entry        *Entry     // nil without a log
	onEmit       func(Emit) // takes the events instead of events below; called by the engine, must not block

	// The engine's own account, guarded by engine.mu.
	hiddenDone, visibleDone int

	mu     sync.Mutex
	events []Emit
	isOpen bool // admitted: the first bytes may go out
	ended  bool
	notify chan struct{} // buffered 1: events, isOpen or ended changed
}

func newRequest(ctx context.Context, prompt, hidden, visible int) *request {
	return &request{ctx: ctx, promptTokens: prompt, hidden: hidden, visible: max(1, visible), notify: make(chan struct{}, 1)}
}

// need is its room in the KV cache. What the prefix cache has lies there.
func (r *request) need() int { return r.promptTokens - r.cached + r.visible + r.hidden }

// word is the text of one token of the answer.
func (r *request) word() string {
	if r.worse {
		return worseWord
	}
	return word
}

func (r *request) gone() bool { return r.ctx.Err() != nil }

// admitted records that prefill began.
func (r *request) admitted(now time.Time) {
	if r.entry != nil {
		r.entry.Admitted, r.entry.CachedTokens = now, r.cached
	}
	if r.onEmit != nil {
		return
	}
	r.mu.Lock()
	r.isOpen = true
	r.mu.Unlock()
	r.signal()
}

// step generates up to g tokens and reports whether more are to come.
func (r *request) step(now time.Time, g int) bool {
	if r.hiddenDone < r.hidden {
		r.hiddenDone = min(r.hidden, r.hiddenDone+g)
		return true
	}
	if !r.muted() {
		e := Emit{At: now, Tokens: min(g, r.visible-r.visibleDone)}
		if r.entry != nil {
			r.entry.Events = append(r.entry.Events, e)
		}
		if r.onEmit != nil {
			r.onEmit(e)
		} else {
			r.mu.Lock()
			r.events = append(r.events, e)
			r.mu.Unlock()
		}
	}
	r.visibleDone = min(r.visible, r.visibleDone+g)
	more := r.visibleDone < r.visible
	if r.cutShort() {
		more = false
	}
	if !more {
		if r.entry != nil && r.fault == faultNone {
			r.entry.Ended = now
		}
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
	}
	if r.onEmit == nil || !more {
		r.signal()
	}
	return more
}

// muted reports whether a stall swallows the tokens from here on.
func (r *request) muted() bool {
	return r.fault == faultStallFirst || r.fault == faultStall && r.visibleDone > 0
}

// cutShort reports whether a fault ends the answer here.
func (r *request) cutShort() bool {
	return r.fault == faultTruncate && 2*r.visibleDone >= r.visible || r.fault == faultStreamError
}

// stalls reports whether the answer never ends by itself.
func (r *request) stalls() bool { return r.fault == faultStallFirst || r.fault == faultStall }

func (r *request) signal() {
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

// take returns the events since the last call, appended to buf, and the state.
func (r *request) take(buf []Emit) (events []Emit, open, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events = append(buf, r.events...)
	r.events = r.events[:0]
	return events, r.isOpen, r.ended
}
