package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
	"kneesweep/sim/pipe"
)

// server answers every request with handle, over a network in memory.
type server struct {
	net      *pipe.Net
	accepted atomic.Int64
	requests atomic.Int64

	mu     sync.Mutex
	bodies []string
	heads  []http.Header
}

func (s *server) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := s.net.Dial(ctx, network, addr)
	if err == nil {
		s.accepted.Add(1)
	}
	return c, err
}

// reply writes one answer; n counts requests from 0.
type reply func(w *writer, n int)

// writer sends exact bytes at exact times.
type writer struct {
	http.ResponseWriter
	start time.Time
	body  string // of the request
	ctx   context.Context
}

// at waits until t after the request was read, or until the client has gone.
func (w *writer) at(t time.Duration) {
	select {
	case <-time.After(t - time.Since(w.start)):
	case <-w.ctx.Done():
	}
}

func (w *writer) send(parts ...string) {
	io.WriteString(w, strings.Join(parts, ""))
	http.NewResponseController(w.ResponseWriter).Flush()
}

// serve starts a server and returns it with its stop function. It must run in a bubble.
func serve(t *testing.T, handle reply) *server {
	t.Helper()
	s := &server{net: pipe.Listen(pipe.Config{})}
	var handlers sync.WaitGroup
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.heads = append(s.heads, r.Header.Clone())
		s.mu.Unlock()
		n := int(s.requests.Add(1)) - 1
		w.Header().Set("Content-Type", "text/event-stream")
		handle(&writer{ResponseWriter: w, start: time.Now(), body: string(body), ctx: r.Context()}, n)
	})}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(s.net) }()
	t.Cleanup(func() {
		srv.Close()
		<-done
		handlers.Wait()
	})
	return s
}

// raw serves whole connections by hand: handle gets the connection after one
// request was read from it.
func raw(t *testing.T, handle func(c net.Conn, r *bufio.Reader, n int)) *server {
	t.Helper()
	s := &server{net: pipe.Listen(pipe.Config{})}
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; ; n++ {
			c, err := s.net.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				handle(c, bufio.NewReader(c), n)
			})
		}
	})
	t.Cleanup(func() { s.net.Close(); all.Wait() })
	return s
}

// readRequest reads one request; false at the end of the connection.
func readRequest(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	io.Copy(io.Discard, req.Body)
	return true
}

// client returns a Client of s that is closed at the end of the test.
func (s *server) client(t *testing.T, edit func(*Config)) *Client {
	t.Helper()
	cfg := Config{URL: "http://h:8000/v1", Model: "m", Dial: s.dial, KeepText: true}
	if edit != nil {
		edit(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var question = load.Prompt{ID: 1, Messages: []load.Message{{Role: "user", Content: "hi"}}, OutputTokens: 512}

// ask sends one prompt to a server that answers with handle.
func ask(t *testing.T, handle reply, edit func(*Config)) load.Sample {
	t.Helper()
	var s load.Sample
	bubble(t, func(t *testing.T) {
		s = serve(t, handle).client(t, edit).Send(t.Context(), question)
	})
	return s
}

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// says answers with the given bytes at once.
func says(parts ...string) reply {
	return func(w *writer, _ int) { w.send(parts...) }
}

// The frames of the cases.
const (
	done = "data: [DONE]\n\n"
	role = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
)

func tok(x string) string { return frameOf(`{"content":"` + x + `"}`) }

func frameOf(delta string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

func fin(r string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + r + `"}]}` + "\n\n"
}

func use(p, c int) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", p, c, p+c)
}

// base is the good stream: three tokens at 200, 300 and 400 ms.
func base(w *writer, _ int) { timed(w, func(s string) string { return s }) }

// timed sends the good stream, each frame changed by edit.
func timed(w *writer, edit func(string) string) {
	w.at(50 * ms)
	w.send(edit(role))
	w.at(200 * ms)
	w.send(edit(tok("a")))
	w.at(300 * ms)
	w.send(edit(tok("b")))
	w.at(400 * ms)
	w.send(edit(tok("c")), edit(fin("stop")), edit(use(7, 3)), edit(done))
}

const ms = time.Millisecond

// want is what a sample must say; the zero value of a field is checked too.
type want struct {
	cause  load.Cause
	tokens int
	source load.TokenSource
	ttft   time.Duration // 0 = undefined
	ttfc   time.Duration // 0 = same as ttft
	last   time.Duration // of the last token
	e2e    time.Duration
	chunks int
	finish string
	text   string
	warn   string // codes joined by blanks
}

func check(t *testing.T, s load.Sample, w want) {
	t.Helper()
	if w.ttfc == 0 {
		w.ttfc = w.ttft
	} else if w.ttfc < 0 {
		w.ttfc = 0
	}
	var codes []string
	for _, x := range s.Warnings {
		codes = append(codes, x.Code)
	}
	got := want{
		cause: s.Cause, tokens: s.OutputTokens, source: s.TokenSource, ttft: s.TTFT().V, ttfc: s.TTFC().V,
		chunks: len(s.Chunks), finish: s.FinishReason, text: s.Text, warn: strings.Join(codes, " "), e2e: s.E2E(),
	}
	if last := s.LastToken(); last.OK {
		got.last = last.V - s.Sent
	}
	if got != w {
		t.Errorf("sample differs\n got %+v\nwant %+v\nerror %q", got, w, s.Error)
	}
}

// good is what the good stream gives.
var good = want{tokens: 3, source: load.SourceServer, ttft: 200 * ms, last: 400 * ms, e2e: 400 * ms, chunks: 3, finish: "stop", text: "abc"}

func TestGoodStream(t *testing.T) {
	s := ask(t, base, nil)
	check(t, s, good)
	if s.TPOT() != load.Some(0.1) || s.PromptTokens != load.Some(7) || !s.Streaming || s.Status != 200 ||
		s.Model != "m" || s.Protocol != "HTTP/1.1" || !s.Dialled || s.Reused {
		t.Errorf("sample: %+v", s)
	}
}
