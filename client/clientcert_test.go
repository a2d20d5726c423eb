package client

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"kneesweep/load"
)

// A server that wants to know its clients gets the certificate; without one the
// failure is one of TLS and names the flag, in both versions of the protocol (the
// newer one refuses when the handshake looks done).
func TestClientCertificate(t *testing.T) {
	own, roots := certificate(t)
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		for shown, cause := range map[bool]load.Cause{true: "", false: load.CauseTLS} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					conf := own.Clone()
					conf.ClientAuth, conf.ClientCAs, conf.MaxVersion = tls.RequireAndVerifyClientCert, roots, version
					srv := raw(t, func(nc net.Conn, _ *bufio.Reader, _ int) {
						secured := tls.Server(nc, conf)
						if secured.Handshake() != nil {
							io.Copy(io.Discard, nc) // the request is on its way
							return
						}
						readRequest(bufio.NewReader(secured))
						io.WriteString(secured, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+tok("a")+fin("stop")+done)
						secured.Close()
					})
					trust := &tls.Config{RootCAs: roots}
					if shown {
						trust.Certificates = own.Certificates
					}
					c, err := New(Config{URL: "https://h/v1", Dial: srv.dial, TLS: trust})
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					s := c.Send(t.Context(), question)
					if s.Cause != cause || cause != "" && !strings.HasPrefix(s.Error, "--client-cert: ") {
						t.Errorf("certificate shown %v: cause %q, error %q", shown, s.Cause, s.Error)
					}
				})
			})
		}
	}
}
