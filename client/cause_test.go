package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"kneesweep/load"
)

// What goes wrong below HTTP.
func TestConnectionCauses(t *testing.T) {
	answer := func(text string) func(c net.Conn, r *bufio.Reader, n int) {
		return func(c net.Conn, r *bufio.Reader, _ int) {
			if readRequest(r) {
				io.WriteString(c, text)
			}
		}
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	cases := []struct {
		name  string
		serve func(c net.Conn, r *bufio.Reader, n int)
		cause load.Cause
	}{
		{"closed without an answer", answer(""), load.CauseReset},
		{"closed in the headers", answer("HTTP/1.1 200 OK\r\nServer: x\r\n"), load.CauseReset},
		{"closed in the body", answer(head + chunk(tok("a"))), load.CauseTruncated},
		{"closed after finish_reason", answer(head + chunk(tok("a")+fin("stop"))), ""},
		{"not HTTP", answer("SSH-2.0-OpenSSH_9.2\r\n\r\n"), load.CauseMalformed},
		{"until the end of the connection", answer("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + tok("a") + done), ""},
		{"HTTP/1.0", answer("HTTP/1.0 200 OK\r\n\r\n" + tok("a") + done), ""},
		{"closed in a JSON answer", answer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"choices\":"), load.CauseTruncated},
		{"closed in a page", answer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<html>"), load.CauseNotAStream},
		{"closed before a body", answer("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\n"), load.CauseTruncated},
		{"closed in a refusal", answer("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 99\r\n\r\nbad"), "http_502"},
		{"bad chunk", answer(head + "xyz\r\n"), load.CauseMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := raw(t, c.serve).client(t, nil).Send(t.Context(), question)
				if s.Cause != c.cause || (s.Error == "") != (c.cause == "") {
					t.Errorf("cause %q, error %q", s.Cause, s.Error)
				}
			})
		})
	}
	dials := map[string]struct {
		err   error
		cause load.Cause
	}{
		"refused":           {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, load.CauseConnect},
		"unknown host":      {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "h"}}, load.CauseConnect},
		"descriptors":       {&net.OpError{Op: "dial", Err: syscall.EMFILE}, load.CauseClient},
		"local ports":       {&net.OpError{Op: "dial", Err: syscall.EADDRNOTAVAIL}, load.CauseClient},
		"some other reason": {errors.New("why not"), load.CauseConnect},
	}
	for name, c := range dials {
		t.Run(name, func(t *testing.T) {
			s := ask(t, base, func(cfg *Config) {
				cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, c.err }
			})
			if s.Cause != c.cause || s.Status != 0 || s.Error == "" {
				t.Errorf("cause %q, error %q", s.Cause, s.Error)
			}
		})
	}
}

// breaking is a connection whose reads fail with ECONNRESET after some bytes.
type breaking struct {
	net.Conn
	left int
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func TestResetInTheStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv := serve(t, func(w *writer, _ int) { w.send(tok("a"), strings.Repeat(": ping\n\n", 100)) })
		s := srv.client(t, func(c *Config) {
			c.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
				nc, err := srv.dial(ctx, n, a)
				return &breaking{nc, 600}, err
			}
		}).Send(t.Context(), question)
		checkTokens(t, s, want{cause: load.CauseReset, tokens: 1, source: load.SourceEstimated, chunks: 1, text: "a"})
	})
}

// A server that closes idle connections makes net/http send the request again; that
// is seen, and a second time is a failure.
func TestReplay(t *testing.T) {
	ok := "HTTP/1.1 200 OK\r\nContent-Length: " + fmt.Sprint(len(tok("a")+done)) + "\r\nContent-Type: text/event-stream\r\n\r\n" + tok("a") + done
	// The first `good` connections answer one request, then take a second and close
	// without a word; later ones always answer.
	server := func(t *testing.T, broken int) *server {
		return raw(t, func(c net.Conn, r *bufio.Reader, n int) {
			for k := 0; readRequest(r); k++ {
				if k > 0 && n < broken {
					return
				}
				time.Sleep(100 * ms)
				io.WriteString(c, ok)
			}
		})
	}
	t.Run("once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c := server(t, 1).client(t, nil)
			first, second := c.Send(t.Context(), question), c.Send(t.Context(), question)
			if first.Replayed != 0 || second.Replayed != 1 || second.Failed() || second.Reused || !second.Dialled || second.TTFT().V != 100*ms {
				t.Errorf("second %+v", second)
			}
		})
	})
	t.Run("twice", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c := server(t, 3).client(t, nil)
			closedLoop(t, c, 3, 1)
			s := c.Send(t.Context(), question)
			if s.Cause != load.CauseReset || s.Replayed != 2 {
				t.Errorf("cause %q (%s), replayed %d", s.Cause, s.Error, s.Replayed)
			}
		})
	})
}

// A whole answer is bounded like a frame.
func TestWholeAnswerBound(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		w.Header().Set("Content-Type", "application/json")
		w.send(`{"x":"`)
		block := []byte(strings.Repeat("x", 1<<20))
		for range 20 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}, nil)
	if s.Cause != load.CauseFrameTooLong {
		t.Errorf("cause %q, error %q", s.Cause, s.Error)
	}
}

// A timeout while a body that is no stream is read is still a timeout.
func TestTimeoutInAWholeAnswer(t *testing.T) {
	for kind, c := range map[string]struct {
		body  string
		cause load.Cause
	}{
		"application/json": {`{"choices":`, load.CauseTimeoutFirstToken},
		"text/html":        {"<html>", load.CauseTimeoutFirstToken},
	} {
		s := ask(t, func(w *writer, _ int) {
			w.Header().Set("Content-Type", kind)
			w.send(c.body)
			<-w.ctx.Done()
		}, func(cfg *Config) { cfg.TimeoutFirstToken = time.Second })
		if s.Cause != c.cause || s.E2E() != time.Second {
			t.Errorf("%s: cause %q after %v, error %q", kind, s.Cause, s.E2E(), s.Error)
		}
	}
}
