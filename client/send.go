package client

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"time"

	"kneesweep/client/sse"
	"kneesweep/load"
)

const (
	maxChunksAhead = 1 << 16                // chunks for which room is made beforehand
	drainWait      = 250 * time.Millisecond // for the end of a body after its last event
	drainBytes     = 256 << 10
	maxReplays     = 1
	retryBase      = 100 * time.Millisecond
	retryMost      = 5 * time.Second
)

// Send asks once (or as often as Config.Retries allows) and reports what happened.
// It returns when the answer is complete and its connection is free again, for
// which it waits at most 250 ms after the end of the stream; that wait is not part
// of the sample. When ctx ends first, the sample has the cause canceled and what
// had arrived. It is safe for concurrent use and never panics on an answer.
func (c *Client) Send(ctx context.Context, p load.Prompt) load.Sample {
	// The stack below stays as long as the stream does: what is large lies on the heap.
	s := &load.Sample{ID: p.ID, Sent: c.now(), Clock: load.ClockUser}
	if !c.enter() {
		s.End, s.Cause, s.Error = s.Sent, load.CauseClient, "client is closed"
		return *s
	}
	defer c.active.Done()
	body := c.body(&p, s)
	if body == nil {
		return *s
	}
	var rnd *rand.Rand
	for k := 0; ; k++ {
		again := c.attempt(ctx, &p, body, s, k)
		if !again || k >= c.cfg.Retries {
			return *s
		}
		if rnd == nil {
			rnd = rand.New(rand.NewPCG(c.cfg.Seed, uint64(p.ID)))
		}
		if !c.pause(ctx, retryWait(k, s.RetryAfter, rnd)) {
			s.Cause, s.Error, s.End = load.CauseCanceled, "stopped between two attempts", c.now()
			return *s
		}
	}
}

// body builds the request for p, nil if it cannot, which the sample then says.
func (c *Client) body(p *load.Prompt, s *load.Sample) (body []byte) {
	err := aside(func() (err error) {
		body, err = c.cfg.body(*p)
		return err
	})
	if err != nil {
		s.End, s.Cause, s.Error = c.now(), load.CauseClient, c.shown("request not built: "+err.Error())
		return nil
	}
	return body
}

// retryWait is max(Retry-After, 100 ms · 2^k), the latter jittered down to its half,
// and at most 5 s.
func retryWait(k int, asked load.Opt[time.Duration], rnd *rand.Rand) time.Duration {
	wait := retryMost
	if k < 6 {
		wait = retryBase << k
	}
	wait = wait/2 + time.Duration(rnd.Int64N(int64(wait/2)+1))
	return min(retryMost, max(wait, asked.V))
}

// pause waits d; false if ctx or the client ended first.
func (c *Client) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-c.life.Done():
		return false
	}
}

// exchange is one attempt: one request and its answer.
type exchange struct {
	c        *Client
	wire     *wire
	p        *load.Prompt
	s        *load.Sample
	parent   context.Context
	watch    watch
	in       intake
	reader   *sse.Reader
	labelled bool // the answer says that it is a stream
	conns    int  // connections that net/http took for it

	events     events
	done       bool   // [DONE], or what stands for it, was seen
	odd        []byte // the last thing that was not understood
	complaint  string // words that are an error unless the answer goes on
	decoded    delta
	stencil    stencil
	tokenBatch int // arrival of the last token-bearing event
	lags       load.Lags
	lastEvent  time.Duration
}

// attempt makes one attempt and says whether another one could help.
func (c *Client) attempt(parent context.Context, p *load.Prompt, body []byte, s *load.Sample, k int) bool {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	x := &exchange{c: c, wire: c.cfg.Dialect.wire(), p: p, s: s, parent: parent}
	x.stencil.off = !x.wire.quick
	x.watch.now, x.watch.cancel = c.now, cancel
	defer x.watch.stop()
	if resp := x.ask(ctx, body, k); resp != nil {
		if x.answer(resp) {
			x.stream() // from here: what lies on the stack meanwhile stays for long
		}
		x.drain(resp)
		resp.Body.Close()
	}
	x.finish()
	return retryable(s)
}

