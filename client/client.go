// Package client sends one prompt to an OpenAI-compatible endpoint, or to one that
// speaks another [Dialect], and returns one timed [load.Sample]. A failed request is data, not an error.
//
// What a sample means is laid down in docs/method.md: the clock starts immediately
// before the request is handed to net/http, an event's arrival is the moment at
// which the kernel received what completed it (where the kernel tells: Linux, TCP;
// elsewhere when the read returned; the sample says which), and every token count
// says where it comes from. Answers stream through client/sse; this package holds the wire
// dialects, the timeouts and the causes of failure.
package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"kneesweep/internal/secret"
	"kneesweep/load"
)

// Buffers of a connection, which its life long hold memory for each stream.
const (
	readBuffer  = 2 << 10 // a few events: more is only asked for when the client lags
	writeBuffer = 1 << 10 // the head of a request; the rest of a long prompt goes past it in one write
)

// Client sends prompts to one endpoint. It is safe for concurrent use.
type Client struct {
	cfg       Config
	url       *url.URL
	template  *http.Request // of every request: what they share is only read
	transport *http.Transport
	mask      *secret.Masker
	now       func() time.Duration
	release   func() // lets the kernel stop stamping

	life context.Context // ends with Close
	end  context.CancelFunc

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // running calls of Send, and dials
}

// New returns a Client, or what is wrong with cfg (see [Config.Validate]). It opens
// no connection.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	u, err := parseURL(cfg.URL, cfg.Dialect)
	if err != nil {
		return nil, err
	}
	secrets := append(append(secret.FromURL(u), cfg.APIKey), cfg.Secrets...)
	if cfg.Dial == nil {
		proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
		if err != nil {
			return nil, errors.New("HTTP_PROXY, HTTPS_PROXY: the environment names a proxy that cannot be used") // it may hold a password: not shown
		}
		if proxy != nil {
			secrets = append(secrets, secret.FromURL(proxy)...)
		}
	}
	c := &Client{
		cfg:  cfg,
		url:  u,
		mask: secret.NewMasker(append(secrets, secret.FromHeader(cfg.Headers)...)...),
	}
	epoch := cfg.Epoch
	c.now = func() time.Duration { return time.Since(epoch) }
	header, host := c.headers()
	u.User = nil
	// From the text of the address, as everyone makes requests: it mends paths.
	c.template, err = http.NewRequestWithContext(context.Background(), http.MethodPost, u.String(), nil)
	if err != nil {
		return nil, errors.New(c.shown(err.Error()))
	}
	c.template.Host, c.template.Header = host, header
	c.transport = c.newTransport()
	c.release = func() {}
	if cfg.Dial == nil {
		c.release = sync.OnceFunc(holdStamps())
	}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Endpoint returns the address that is asked, without any secret.
func (c *Client) Endpoint() string { return c.mask.Mask(secret.ShownURL(c.url)) }

// Close ends running requests as canceled, waits for their Send to return and
// closes all connections. Later calls of Send fail with the cause client.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.active.Wait()
	c.transport.CloseIdleConnections()
	c.release()
}

// enter counts a call of Send, or a dial, in; false after Close.
func (c *Client) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.active.Add(1)
	return true
}

// headers returns the headers of every request, and its host.
func (c *Client) headers() (http.Header, string) {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream, application/json"},
		"User-Agent":   {"kneesweep"},
		// Present but not sent: it tells net/http that the request may be sent again
		// when the server had closed the idle connection.
		"Idempotency-Key": nil,
	}
	if c.cfg.NoStream {
		h["Accept"] = []string{"application/json"}
	}
	if user := c.url.User; user != nil {
		password, _ := user.Password()
		r := http.Request{Header: h}
		r.SetBasicAuth(user.Username(), password)
	}
	c.cfg.identify(h)
	host := c.url.Host
	for name, values := range c.cfg.Headers {
		name = http.CanonicalHeaderKey(name)
		if name == "Host" && len(values) > 0 {
			host = values[len(values)-1]
			continue
		}
		h[name] = values
	}
	return h, host
}

func (c *Client) newTransport() *http.Transport {
	t := &http.Transport{
		DialContext:         c.dial,
		DialTLSContext:      c.dialSecure,
		MaxIdleConnsPerHost: c.cfg.Connections,
		IdleConnTimeout:     90 * time.Second,
		DisableKeepAlives:   c.cfg.NewConnection,
		DisableCompression:  true,             // a compressed stream arrives in blocks
		TLSClientConfig:     c.secureConfig(), // behind a proxy net/http shakes hands itself
		ReadBufferSize:      readBuffer,
		WriteBufferSize:     writeBuffer,
		Protocols:           new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	if c.cfg.Dial == nil {
		t.Proxy = http.ProxyFromEnvironment
		t.OnProxyConnectResponse = tunnelled
	}
	return t
}

// tunnelled looks at what a proxy says to the wish for a tunnel.
func tunnelled(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &net.OpError{Op: proxyConnect, Net: "tcp", Err: &dialError{load.CauseConnect, errors.New("it answered HTTP " + resp.Status)}}
}
