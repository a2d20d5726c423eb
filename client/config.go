package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Defaults of the zero [Config].
const (
	DefaultTimeoutConnect    = 10 * time.Second
	DefaultTimeoutFirstToken = 5 * time.Minute
	DefaultTimeoutIdle       = 60 * time.Second
	DefaultConnections       = 1024
)

// Config says what to ask and how. Only URL has no default. There is no limit on
// the total time of a request: a long healthy stream is not a fault.
type Config struct {
	// URL is the base address (http://host:8000, http://host:8000/v1) or the whole
	// address of what the dialect asks, such as …/chat/completions. User information
	// in it is sent as basic authorization.
	URL     string
	Dialect Dialect // empty means Chat
	Model   string  // empty leaves the field out
	APIKey  string  // empty sends none
	Auth    Auth    // how the key is sent; empty leaves it to the dialect
	// Headers are added to every request and win over those set by the client.
	Headers http.Header
	// Secrets are values to mask in what the server says, beside those that are known
	// for secrets: the key, the credentials in URL, headers with a sensitive name.
	Secrets []string

	NoStream       bool     // ask for one whole answer
	OmitFields     []string // fields of the request body to leave out
	MaxTokensField string   // name of the field that limits the answer; empty leaves it to the dialect
	IgnoreEOS      bool     // ask the server to generate up to the limit
	MinTokens      int      // ask the server for so many tokens at least; 0 does not
	Body           string   // a JSON object whose fields are added to every request; empty adds none

	NewConnection bool // a new connection for each request
	Connections   int  // idle connections kept; as large as the largest concurrency
	// Retries is how many more attempts a request gets after 429, 5xx, a failed
	// connection or a reset before the first token.
	Retries int

	// TimeoutConnect limits dialling and the TLS handshake together.
	TimeoutConnect time.Duration
	// TimeoutFirstToken limits the time from sending to the first token; for an
	// answer in one piece, to its end.
	TimeoutFirstToken time.Duration
	// TimeoutIdle limits the silence after the first token. Only events with data
	// end a silence; comments and pings that keep the connection alive do not.
	TimeoutIdle time.Duration

	// TLS holds own certificate authorities and a client certificate; nil trusts those
	// of the system. It must not be changed afterwards.
	TLS *tls.Config

	// RecordHeaders are headers of the response to keep with the sample; no secret may
	// be among them.
	RecordHeaders []string

	KeepText bool      // keep the content in Sample.Text
	Seed     uint64    // of the jitter between attempts
	Epoch    time.Time // offsets in samples count from here; zero means the time of New
	// Dial opens connections; nil dials the network. It must be safe for concurrent use.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	extra []byte // the fields of Body without its braces
}

// Validate reports everything that is wrong with c, naming the flag to change.
func (c Config) Validate() error {
	var errs []error
	if c.Dialect != "" && wires[c.Dialect] == nil {
		errs = append(errs, fmt.Errorf("--dialect: %.40q is not one of %s", c.Dialect, listed(Dialects())))
	} else if _, err := parseURL(c.URL, c.Dialect); err != nil {
		errs = append(errs, err)
	}
	if c.Auth != "" && !slices.Contains(Auths(), c.Auth) {
		errs = append(errs, fmt.Errorf("--auth: %.40q is not one of %s", c.Auth, listed(Auths())))
	}
	if c.MinTokens < 0 {
		errs = append(errs, fmt.Errorf("--min-tokens: %d is negative", c.MinTokens))
	}
	errs = append(errs, c.checkBody()...)
	for flag, d := range map[string]time.Duration{
		"--timeout-connect":     c.TimeoutConnect,
		"--timeout-first-token": c.TimeoutFirstToken,
		"--timeout-idle":        c.TimeoutIdle,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s: %v is negative", flag, d))
		}
	}
	if c.Retries < 0 {
		errs = append(errs, fmt.Errorf("--retries: %d is negative", c.Retries))
	}
	if c.Connections < 0 {
		errs = append(errs, fmt.Errorf("--max-concurrency: %d connections cannot be kept", c.Connections))
	}
	if strings.ContainsAny(c.MaxTokensField, "\"\\\x00\n") {
		errs = append(errs, fmt.Errorf("--max-tokens-field: %q is not a field name", c.MaxTokensField))
	}
	known := c.bodyFields()
	for _, name := range c.OmitFields {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("--omit-field: %q is never sent (known: %s)", name, strings.Join(known, ", ")))
		}
	}
	// A server that reads Latin-1 would send other characters back in a form that
	// cannot be recognised and masked.
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		errs = append(errs, errors.New("--api-key-env: the key contains a line end or another character that is not printable ASCII"))
	}
	errs = append(errs, c.checkHeaders()...)
	errs = append(errs, c.checkRecorded()...)
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// listed joins the values of an option.
func listed[T ~string](all []T) string {
	var names []string
	for _, v := range all {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

func (c Config) checkHeaders() []error {
	var errs []error
	for name, values := range c.Headers {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }) {
			errs = append(errs, fmt.Errorf("--header: %q is not a header name", name))
		}
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") {
				errs = append(errs, fmt.Errorf("--header: the value of %s contains a line end", name))
			}
		}
	}
	return errs
}

func (c Config) withDefaults() Config {
	if c.TimeoutConnect == 0 {
		c.TimeoutConnect = DefaultTimeoutConnect
	}
	if c.TimeoutFirstToken == 0 {
		c.TimeoutFirstToken = DefaultTimeoutFirstToken
	}
	if c.TimeoutIdle == 0 {
		c.TimeoutIdle = DefaultTimeoutIdle
	}
	c.extra = inner(c.Body)
	if c.Connections == 0 {
		c.Connections = DefaultConnections
	}
	if c.Epoch.IsZero() {
		c.Epoch = time.Now()
	}
	return c
}