// ask starts the clock and sends the request; nil if there is no answer.
func (x *exchange) ask(ctx context.Context, body []byte, k int) *http.Response {
	req := x.c.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: x.gotConn}), body)
	x.begin(k)
	resp, err := x.c.transport.RoundTrip(req)
	if err != nil {
		x.s.End = x.c.now()
		x.broken(err)
		return nil
	}
	return resp
}

// begin empties the sample but for what holds for all attempts, and starts the clock.
func (x *exchange) begin(k int) {
	s, cfg := x.s, &x.c.cfg
	if k > 0 {
		id, sent, replayed := s.ID, s.Sent, s.Replayed
		*s = load.Sample{}
		s.ID, s.Sent, s.Replayed, s.Retries, s.Clock = id, sent, replayed, k, load.ClockUser
	}
	if !cfg.NoStream {
		s.Chunks = make([]load.Chunk, 0, min(max(x.p.OutputTokens, 16)+1, maxChunksAhead))
	}
	x.watch.phase(cfg.TimeoutFirstToken, load.CauseTimeoutFirstToken)
	if sent := x.in.start(cfg.Epoch); k == 0 {
		s.Sent = sent
	}
}

// stopped returns why the caller, or Close, ended the request; nil if neither did.
func (x *exchange) stopped() error { return cmp.Or(x.parent.Err(), x.c.life.Err()) }

// request returns a request with its body, which net/http can send again.
func (c *Client) request(ctx context.Context, body []byte) *http.Request {
	req := c.template.WithContext(ctx)
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return req
}

// gotConn runs for every connection that the request is sent on; more than one
// means that net/http sent it again because an idle connection had gone.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.conns++
	nc, opening := own(info.Conn)
	x.s.Reused, x.s.Dialled, x.s.Connect = info.Reused, !info.Reused, 0
	if !info.Reused {
		x.s.Connect = opening
	}
	x.in.listen(nc)
	if x.conns == 1 {
		return
	}
	x.s.Replayed++
	if x.conns > 1+maxReplays {
		x.watch.giveUp(load.CauseReset)
	}
}

// answer reads a response to its end, unless it is a stream: that comes next.
func (x *exchange) answer(resp *http.Response) (isStream bool) {
	s := x.s
	s.Status, s.Protocol = resp.StatusCode, resp.Proto
	s.RetryAfter = retryAfter(resp.Header, time.Now())
	s.Headers = x.c.recorded(resp.Header)
	x.in.body = resp.Body
	x.reader = sse.NewReader(&x.in, x.in.arrived)
	switch {
	case s.Status < 200 || s.Status > 299:
		x.refused(x.reader, resp.Header)
	case packed(resp.Header) != "":
		x.s.End = x.c.now()
		x.fail(load.CauseNotAStream, "the answer has Content-Encoding "+packed(resp.Header)+", which was not asked for: something on the way compresses")
	default:
		return x.understand(resp.Header.Get("Content-Type"))
	}
	return false
}

// drain reads what is left of the body, so that the connection can be used again.
func (x *exchange) drain(resp *http.Response) {
	if s := x.s; s.Cause != "" && s.Cause != load.CauseStreamError && s.Status < 300 {
		return // nothing good can follow: let Close drop the connection
	}
	x.watch.phase(drainWait, x.s.Cause)
	var scrap [2048]byte
	for left := drainBytes; left > 0; {
		n, err := resp.Body.Read(scrap[:])
		if err != nil {
			return
		}
		left -= n
	}
}

// retryable reports whether the failure may go away and happened before the first
// token.
func retryable(s *load.Sample) bool {
	if len(s.Chunks) > 0 {
		return false
	}
	switch {
	case s.Cause == load.CauseConnect, s.Cause == load.CauseReset:
		return true
	case s.Cause == "":
		return false
	}
	return s.Status == http.StatusTooManyRequests || s.Status >= 500
}
