package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// farAway is a host that no resolver knows; its endpoint is reached by a proxy only.
const farAway = "model.invalid"

// identity is a certificate that vouches for itself, and its files.
type identity struct {
	pair      tls.Certificate
	pool      *x509.CertPool
	cert, key string // PEM files
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: farAway}, DNSNames: []string{farAway}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().AddDate(1, 0, 0), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	id := identity{pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool: x509.NewCertPool()}
	id.pool.AddCert(parsed)
	id.cert = write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	id.key = write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return id
}

// goodAnswer is a stream of three tokens.
const goodAnswer = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n" +
	`data: {"model":"m","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n" +
	`data: {"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}` + "\n\ndata: [DONE]\n\n"

// secureEndpoint serves goodAnswer over TLS, and offers HTTP/2 too; it returns host
// and port.
func secureEndpoint(t *testing.T, conf *tls.Config) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(says(http.StatusOK, "text/event-stream", goodAnswer))
	srv.TLS, srv.EnableHTTP2 = conf, true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// TestTrust asks endpoints with an authority of their own, one of which wants to know
// its clients.
func TestTrust(t *testing.T) {
	t.Parallel()
	server, client, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	open := secureEndpoint(t, &tls.Config{Certificates: []tls.Certificate{server.pair}})
	closed := secureEndpoint(t, &tls.Config{Certificates: []tls.Certificate{server.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: client.pool})
	for _, c := range []struct {
		name string
		host string
		args []string
		want string // "" = it works
	}{
		{"known authority", open, []string{"--ca-cert", server.cert}, ""},
		{"unknown authority", open, nil, "--ca-cert"},
		{"another authority", open, []string{"--ca-cert", stranger.cert}, "--ca-cert"},
		{"known client", closed, []string{"--ca-cert", server.cert, "--client-cert", client.cert, "--client-key", client.key}, ""},
		{"nobody", closed, []string{"--ca-cert", server.cert}, "--client-cert"},
		{"a stranger", closed, []string{"--ca-cert", server.cert, "--client-cert", stranger.cert, "--client-key", stranger.key}, "--client-cert"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"--url", "https://" + c.host, "--model", "m"}, c.args...)
			if c.want == "" {
				doc := object(t, command(append([]string{"ping", "--json"}, args...)...).out)
				if doc["outcome"] != "ok" || doc["protocol"] != "HTTP/1.1" || doc["output_tokens"] != 3.0 {
					t.Errorf("sample %v", doc)
				}
				return
			}
			dir := filepath.Join(t.TempDir(), "run")
			r := command(append([]string{"sweep", "--out", dir}, args...)...)
			if r.code != exitFailed || !strings.Contains(r.err, "failed (tls): ") || !strings.Contains(r.err, c.want) || strings.Count(r.err, "\n") != 3 {
				t.Errorf("exit %d, want 1 and %s:\n%s", r.code, c.want, r.err)
			}
		})
	}
}

// TestBadTrust gives files that cannot be used: nothing is sent, the flag is named,
// and no key is shown.
func TestBadTrust(t *testing.T) {
	t.Parallel()
	one, two := newIdentity(t), newIdentity(t)
	nothing, garbage := filepath.Join(t.TempDir(), "nothing.pem"), write(t, "garbage.pem", "sk-secret\n")
	empty := write(t, "empty.pem", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ca-cert", nothing}, "--ca-cert: open " + nothing},
		{[]string{"--ca-cert", garbage}, "--ca-cert: " + garbage + " holds no PEM certificate"},
		{[]string{"--ca-cert", empty}, "--ca-cert: " + empty + " holds no PEM certificate"},
		{[]string{"--ca-cert", one.key}, "--ca-cert: " + one.key + " holds no PEM certificate"},
		{[]string{"--ca-cert", t.TempDir()}, "--ca-cert: read "},
		{[]string{"--client-cert", one.cert}, "--client-cert and --client-key: give both"},
		{[]string{"--client-key", one.key}, "--client-cert and --client-key: give both"},
		{[]string{"--client-cert", nothing, "--client-key", one.key}, "--client-cert: open " + nothing},
		{[]string{"--client-cert", one.cert, "--client-key", nothing}, "--client-key: open " + nothing},
		{[]string{"--client-cert", garbage, "--client-key", one.key}, "--client-cert: " + garbage},
		{[]string{"--client-cert", one.cert, "--client-key", garbage}, "--client-key: " + garbage},
		{[]string{"--client-cert", one.cert, "--client-key", two.key}, "--client-key: " + two.key + ": tls: private key does not match"},
		{[]string{"--client-cert", one.key, "--client-key", one.cert}, "--client-cert: " + one.key},
	} {
		r := command(append([]string{"ping", "--url", "https://127.0.0.1:1", "--model", "m"}, c.args...)...)
		first, _, _ := strings.Cut(r.err, "\n")
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(first, "kneesweep: "+c.want) || strings.Contains(r.err, "sk-secret") {
			t.Errorf("%q: exit %d, want 2 and %q\n%s%s", c.args, r.code, c.want, r.err, r.out)
		}
	}
	if _, err := os.Stat(nothing); err == nil {
		t.Error("a file was made")
	}
}

// TestHTTP2Only meets a server that speaks HTTP/2 alone: one clear line.
func TestHTTP2Only(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64") // settings
			_, _ = c.Read(make([]byte, 1<<16))
			c.Close()
		}
	}()
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", "http://"+l.Addr().String(), "--model", "m", "--out", dir)
	if r.code != exitFailed || !strings.Contains(r.err, "speaks only HTTP/2") || !strings.Contains(r.err, "enable HTTP/1.1 on the server") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
