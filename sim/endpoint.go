package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kneesweep/load"
)

// Endpoint is a running simulated endpoint. It is safe for concurrent use.
// Its ServeHTTP speaks the wire formats; its Send is the same endpoint
// without bytes.
type Endpoint struct {
	cfg    Config
	engine *engine
	epoch  time.Time
}

// New starts an endpoint. Close must be called to stop it.
func New(cfg Config) (*Endpoint, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("simulated endpoint: %w", err)
	}
	cfg = cfg.withDefaults()
	return &Endpoint{cfg: cfg, engine: newEngine(cfg), epoch: time.Now()}, nil
}

// Close stops the engine. Requests in flight end without further tokens when
// their context does.
func (e *Endpoint) Close() { e.engine.close() }

// SetEpoch sets the instant from which Send counts the times of its samples;
// by default that of New. Call it before Send.
func (e *Endpoint) SetEpoch(t time.Time) { e.epoch = t }

// Log returns what was sent so far, in order of arrival; empty without
// Config.Log. Call it when no request is in flight.
func (e *Endpoint) Log() []*Entry {
	e.engine.mu.Lock()
	defer e.engine.mu.Unlock()
	return append([]*Entry(nil), e.engine.log...)
}

// Send answers one prompt without bytes: the stamps of the sample are the
// engine's own. It fits sweep.Sender. A stalled answer lasts until ctx ends.
func (e *Endpoint) Send(ctx context.Context, p load.Prompt) load.Sample {
	s := load.Sample{ID: p.ID, Sent: time.Since(e.epoch), Reused: true, Protocol: "none", Clock: "user", Model: e.cfg.Model}
	visible := p.OutputTokens
	if visible == 0 {
		visible = e.cfg.OutputTokens
	}
	r := newRequest(ctx, p.InputTokens, e.cfg.HiddenTokens, visible)
	if e.cfg.PrefixCache > 0 {
		var prompt []string
		for _, m := range p.Messages {
			prompt = append(prompt, strings.Fields(m.Content)...)
		}
		r.blocks = blocks(prompt)
	}
	s.Chunks = make([]load.Chunk, 0, e.cfg.steps(visible))
	r.onEmit = func(m Emit) {
		c := load.Chunk{At: m.At.Sub(e.epoch)}
		if e.cfg.UsageInChunks {
			c.Tokens = int32(m.Tokens)
		}
		s.Chunks = append(s.Chunks, c)
		if p.Arrived != nil {
			p.Arrived(c.At)
		}
	}
	status := e.engine.submit(r)
	complete := status == 0 && e.await(r)
	e.release(r)
	s.End = time.Since(e.epoch)
	e.settle(&s, r, status, complete)
	e.count(&s, r)
	if p.Canary > 0 {
		s.Canary, s.AsExpected = p.Canary, !s.Failed() && p.Expected(strings.Repeat(r.word(), visible))
	}
	return s
}

// await waits for the end of an answer; false means that ctx ended first.
func (e *Endpoint) await(r *request) bool {
	for {
		if _, _, ended := r.take(nil); ended && !r.stalls() {
			return true
		}
		select {
		case <-r.notify:
		case <-r.ctx.Done():
			return false
		}
	}
}

// release makes sure that the engine no longer touches the sample of a request.
func (e *Endpoint) release(r *request) {
	e.engine.mu.Lock()
	defer e.engine.mu.Unlock()
	r.onEmit = nil
}

// settle fills in the outcome.
func (e *Endpoint) settle(s *load.Sample, r *request, status int, complete bool) {
	s.Status = 200
	if r.model != "" {
		s.Model = r.model
	}
	switch {
	case status != 0:
		s.Status, s.Cause, s.Error = status, load.HTTPCause(status), "refused by the simulated endpoint"
		if status == 429 && e.cfg.RetryAfter > 0 {
			s.RetryAfter = load.Some(wholeSeconds(e.cfg.RetryAfter))
		}
		return
	case !complete:
		s.Cause = load.CauseCanceled
	case r.fault == faultTruncate:
		s.Cause = load.CauseTruncated
	case r.fault == faultStreamError:
		s.Cause, s.Error = load.CauseStreamError, simulatedError
	}
	s.Streaming = true
	s.ContentAt = min(1, len(s.Chunks))
}

// count applies the endpoint's usage to a sample, as a client would read it.
func (e *Endpoint) count(s *load.Sample, r *request) {
	if s.Cause == "" {
		s.FinishReason = "length"
	}
	if len(s.Chunks) == 0 {
		return
	}
	visible := r.visible
	switch {
	case e.cfg.NoUsage || s.Failed() && !e.cfg.UsageInChunks:
		s.OutputTokens, s.TokenSource = len(s.Chunks), load.SourceEstimated
		return
	case s.Failed():
		visible = 0
		for _, c := range s.Chunks {
			visible += int(c.Tokens)
		}
	}
	s.OutputTokens, s.HiddenTokens = r.hidden+visible, r.hidden
	s.TokenSource = load.SourceServer
	s.PromptTokens = load.Some(r.promptTokens)
	if e.cfg.PrefixCache > 0 {
		s.CachedTokens = load.Some(r.cached)
	}
	if r.hidden > 0 {
		s.ReasoningTokens = load.Some(r.hidden)
	}
}

// wholeSeconds rounds up, as the Retry-After header must.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}
