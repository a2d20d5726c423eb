package client

import (
	"time"

	"kneesweep/load"
)

// tally gathers the server's own token counts. Each keeps the largest value seen;
// what is absent or null says nothing.
type tally struct {
	prompt, completion, total, cached, reasoning load.Opt[int]
}

func largest(have *load.Opt[int], v count) {
	if v.ok && (!have.OK || v.n > have.V) {
		*have = load.Some(v.n)
	}
}

func (t *tally) take(u *usage) {
	if u.Prompt.n > 0 { // no prompt is empty
		largest(&t.prompt, u.Prompt)
	}
	largest(&t.completion, u.Completion)
	largest(&t.total, u.Total)
	largest(&t.reasoning, u.Reasoning)
	largest(&t.cached, u.CacheRead)
	largest(&t.cached, u.CacheInput)
	if u.PromptPart != nil {
		largest(&t.cached, u.PromptPart.Cached)
	}
	if u.CompletionPart != nil {
		largest(&t.reasoning, u.CompletionPart.Reasoning)
	}
}

// output returns the generated tokens, undefined if the server did not count them,
// and how many of them it billed as reasoning that may be hidden. A count of zero
// beside a streamed answer is no count.
//
// Most servers count reasoning within completion_tokens, some beside it. Which it is
// shows in the total: what the total holds beyond prompt and completion, up to the
// reasoning, is output too. Reasoning larger than the completion cannot lie within;
// it is added if no total says otherwise.
func (t *tally) output(pieces int) (n load.Opt[int], hidden int) {
	n = t.completion
	r := t.reasoning.V
	if n.OK && r > 0 {
		beside := r
		switch {
		case t.total.OK && t.prompt.OK:
			beside = min(max(t.total.V-t.prompt.V-n.V, 0), r)
		case r <= n.V, t.total.OK && t.total.V < n.V+r:
			beside = 0
		}
		hidden = r
		if r > n.V {
			hidden = beside
		}
		n.V += beside
	}
	if n.V == 0 && pieces > 0 {
		return load.Opt[int]{}, 0
	}
	return n, hidden
}

// events is what the frames of one answer added up to.
type events struct {
	tally      tally
	understood int
	pieces     int  // token-bearing frames, or 1 for a whole answer with text
	partial    bool // pieces came, and not only whole messages
	reasoned   bool // reasoning was streamed
	counted    int  // completion tokens that the chunks so far have accounted for
	gapless    bool // every chunk came with its own increment of usage
	text       []byte
}

// chunk notes a token-bearing event that arrived at time at.
func (x *exchange) chunk(at time.Duration) {
	e, s, d := &x.events, x.s, &x.decoded
	c := load.Chunk{At: at}
	if d.usage != nil && d.usage.Completion.ok {
		if n := e.tally.completion.V; n > e.counted {
			c.Tokens = int32(n - e.counted)
			e.counted = n
		}
	}
	e.gapless = c.Tokens > 0 && (e.gapless || len(s.Chunks) == 0)
	e.pieces++
	if len(s.Chunks) > 0 && x.in.batch == x.tokenBatch {
		s.Coalesced++
	}
	x.tokenBatch = x.in.batch
	if x.in.kernel {
		x.lags.Add(x.in.lag)
	}
	if len(s.Chunks) == 0 {
		x.watch.phase(x.c.cfg.TimeoutIdle, load.CauseTimeoutIdle)
	}
	s.Chunks = append(s.Chunks, c)
	if d.content && s.ContentAt == 0 {
		s.ContentAt = len(s.Chunks)
	}
	if x.p.Arrived != nil {
		x.p.Arrived(at)
	}
}

// note takes what every frame may say: counts, model, reason, text.
func (x *exchange) note() {
	x.events.understood++
	if !x.stencil.fitted { // a frame like an earlier one but for its text brings nothing else
		x.learn()
	}
	if x.c.cfg.KeepText || x.p.Canary > 0 {
		x.events.text = append(x.events.text, x.decoded.text...)
	}
}

func (x *exchange) learn() {
	e, s, d := &x.events, x.s, &x.decoded
	if d.usage != nil {
		e.tally.take(d.usage)
	}
	if len(d.model) > 0 && string(d.model) != s.Model {
		s.Model = string(d.model)
	}
	if len(d.fingerprint) > 0 && string(d.fingerprint) != s.Fingerprint {
		s.Fingerprint = string(d.fingerprint)
	}
	if len(d.finish) > 0 {
		s.FinishReason = string(d.finish)
	}
	e.reasoned = e.reasoned || d.reasoning
}

// count settles the tokens of the finished sample.
func (x *exchange) count() {
	e, s := &x.events, x.s
	s.PromptTokens, s.CachedTokens, s.ReasoningTokens = e.tally.prompt, e.tally.cached, e.tally.reasoning
	if x.p.Canary > 0 {
		x.sing()
	}
	if x.c.cfg.KeepText {
		s.Text = x.c.mask.Mask(string(e.text))
	}
	s.Model, s.Fingerprint, s.FinishReason = x.c.shown(s.Model), x.c.shown(s.Fingerprint), x.c.shown(s.FinishReason)
	n, hidden := e.tally.output(e.pieces)
	if s.Failed() && !e.gapless && n.V < e.pieces {
		n.OK = false // an early count of a stream that was cut later
	}
	switch {
	case n.OK && n.V > 0:
		s.OutputTokens, s.TokenSource = n.V, load.SourceServer
	case e.pieces > 0:
		s.OutputTokens, s.TokenSource = e.pieces, load.SourceEstimated
	}
	if s.TokenSource == load.SourceServer && !e.reasoned {
		// What was streamed cannot be hidden: each piece is a token at least.
		s.HiddenTokens = max(0, min(hidden, s.OutputTokens-e.pieces))
	}
	x.settleChunks()
	if s.Lag = x.lags.Lag(); len(s.Chunks) > 0 && s.Lag.Chunks() == len(s.Chunks) {
		s.Clock = load.ClockKernel
	}
	if len(s.Chunks) < cap(s.Chunks)/2 { // samples are kept: give back room for an answer that was short
		s.Chunks = append(make([]load.Chunk, 0, len(s.Chunks)), s.Chunks...)
	}
}

// settleChunks keeps the increments of the chunks only if every chunk has one. Hidden
// tokens within the completion stand in the first, since they were counted before it
// came; those beside it in none.
func (x *exchange) settleChunks() {
	chunks := x.s.Chunks
	if len(chunks) == 0 {
		return
	}
	within := x.s.HiddenTokens - max(0, x.s.OutputTokens-x.events.tally.completion.V)
	first := chunks[0].Tokens - int32(max(0, within))
	if x.events.gapless && first > 0 {
		chunks[0].Tokens = first
		return
	}
	for i := range chunks {
		chunks[i].Tokens = 0
	}
}

// sing judges the answer to a canary, and keeps the beginning of one that is not as
// expected: whoever wonders wants to see it.
func (x *exchange) sing() {
	x.s.Canary = x.p.Canary
	if x.s.Failed() {
		return // not all of an answer
	}
	answer := string(x.events.text)
	if x.s.AsExpected = x.p.Expected(answer); !x.s.AsExpected {
		x.s.Text = x.c.shown(answer)
	}
}
