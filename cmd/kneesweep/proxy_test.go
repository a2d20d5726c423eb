package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const proxyPassword = "proxy-secret-77"

// proxy is an endpoint that is reached as a proxy: it answers what is asked for
// farAway itself, and connects to the address secure.
type proxy struct {
	secure string
	wants  string // user:password, "" for none

	mu    sync.Mutex
	asked []string
}

func (p *proxy) serve(next served) served {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.RequestURI)
		p.mu.Unlock()
		user := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		name, password, _ := user.BasicAuth()
		switch {
		case p.wants != "" && p.wants != name+":"+password:
			says(http.StatusProxyAuthRequired, "text/plain", "who are you, "+password+"?")(w, r)
		case r.Method == http.MethodConnect:
			p.tunnel(w)
		default:
			next(w, r)
		}
	}
}

// tunnel joins the client and the secure endpoint.
func (p *proxy) tunnel(w http.ResponseWriter) {
	there, err := net.Dial("tcp", p.secure)
	if err != nil {
		http.Error(w, "no way", http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(there, here); there.Close() }()
	_, _ = io.Copy(here, there)
}

func (p *proxy) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, ", ")
}

// TestProxies reaches endpoints that no resolver knows by the proxy of the
// environment, in plain text and through a tunnel.
func TestProxies(t *testing.T) {
	t.Parallel()
	server := newIdentity(t)
	secure := secureEndpoint(t, &tls.Config{Certificates: []tls.Certificate{server.pair}})
	for _, c := range []struct {
		name   string
		url    string
		wants  string
		secure string
		user   string // in the address of the proxy
		asked  string
		want   []string // "ok", or what a failure says
	}{
		{"plain", "http://" + farAway + "/v1", "", secure, "", "POST http://" + farAway + "/v1/chat/completions", []string{`"outcome": "ok"`}},
		{"tunnel", "https://" + farAway + "/v1", "", secure, "", "CONNECT " + farAway + ":443", []string{`"outcome": "ok"`, `"protocol": "HTTP/1.1"`}},
		{"known user", "https://" + farAway, "bob:" + proxyPassword, secure, "bob:" + proxyPassword + "@", "CONNECT " + farAway + ":443", []string{`"outcome": "ok"`}},
		{"plain, unknown user", "http://" + farAway, "bob:other", secure, "bob:" + proxyPassword + "@", "POST http://" + farAway + "/v1/chat/completions", []string{`"cause": "http_407"`}},
		{"tunnel, unknown user", "https://" + farAway, "bob:other", secure, "bob:" + proxyPassword + "@", "CONNECT " + farAway + ":443", []string{`"cause": "connect"`, "the proxy", "407"}},
		{"no way", "https://" + farAway, "", "127.0.0.1:1", "", "CONNECT " + farAway + ":443", []string{`"cause": "connect"`, "the proxy", "502"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &proxy{secure: c.secure, wants: c.wants}
			at := strings.TrimSuffix(strings.Replace(endpoint(t, p.serve), "http://", "http://"+c.user, 1), "/v1")
			r := process(t, []string{"HTTP_PROXY=" + at, "HTTPS_PROXY=" + at}, "ping", "--json", "--url", c.url, "--model", "sim", "--ca-cert", server.cert)
			for _, want := range c.want {
				if !strings.Contains(r.out, want) {
					t.Errorf("no %s in\n%s%s", want, r.out, r.err)
				}
			}
			if p.all() != c.asked {
				t.Errorf("the proxy was asked %q, want %q", p.all(), c.asked)
			}
			if strings.Contains(r.out+r.err, proxyPassword) {
				t.Errorf("the password of the proxy is shown:\n%s%s", r.out, r.err)
			}
		})
	}
}

// TestProxyThatIsDown is told from an endpoint that is down.
func TestProxyThatIsDown(t *testing.T) {
	t.Parallel()
	at := "http://bob:" + proxyPassword + "@127.0.0.1:1"
	r := process(t, []string{"HTTP_PROXY=" + at}, "ping", "--url", "http://"+farAway, "--model", "m")
	if r.code != exitFailed || !strings.Contains(r.out, "failed: connect") || !strings.Contains(r.out, "proxy") || strings.Contains(r.out+r.err, proxyPassword) {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestPanicsKeepSecrets ends the program by a panic amid a request's account.
func TestPanicsKeepSecrets(t *testing.T) {
	t.Parallel()
	url := endpoint(t, func(next served) served { return next })
	r := process(t, []string{panicVariable + "=1", "GOTRACEBACK=all"}, "ping", "--url", strings.Replace(url, "http://", "http://bob:"+testUser+"@", 1),
		"--model", "sim", "--api-key-env", keyVariable, "--header", "X-Api-Key: "+testHeader)
	if !strings.Contains(r.err+r.out, "panic: simulated") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	checkSecret(t, "the account of the panic", r.err+r.out)
}
