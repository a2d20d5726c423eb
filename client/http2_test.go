package client

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/sim/pipe"
)

// secureServer serves TLS over a network in memory until the test ends.
func secureServer(t *testing.T, srv *http.Server, conf *tls.Config) *pipe.Net {
	t.Helper()
	n := pipe.Listen(pipe.Config{})
	srv.TLSConfig = conf
	var serving sync.WaitGroup
	serving.Go(func() { srv.ServeTLS(n, "", "") })
	t.Cleanup(func() { srv.Close(); serving.Wait() })
	return n
}

// A server that offers HTTP/2 with few streams to a connection is asked over
// HTTP/1.1, with one connection per stream: its limit keeps no request waiting and
// cannot pass for saturation (hashicorp/vault-benchmark#134).
func TestHTTP2LimitsNoStreams(t *testing.T) {
	own, roots := certificate(t)
	bubble(t, func(t *testing.T) {
		const streams = 16
		var inFlight, peak atomic.Int64
		srv := &http.Server{
			HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				n := inFlight.Add(1)
				defer inFlight.Add(-1)
				for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
				}
				base(&writer{ResponseWriter: w, start: time.Now(), ctx: r.Context()}, 0)
			}),
		}
		n := secureServer(t, srv, own)
		c, err := New(Config{URL: "https://h/v1", Dial: n.Dial, TLS: &tls.Config{RootCAs: roots}, Connections: streams})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		opened := 0
		for _, s := range closedLoop(t, c, streams, 3) {
			if s.Protocol != "HTTP/1.1" || s.TTFT().V != 200*ms {
				t.Errorf("protocol %s, TTFT %v", s.Protocol, s.TTFT().V)
			}
			if s.Dialled {
				opened++
			}
		}
		if srv.TLSConfig.NextProtos[0] != "h2" || peak.Load() != streams || opened != streams {
			t.Errorf("the server offers %q; %d requests in flight, %d connections, want %d", srv.TLSConfig.NextProtos, peak.Load(), opened, streams)
		}
	})
}

// settings is what a server of HTTP/2 says first, whatever it is asked, and goAway
// its answer to what is no HTTP/2.
const (
	settings = "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"
	goAway   = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
)

// A server that speaks HTTP/2 alone is told from a broken one, and what to do is said.
func TestHTTP2Only(t *testing.T) {
	own, roots := certificate(t)
	said := func(t *testing.T, s load.Sample, causes ...load.Cause) {
		t.Helper()
		ok := false
		for _, c := range causes {
			ok = ok || s.Cause == c
		}
		if !ok || !strings.HasPrefix(s.Error, "--url: the server speaks only HTTP/2") || !strings.Contains(s.Error, "HTTP/1.1") {
			t.Errorf("cause %q, error %q", s.Cause, s.Error)
		}
	}
	secure := func(t *testing.T, n *pipe.Net) load.Sample {
		c, err := New(Config{URL: "https://h/v1", Dial: n.Dial, TLS: &tls.Config{RootCAs: roots}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Send(t.Context(), question)
	}
	t.Run("the handshake is refused", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			conf := own.Clone()
			conf.NextProtos = []string{"another"} // Go lets HTTP/1.1 pass for "h2" alone
			n := pipe.Listen(pipe.Config{})
			var serving sync.WaitGroup
			serving.Go(func() {
				if nc, err := n.Accept(); err == nil {
					tls.Server(nc, conf).Handshake()
					nc.Close()
				}
			})
			defer serving.Wait()
			defer n.Close()
			said(t, secure(t, n), load.CauseTLS)
		})
	})
	t.Run("in plain text", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := raw(t, func(nc net.Conn, r *bufio.Reader, _ int) {
				io.WriteString(nc, settings)
				readRequest(r)
				io.WriteString(nc, goAway)
			}).client(t, nil).Send(t.Context(), question)
			said(t, s, load.CauseMalformed)
		})
	})
	t.Run("after the handshake", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			srv := raw(t, func(nc net.Conn, _ *bufio.Reader, _ int) {
				secured := tls.Server(nc, own)
				if secured.Handshake() == nil {
					io.WriteString(secured, settings)
					readRequest(bufio.NewReader(secured))
					io.WriteString(secured, goAway)
				}
			})
			said(t, secure(t, srv.net), load.CauseMalformed)
		})
	})
}
