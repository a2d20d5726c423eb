//go:build linux && (amd64 || arm64)

package client

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kneesweep/client/sse"
	"kneesweep/load"
)

// The tests of this file use the loopback network: the kernel stamps nothing else.

// pair returns both ends of a TCP connection, the client's as the client opens it.
func pair(t *testing.T) (*conn, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := New(Config{URL: "http://h"})
	if err != nil {
		t.Fatal(err)
	}
	near, err := c.open(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close(); c.Close() })
	for i := 0; near.(*conn).socket.stamp.Load() == 0; i++ { // the kernel begins a moment after it was asked to
		if i == 1e5 {
			t.Fatal("the kernel does not stamp")
		}
		io.WriteString(far, ".")
		if _, err = near.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return near.(*conn), far.(*net.TCPConn)
}

// waiting blocks until n bytes wait to be read.
func waiting(t *testing.T, c *conn, n int) {
	t.Helper()
	err := c.socket.raw.Read(func(fd uintptr) bool {
		got, _, err := syscall.Recvfrom(int(fd), make([]byte, n), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return err == nil && got == n
	})
	if err != nil {
		t.Fatal(err)
	}
}

// However late a read is, the stamp tells when the bytes came; also when an earlier
// read was too short for them.
func TestReceiverStamps(t *testing.T) {
	near, far := pair(t)
	seen := &near.socket.receipt
	begun := seen.reads.Load()
	buf := make([]byte, 4)
	for i := range 20 {
		before := time.Now().UnixNano()
		io.WriteString(far, "abcdef")
		waiting(t, near, 6)
		after := time.Now().UnixNano()
		for part, want := range []string{"abcd", "ef"} {
			n, err := near.Read(buf)
			stamp := seen.stamp.Load()
			if err != nil || string(buf[:n]) != want || seen.reads.Load() != begun+int64(2*i+part+1) {
				t.Fatalf("read %d.%d: %q, %v, %d reads", i, part, buf[:n], err, seen.reads.Load()-begun)
			}
			if stamp < before || stamp > after {
				t.Errorf("read %d.%d: stamp %d is not within [%d, %d]", i, part, stamp, before, after)
			}
		}
	}
}

// A read ends as reads of package net do.
func TestReceiverEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(near *conn, far *net.TCPConn)
		check func(error) bool
	}{
		"end of the stream": {func(_ *conn, far *net.TCPConn) { far.CloseWrite() }, func(err error) bool { return err == io.EOF }},
		"reset": {func(_ *conn, far *net.TCPConn) { far.SetLinger(0); far.Close() }, func(err error) bool {
			var op *net.OpError
			return errors.Is(err, syscall.ECONNRESET) && errors.As(err, &op) && causeOf(err, true) == load.CauseReset
		}},
		"closed here": {func(near *conn, _ *net.TCPConn) { near.Close() }, func(err error) bool {
			return errors.Is(err, net.ErrClosed) && causeOf(err, true) == load.CauseReset
		}},
		"deadline": {func(near *conn, _ *net.TCPConn) { near.SetReadDeadline(time.Unix(1, 0)) }, func(err error) bool {
			var timeout net.Error
			return errors.As(err, &timeout) && timeout.Timeout()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			var err error
			var n int
			var reading sync.WaitGroup
			reading.Go(func() { n, err = near.Read(make([]byte, 8)) })
			c.end(near, far)
			reading.Wait()
			if n != 0 || !c.check(err) {
				t.Errorf("%d bytes, error %v", n, err)
			}
			if _, after := near.Read(nil); after != nil {
				t.Errorf("a read of nothing: %v", after)
			}
		})
	}
}

// warm asks until the kernel stamps, which begins a moment after it was asked to.
func warm(t *testing.T, c *Client) {
	t.Helper()
	for range 10000 {
		if c.Send(t.Context(), question).Clock == load.ClockKernel {
			return
		}
	}
	t.Fatal("the kernel does not stamp")
}

// kernelSample checks that each chunk was stamped by the kernel, in order and after
// the request was sent.
func kernelSample(t *testing.T, s load.Sample, chunks int) {
	t.Helper()
	if s.Failed() || s.Clock != load.ClockKernel || len(s.Chunks) != chunks || s.Lag.Chunks() != chunks {
		t.Fatalf("%s %s: clock %s, %d chunks, lag %+v", s.Cause, s.Error, s.Clock, len(s.Chunks), s.Lag)
	}
	at := s.Sent
	for i, c := range s.Chunks {
		if c.At < at {
			t.Errorf("chunk %d at %v, before %v", i, c.At, at)
		}
		at = c.At
	}
	if s.End < at {
		t.Errorf("the end at %v, before the last chunk at %v", s.End, at)
	}
}

