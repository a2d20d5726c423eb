package client

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/sim/pipe"
)

// certificate makes one for the host h that vouches for itself.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "h"}, DNSNames: []string{"h"}, NotAfter: time.Now().AddDate(100, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}

// Over TLS a stream reads the same; the handshake is part of connecting, and the
// connection is used again.
func TestStreamOverTLS(t *testing.T) {
	own, roots := certificate(t)
	bubble(t, func(t *testing.T) {
		n := pipe.Listen(pipe.Config{Delay: 10 * ms})
		var serving sync.WaitGroup
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			base(&writer{ResponseWriter: w, start: time.Now(), ctx: r.Context()}, 0)
		})}
		serving.Go(func() { srv.Serve(tls.NewListener(n, own)) })
		defer serving.Wait()
		defer srv.Close()
		c, err := New(Config{URL: "https://h/v1", Dial: n.Dial, KeepText: true, TLS: &tls.Config{RootCAs: roots}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s := c.Send(t.Context(), question)
		check(t, s, want{tokens: 3, source: load.SourceServer, ttft: 240 * ms, last: 440 * ms, e2e: 440 * ms, chunks: 3, finish: "stop", text: "abc"})
		if !s.Dialled || s.Connect != 20*ms {
			t.Errorf("dialled %v, connect %v, want 20 ms", s.Dialled, s.Connect)
		}
		if s = c.Send(t.Context(), question); !s.Reused || s.TTFT().V != 220*ms {
			t.Errorf("reused %v, TTFT %v", s.Reused, s.TTFT().V)
		}
	})
}

// A certificate that nobody vouches for is a failure of TLS, and a handshake that
// never ends a timeout.
func TestTLS(t *testing.T) {
	own, _ := certificate(t)
	for name, c := range map[string]struct {
		serve func(nc net.Conn)
		after time.Duration
		hint  string
	}{
		"unknown authority": {func(nc net.Conn) { tls.Server(nc, own).Handshake() }, 0, ""},
		"not TLS":           {func(nc net.Conn) { nc.Read(make([]byte, 4096)); io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\n\r\n") }, 0, "try http://"},
		"silent":            {func(nc net.Conn) { io.Copy(io.Discard, nc) }, 3 * time.Second, ""},
		"closed":            {func(nc net.Conn) { nc.Read(make([]byte, 4096)) }, 0, "try http://"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				client := func(ctx context.Context, _, _ string) (net.Conn, error) {
					a, b := net.Pipe()
					go func() { defer b.Close(); c.serve(b) }()
					return a, nil
				}
				cl, err := New(Config{URL: "https://h/v1", Dial: client, TimeoutConnect: 3 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				defer cl.Close()
				s := cl.Send(t.Context(), question)
				if s.Cause != load.CauseTLS || s.E2E() != c.after || s.Error == "" || c.hint == "" == strings.Contains(s.Error, "try http") || !strings.Contains(s.Error, c.hint) {
					t.Errorf("cause %q after %v, error %q", s.Cause, s.E2E(), s.Error)
				}
			})
		})
	}
}

// A port of TLS that is asked in plain HTTP says so with an alert.
func TestPlainRequestToTLS(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := raw(t, func(nc net.Conn, r *bufio.Reader, _ int) {
			if readRequest(r) {
				io.WriteString(nc, "\x15\x03\x01\x00\x02\x02\x46")
			}
		}).client(t, func(c *Config) { c.URL = "http://h:443/v1" }).Send(t.Context(), question)
		if s.Cause != load.CauseMalformed || !strings.Contains(s.Error, "try https://") {
			t.Errorf("cause %q, error %q", s.Cause, s.Error)
		}
	})
}
