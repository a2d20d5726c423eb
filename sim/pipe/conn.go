package pipe

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is one end of a connection.
type conn struct {
	in, out       *half
	local, remote address
	once          sync.Once
}

func (c *conn) Read(b []byte) (int, error)  { return c.in.read(b) }
func (c *conn) Write(b []byte) (int, error) { return c.out.write(b) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

func (c *conn) Close() error {
	c.once.Do(func() {
		c.in.closeReader()
		c.out.closeWriter()
	})
	return nil
}

func (c *conn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}
func (c *conn) SetReadDeadline(t time.Time) error  { c.in.setReadDeadline(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.out.setWriteDeadline(t); return nil }

// segment is bytes on their way, readable from due on.
type segment struct {
	data []byte
	due  time.Time
}

// half is one direction of a connection.
type half struct {
	delay  time.Duration
	limit  int
	line   *link
	mu     sync.Mutex
	change *sync.Cond

	segs          []segment
	size          int
	readerClosed  bool
	writerClosed  bool
	readDeadline  time.Time
	writeDeadline time.Time
}

func newHalf(cfg Config, line *link) *half {
	h := &half{delay: cfg.Delay, limit: cfg.Buffer, line: line}
	h.change = sync.NewCond(&h.mu)
	return h
}

// read returns every byte that is due, at most len(b), and waits for the first.
func (h *half) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case h.readerClosed:
			return 0, net.ErrClosed
		case !h.readDeadline.IsZero() && !now.Before(h.readDeadline):
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		}
		if n := h.take(b, now); n > 0 {
			h.change.Broadcast()
			return n, nil
		}
		if len(h.segs) == 0 {
			if h.writerClosed {
				return 0, io.EOF
			}
			h.wait(h.readDeadline)
			continue
		}
		h.wait(earlier(h.segs[0].due, h.readDeadline))
	}
}

// take copies what is due at now out of the queue.
func (h *half) take(b []byte, now time.Time) int {
	n := 0
	for len(h.segs) > 0 && n < len(b) && !h.segs[0].due.After(now) {
		s := &h.segs[0]
		k := copy(b[n:], s.data)
		n += k
		s.data = s.data[k:]
		if len(s.data) == 0 {
			h.segs[0] = segment{}
			h.segs = h.segs[1:]
		}
	}
	h.size -= n
	return n
}

// write queues b, waiting while the buffer is full.
func (h *half) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := 0
	for {
		now := time.Now()
		switch {
		case h.writerClosed:
			return done, net.ErrClosed
		case h.readerClosed:
			return done, &net.OpError{Op: "write", Net: "pipe", Err: syscall.EPIPE}
		case !h.writeDeadline.IsZero() && !now.Before(h.writeDeadline):
			return done, os.ErrDeadlineExceeded
		case done == len(b):
			return done, nil
		}
		room := min(h.limit-h.size, len(b)-done)
		if room <= 0 {
			h.wait(h.writeDeadline)
			continue
		}
		part := append([]byte(nil), b[done:done+room]...)
		h.segs = append(h.segs, segment{part, h.line.depart(now, room).Add(h.delay)})
		h.size += room
		done += room
		h.change.Broadcast()
	}
}

// wait releases the lock until something changes or t (if set) has come.
func (h *half) wait(t time.Time) {
	if t.IsZero() {
		h.change.Wait()
		return
	}
	timer := time.AfterFunc(time.Until(t), func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.change.Broadcast()
	})
	h.change.Wait()
	timer.Stop()
}

func (h *half) closeReader() { h.set(func() { h.readerClosed = true; h.segs = nil; h.size = 0 }) }
func (h *half) closeWriter() { h.set(func() { h.writerClosed = true }) }

func (h *half) setReadDeadline(t time.Time)  { h.set(func() { h.readDeadline = t }) }
func (h *half) setWriteDeadline(t time.Time) { h.set(func() { h.writeDeadline = t }) }

func (h *half) set(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	h.change.Broadcast()
}

// earlier returns the earlier of two times, of which u may be unset.
func earlier(t, u time.Time) time.Time {
	if u.IsZero() || t.Before(u) {
		return t
	}
	return u
}