// answer is a server of the good stream without its waits.
func answer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range []string{role, tok("a"), tok("b"), tok("c") + fin("stop") + use(7, 3) + done} {
		io.WriteString(w, part)
		http.NewResponseController(w).Flush()
	}
}

// Arrivals carry the kernel's stamps in plain HTTP, under TLS, and through the tunnel
// of a proxy, on new connections and on used ones.
func TestKernelClock(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(answer))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(answer))
	defer secure.Close()
	proxy := tunnel(t)
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, c := range map[string]struct {
		url   string
		proxy *url.URL
	}{
		"plain": {url: plain.URL}, "TLS": {url: secure.URL}, "TLS through a proxy": {url: secure.URL, proxy: proxy},
	} {
		t.Run(name, func(t *testing.T) {
			cl, err := New(Config{URL: c.url, TLS: &tls.Config{RootCAs: roots}})
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			cl.transport.Proxy = http.ProxyURL(c.proxy)
			warm(t, cl)
			for i := range 3 {
				s := cl.Send(t.Context(), question)
				kernelSample(t, s, 3)
				if !s.Reused || s.Dialled {
					t.Errorf("request %d: reused %v, dialled %v", i, s.Reused, s.Dialled)
				}
			}
		})
	}
}

// tunnel is a proxy that knows CONNECT alone.
func tunnel(t *testing.T) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer near.Close()
				r := bufio.NewReader(near)
				req, err := http.ReadRequest(r)
				if err != nil || req.Method != http.MethodConnect {
					return
				}
				far, err := net.Dial("tcp", req.Host)
				if err != nil {
					return
				}
				defer far.Close()
				io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
				all.Go(func() { io.Copy(far, r); far.(*net.TCPConn).CloseWrite() })
				io.Copy(near, far)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	u, err := url.Parse("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Events of one write share a read and a stamp, and are counted; so are those that
// net/http kept back for want of room.
func TestKernelCoalesced(t *testing.T) {
	for _, many := range []int{3, 100} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			body := strings.Repeat(tok("x"), many) + fin("stop") + use(1, many) + done
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, body)
		}))
		cl, err := New(Config{URL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		warm(t, cl)
		s := cl.Send(t.Context(), question)
		kernelSample(t, s, many)
		stamps := 1
		for i := range s.Chunks[1:] {
			if s.Chunks[i+1].At != s.Chunks[i].At {
				stamps++
			}
		}
		// Two reads may well carry the same stamp.
		if s.Coalesced > many-stamps || s.Coalesced == 0 || many == 3 && s.Coalesced != 2 {
			t.Errorf("%d chunks, %d coalesced, %d stamps", many, s.Coalesced, stamps)
		}
		cl.Close()
		srv.Close()
	}
}

// From the socket to the sample nothing is allocated per event.
func TestNoAllocationFromSocketToSample(t *testing.T) {
	near, far := pair(t)
	event := []byte(tok("hello"))
	chunk := append(append([]byte("95\r\n"), event...), "\r\n"...)
	if len(event) != 0x95 {
		t.Fatalf("an event of %#x bytes", len(event))
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		io.WriteString(far, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for block := bytes.Repeat(chunk, 8); ; {
			if _, err := far.Write(block); err != nil {
				return
			}
		}
	})
	defer sending.Wait()
	defer near.Close()
	defer far.Close()
	resp, err := http.ReadResponse(bufio.NewReader(near), nil) //nolint:bodyclose // it has no end; the connection is closed
	if err != nil {
		t.Fatal(err)
	}
	x, _ := steadyExchange()
	defer x.watch.stop()
	x.in.start(time.Now())
	x.in.listen(near)
	x.in.body = resp.Body
	r := sse.NewReader(&x.in, x.in.arrived)
	one := func() {
		ev, err := r.Next()
		if err != nil || x.event(ev) {
			t.Fatal("stream ended", err)
		}
	}
	for range 100 {
		one()
	}
	if n := testing.AllocsPerRun(10000, one); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
	if x.in.reads == 0 || x.s.Coalesced == 0 {
		t.Errorf("%d reads of the connection, %d chunks coalesced", x.in.reads, x.s.Coalesced)
	}
}
