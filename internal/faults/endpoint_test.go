package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/sim/pipe"
)

// A good answer: eight tokens, the first after 50 ms, one each 50 ms.
const (
	answerTokens = 8
	tokenEvery   = 50 * time.Millisecond
	answerTakes  = answerTokens * tokenEvery
)

const (
	tokenFrame = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n"
	endFrames  = `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":8,"total_tokens":15}}` + "\n\n" +
		"data: [DONE]\n\n"
)

// answer serves one request, of which the body has been read.
type answer struct {
	serve func(w *writer)
	bad   bool
}

func bad(serve func(w *writer)) answer { return answer{serve, true} }

// endpoint is an HTTP server in memory that can break in every way that a real one
// can, and counts what reaches it.
type endpoint struct {
	network *pipe.Net
	answer  func(n int) answer // of request n, counted from 0

	down   atomic.Bool // connections are refused
	resets atomic.Bool // a connection that ends was reset, not closed

	ports atomic.Int64 // connections that this machine has local ports for; 0 = no limit

	opened   atomic.Int64
	inFlight atomic.Int64
	ours     atomic.Int64 // connections open at the client
	theirs   atomic.Int64 // at the server

	mu       sync.Mutex
	served   int
	bad      int // answers that were to fail
	peak     int64
	peakAt   time.Time   // when peak was reached first
	attempts []time.Time // requests that arrived and connections that were refused
	conns    map[net.Conn]bool

	server   *http.Server
	handlers sync.WaitGroup
	done     chan struct{}
}

func newEndpoint(answer func(n int) answer) *endpoint {
	e := &endpoint{network: pipe.Listen(pipe.Config{}), answer: answer, conns: map[net.Conn]bool{}, done: make(chan struct{})}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(e.done)
		_ = e.server.Serve(accepting{e.network, e})
	}()
	return e
}

// close ends the server and reports what was left open.
func (e *endpoint) close(t *testing.T) {
	t.Helper()
	_ = e.server.Close()
	<-e.done
	synctest.Wait() // a request that came at the last moment has its handler by now
	e.handlers.Wait()
	synctest.Wait()
	if n := e.inFlight.Load(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	if a, b := e.ours.Load(), e.theirs.Load(); a != 0 || b != 0 {
		t.Errorf("%d connections are left at the client, %d at the server", a, b)
	}
}

// die resets all connections and refuses new ones.
func (e *endpoint) die() {
	e.resets.Store(true)
	e.down.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.Close()
	}
}

// revive accepts connections again.
func (e *endpoint) revive() { e.down.Store(false) }

func (e *endpoint) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	e.handlers.Add(1)
	defer e.handlers.Done()
	_, _ = io.Copy(io.Discard, r.Body)
	now, flying := time.Now(), e.inFlight.Add(1)
	defer e.inFlight.Add(-1)
	e.mu.Lock()
	n := e.served
	e.served++
	e.attempts = append(e.attempts, now)
	if flying > e.peak {
		e.peak, e.peakAt = flying, now
	}
	a := e.answer(n)
	if a.bad {
		e.bad++
	}
	e.mu.Unlock()
	a.serve(&writer{rw, r.Context(), now})
}

// dial is what the client dials with.
func (e *endpoint) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if e.down.Load() {
		e.mu.Lock()
		e.attempts = append(e.attempts, time.Now())
		e.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	}
	if n, ports := e.ours.Add(1), e.ports.Load(); ports > 0 && n > ports {
		e.ours.Add(-1)
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}
	}
	c, err := e.network.Dial(ctx, network, address)
	if err != nil {
		e.ours.Add(-1)
		return nil, err
	}
	e.opened.Add(1)
	return counted(c, &e.ours, func(err error) error {
		if errors.Is(err, io.EOF) && e.resets.Load() {
			return &net.OpError{Op: "read", Net: "pipe", Err: syscall.ECONNRESET}
		}
		return err
	}), nil
}

// accepting is the listener of the server; it keeps the connections for die.
type accepting struct {
	*pipe.Net
	e *endpoint
}

func (a accepting) Accept() (net.Conn, error) {
	c, err := a.Net.Accept()
	if err != nil {
		return nil, err
	}
	a.e.theirs.Add(1)
	conn := counted(c, &a.e.theirs, func(err error) error { return err })
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	a.e.conns[conn] = true
	return conn, nil
}

// counted is a connection that open counts already.
func counted(c net.Conn, open *atomic.Int64, failure func(error) error) net.Conn {
	return &countedConn{Conn: c, open: open, failure: failure}
}

// countedConn knows when it is closed, and can change the errors of reading.
type countedConn struct {
	net.Conn
	open    *atomic.Int64
	once    sync.Once
	failure func(error) error
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		err = c.failure(err)
	}
	return n, err
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// attempted returns when the client tried, in order.
func (e *endpoint) attempted() []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.Clone(e.attempts)
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// writer sends bytes at chosen times.
type writer struct {
	http.ResponseWriter
	ctx   context.Context
	began time.Time
}

// until waits for a time after the request arrived; false if the client has gone.
func (w *writer) until(d time.Duration) bool {
	t := time.NewTimer(time.Until(w.began.Add(d)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.ctx.Done():
		return false
	}
}

func (w *writer) send(text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// tokens streams the first n tokens; false if the client has gone.
func (w *writer) tokens(n int) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range n {
		if !w.until(time.Duration(i+1) * tokenEvery) {
			return false
		}
		w.send(tokenFrame)
	}
	return true
}

// hangUp closes the connection without a word.
func (w *writer) hangUp() {
	if c, _, err := http.NewResponseController(w.ResponseWriter).Hijack(); err == nil {
		c.Close()
	}
}

// The answers that an endpoint can give.

var (
	good = answer{serve: func(w *writer) {
		if w.tokens(answerTokens) {
			w.send(endFrames)
		}
	}}
	breaks = bad(func(w *writer) {
		w.tokens(answerTokens / 2)
		w.hangUp()
	})
	truncated   = bad(func(w *writer) { w.tokens(answerTokens / 2) })
	stallsFirst = bad(func(w *writer) { <-w.ctx.Done() })
	stallsLater = bad(func(w *writer) {
		w.tokens(1)
		<-w.ctx.Done()
	})
	malformed = bad(garble)
	loginPage = bad(func(w *writer) {
		w.Header().Set("Content-Type", "text/html")
		w.send("<html><body>Please log in</body></html>")
	})
)

// garble streams frames that are not JSON.
func garble(w *writer) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range answerTokens {
		if !w.until(time.Duration(i+1) * tokenEvery) {
			return
		}
		w.send(`data: {"choices":[{"delta":{"content":` + "\n\n")
	}
	w.send("data: [DONE]\n\n")
}

// status refuses; retryAfter is in seconds, 0 for none.
func status(code, retryAfter int) answer {
	return bad(func(w *writer) {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(retryAfter))
		}
		w.WriteHeader(code)
		w.send(`{"error":{"message":"simulated"}}`)
	})
}

// share gives bad to this share of the requests, evenly spread, and good to the others.
func share(of float64, bad answer) func(int) answer {
	return func(n int) answer {
		if int(float64(n+1)*of) > int(float64(n)*of) {
			return bad
		}
		return good
	}
}

// burst gives bad to the requests from first on, and good after count of them.
func burst(first, count int, bad answer) func(int) answer {
	return func(n int) answer {
		if n >= first && n < first+count {
			return bad
		}
		return good
	}
}
