package analysis

import (
	"time"

	"kneesweep/load"
)

// tokenModel says how many tokens the chunks of a sample carried. A request
// whose count is not known (still running when measuring ended, or answered
// without usage) takes the ratios of the finished requests of its step.
type tokenModel struct {
	perChunk  load.Opt[float64] // Σn/Σm of the finished requests with server usage
	hidden    float64           // mean hidden tokens of a finished request
	hiddenFor float64           // mean TTFT of those, s
	rate      load.Opt[float64] // visible tokens/s of a finished request without chunks

	hiddenRate float64 // hidden tokens/s of the same
}

// newTokenModel takes the ratios from the requests that finished inside the
// measured spans, or, if none did, from all that finished in the run.
func newTokenModel(d *levelData, all requests) tokenModel {
	var r ratios
	d.each(func(s *load.Sample, span load.Span) {
		if s.End < span.To {
			r.add(s)
		}
	})
	if r == (ratios{}) {
		all.each(r.add)
	}
	return r.model()
}

// ratios sums over finished requests with a count of the server.
type ratios struct {
	tokens, chunks     int
	hidden, finished   int
	hiddenFor          float64 // s
	whole, wholeHidden int
	wholeFor           float64 // s
}

func (r *ratios) add(s *load.Sample) {
	if s.Failed() || s.TokenSource != load.SourceServer {
		return
	}
	if len(s.Chunks) == 0 {
		r.whole += s.Streamed()
		r.wholeHidden += s.HiddenTokens
		r.wholeFor += s.E2E().Seconds()
		return
	}
	r.tokens += s.Streamed()
	r.chunks += len(s.Chunks)
	r.finished++
	r.hidden += s.HiddenTokens
	r.hiddenFor += s.TTFT().V.Seconds()
}

func (r *ratios) model() tokenModel {
	var m tokenModel
	if r.tokens > 0 && r.chunks > 0 {
		m.perChunk = load.Some(float64(r.tokens) / float64(r.chunks))
	}
	if r.finished > 0 {
		m.hidden = float64(r.hidden) / float64(r.finished)
		m.hiddenFor = r.hiddenFor / float64(r.finished)
	}
	if r.wholeFor > 0 {
		m.rate = load.Some(float64(r.whole) / r.wholeFor)
		m.hiddenRate = float64(r.wholeHidden) / r.wholeFor
	}
	return m
}

// basis says what a credit rests on.
type basis uint8

const (
	fromServer basis = iota // the server's count of this request
	fromRatio               // the step's ratios
	fromChunks              // chunks counted, for want of anything better
)

// credit is the tokens of one sample: the weight of each chunk, and amounts
// spread evenly over a span.
type credit struct {
	none    bool    // the request failed: nothing counts
	weight  float64 // tokens per chunk; 0 = every chunk knows its own
	visible float64 // tokens spread over the span: of an answer in one piece,
	hidden  float64 // and those that were never streamed
	over    load.Span
	basis   basis
}

// of returns the credit of a sample. Failed requests get none; those that we
// canceled count what had arrived.
func (m *tokenModel) of(s *load.Sample) credit {
	if s.Failed() && s.Cause != load.CauseCanceled {
		return credit{none: true}
	}
	known := s.TokenSource == load.SourceServer && !s.Failed()
	if len(s.Chunks) == 0 {
		return m.unstreamed(s, known)
	}
	var c credit
	switch {
	case s.Incremental():
	case known:
		c.weight = float64(s.Streamed()) / float64(len(s.Chunks))
	case m.perChunk.OK:
		c.weight, c.basis = m.perChunk.V, fromRatio
	default:
		c.weight, c.basis = 1, fromChunks
	}
	c.over = load.Span{From: s.Sent, To: s.Chunks[0].At}
	c.hidden = float64(s.HiddenTokens)
	if !known && m.hidden > 0 {
		c.hidden = m.hidden
	}
	return c
}

// unstreamed is the credit of a sample without chunks: all its tokens spread
// over its life, or, while it runs, what its like would have made by then.
func (m *tokenModel) unstreamed(s *load.Sample, known bool) credit {
	c := credit{over: load.Span{From: s.Sent, To: s.End}}
	switch {
	case !s.Failed():
		c.hidden = float64(s.HiddenTokens)
		c.visible = float64(s.Streamed())
		if !known {
			c.basis = fromChunks
		}
	case m.hidden > 0 && m.hiddenFor > 0:
		c.hidden, c.basis = m.hidden*min(1, s.E2E().Seconds()/m.hiddenFor), fromRatio
	case m.rate.OK:
		life := s.E2E().Seconds()
		c.visible, c.hidden, c.basis = m.rate.V*life, m.hiddenRate*life, fromRatio
	}
	return c
}

// tokensOf returns the tokens of chunk i under a credit.
func (c *credit) tokensOf(ch load.Chunk) float64 {
	switch {
	case c.none:
		return 0
	case c.weight > 0:
		return c.weight
	}
	return float64(ch.Tokens)
}

// overlap is the share of a that lies in b.
func overlap(a, b load.Span) float64 {
	if a.To <= a.From {
		return 0
	}
	common := min(a.To, b.To) - max(a.From, b.From)
	return max(0, float64(common)/float64(a.To-a.From))
}

// within reports whether an optional instant lies in a span.
func within(t load.Opt[time.Duration], s load.Span) bool { return t.OK && s.Holds(t.V) }
