package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"kneesweep/load"
)

// conn is a connection that knows what it cost to open. The innermost one, below
// TLS, also learns from the kernel when bytes arrived, where that is possible.
type conn struct {
	net.Conn
	opening time.Duration // dialling and TLS
	greeted bool          // something was read

	socket *receiver // nil: no stamps of the kernel
}

// receipt tells of the reads of a connection. Only the connection writes it, perhaps
// on a goroutine of net/http, which may hand the connection to the next request
// before the one that it served has looked.
type receipt struct {
	reads atomic.Int64 // that brought something
	stamp atomic.Int64 // of the last of them, the kernel's wall clock in ns; 0 = none
	users atomic.Int64 // requests that were given the connection
}

// errHTTP2 is what a server gives us that speaks HTTP/2 without being asked to.
var errHTTP2 = errors.New("its first words are a frame of HTTP/2")

// Read looks at the first bytes: net/http would call them unsolicited or malformed,
// depending on whether they or the request come first.
func (c *conn) Read(b []byte) (int, error) {
	var n int
	var err error
	if c.socket != nil {
		n, err = c.socket.read(b)
	} else {
		n, err = c.Conn.Read(b)
	}
	if !c.greeted && n > 0 {
		c.greeted = true
		if n > 3 && b[0] == 0 && b[1] == 0 && b[3] == 4 { // settings
			return 0, errHTTP2
		}
	}
	return n, err
}

// dialError is a connection that was not made, and the stage that failed.
type dialError struct {
	cause load.Cause
	err   error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// dial opens a connection for net/http, which may go on dialling after the request
// that wanted it has ended.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.limited(ctx, func(ctx context.Context) (net.Conn, error) { return c.open(ctx, network, addr) })
}

// dialSecure dials and shakes hands under one timeout.
func (c *Client) dialSecure(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.limited(ctx, func(ctx context.Context) (net.Conn, error) { return c.openSecure(ctx, network, addr) })
}

// limited runs open until the connect timeout or Close.
func (c *Client) limited(ctx context.Context, open func(context.Context) (net.Conn, error)) (net.Conn, error) {
	if !c.enter() {
		return nil, &dialError{load.CauseConnect, net.ErrClosed}
	}
	defer c.active.Done()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TimeoutConnect)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	return open(ctx)
}

func (c *Client) open(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.cfg.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	start := c.now()
	nc, err := dial(ctx, network, addr)
	if err != nil {
		return nil, &dialError{load.CauseConnect, err}
	}
	return &conn{Conn: nc, opening: c.now() - start, socket: newReceiver(nc)}, nil
}

func (c *Client) openSecure(ctx context.Context, network, addr string) (net.Conn, error) {
	start := c.now()
	plain, err := c.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		name = addr
	}
	conf := c.secureConfig()
	conf.ServerName = name
	secure := tls.Client(plain, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, &dialError{load.CauseTLS, err}
	}
	return &conn{Conn: secure, opening: c.now() - start}, nil
}

// secureConfig returns a TLS configuration of its own for one connection.
func (c *Client) secureConfig() *tls.Config {
	conf := &tls.Config{}
	if c.cfg.TLS != nil {
		conf = c.cfg.TLS.Clone()
	}
	conf.NextProtos = []string{"http/1.1"}
	return conf
}

// own returns the connection that [Client.dial] made, below whatever net/http and
// crypto/tls put around it; what it cost to open it with TLS is told by the outermost.
func own(nc net.Conn) (inner *conn, opening time.Duration) {
	for {
		switch c := nc.(type) {
		case *conn:
			inner, opening = c, max(opening, c.opening)
			nc = c.Conn
		case *tls.Conn:
			nc = c.NetConn()
		default:
			return inner, opening
		}
	}
}
