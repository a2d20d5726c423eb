// Package pipe is a network in memory: a listener and a dialer joined without
// sockets, with an optional delay and a shared bandwidth limit. Because nothing
// in it touches the operating system, HTTP traffic over it runs in the virtual
// time of testing/synctest; it works in real time as well.
package pipe

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"
)

// Config describes the link between clients and server. The zero value is a
// perfect link.
type Config struct {
	Delay     time.Duration // one-way delay of every byte
	Bandwidth float64       // bytes/s from server to clients, all connections together; 0 = unlimited
	Buffer    int           // bytes in flight per connection and direction before Write blocks; 0 = 64 KiB
}

// Net is a network with one listener. It implements net.Listener; its Dial
// method fits net.Dialer.DialContext. It is safe for concurrent use.
type Net struct {
	cfg      Config
	accept   chan net.Conn
	closed   chan struct{}
	once     sync.Once
	downlink link
}

// Listen makes a network whose server side is accepted from the result.
func Listen(cfg Config) *Net {
	if cfg.Buffer <= 0 {
		cfg.Buffer = 64 << 10
	}
	return &Net{
		cfg:      cfg,
		accept:   make(chan net.Conn),
		closed:   make(chan struct{}),
		downlink: link{bandwidth: cfg.Bandwidth},
	}
}

// Accept waits for the next connection; after Close it returns net.ErrClosed.
func (n *Net) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close stops accepting. Open connections live on.
func (n *Net) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr returns the address of the listener.
func (n *Net) Addr() net.Addr { return address("pipe:0") }

// Dial connects to the listener, whatever the address. Without a listener it
// fails as a refused TCP connection does.
func (n *Net) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	up := newHalf(n.cfg, nil)
	down := newHalf(n.cfg, &n.downlink)
	client := &conn{in: down, out: up, local: "pipe:client", remote: "pipe:0"}
	server := &conn{in: up, out: down, local: "pipe:0", remote: "pipe:client"}
	select {
	case <-n.closed:
		return nil, refused()
	default:
	}
	select {
	case n.accept <- server:
		return client, nil
	case <-n.closed:
		return nil, refused()
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: ctx.Err()}
	}
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
}

type address string

func (a address) Network() string { return "pipe" }
func (a address) String() string  { return string(a) }

// link is a shared serial line: bytes leave it one after the other.
type link struct {
	bandwidth float64

	mu   sync.Mutex
	free time.Time // when the line is next idle
}

// depart returns when n bytes handed over now have left the line.
func (l *link) depart(now time.Time, n int) time.Time {
	if l == nil || l.bandwidth <= 0 {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / l.bandwidth * float64(time.Second)))
	return l.free
}
