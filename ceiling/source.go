package ceiling

import (
	"bufio"
	"container/heap"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	stampDigits = 19 // of a wall clock in ns, until the year 2286
	startsAhead = 1 << 14
	lookEvery   = 64 // events between two looks at who has come
)

// A source answers every request with the same stream of tokens and stamps each
// right before it is written, the stamp being the token's text. It is meant to cost
// less than the client that reads it: frames are rendered beforehand, one goroutine
// holds the times of all streams, and a token is one write. It knows just as much of
// HTTP as our own client needs.
type source struct {
	shape  Shape
	frame  frame
	began  time.Time
	starts chan *stream
	due    queue
}

// Serve serves tokens of a shape until ctx ends, and waits for its goroutines. It
// closes l.
func Serve(ctx context.Context, l net.Listener, shape Shape) {
	s := &source{shape: shape, frame: newFrame(), began: time.Now(), starts: make(chan *stream, startsAhead)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.run(ctx) })
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		nc, err := l.Accept()
		if err != nil {
			break
		}
		wg.Go(func() { s.serve(ctx, nc) })
	}
	cancel()
	wg.Wait()
}

// stream is an answer that is being sent.
type stream struct {
	nc   net.Conn
	sent int
	due  time.Time
	done chan bool // buffered 1: whether all was written
}

// serve reads the requests of a connection.
func (s *source) serve(ctx context.Context, nc net.Conn) {
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	st := &stream{nc: nc, done: make(chan bool, 1)}
	r := bufio.NewReader(nc)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		st.sent, st.due = 0, s.first(time.Now())
		select {
		case s.starts <- st:
		case <-ctx.Done():
			return
		}
		select {
		case ok := <-st.done:
			if !ok {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// first is when the first token is due of a request that came now: at an engine's
// step after the next one begins, or anywhere in that step.
func (s *source) first(now time.Time) time.Time {
	wait := s.shape.Interval
	if s.shape.Burst {
		since := now.Sub(s.began)
		return s.began.Add(since - since%wait + 2*wait)
	}
	return now.Add(wait + time.Duration(rand.Int64N(int64(wait))))
}

// run sends every token when it is due.
func (s *source) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		wait := time.Hour
		if len(s.due) > 0 {
			wait = time.Until(s.due[0].due)
		}
		if wait > 0 {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
			case st := <-s.starts:
				heap.Push(&s.due, st)
			case <-timer.C:
			}
		}
		s.take()
		s.send()
	}
}

// take lets everybody in who has come.
func (s *source) take() {
	for {
		select {
		case st := <-s.starts:
			heap.Push(&s.due, st)
		default:
			return
		}
	}
}

// send sends what is due.
func (s *source) send() {
	for range lookEvery {
		if len(s.due) == 0 {
			return
		}
		st := s.due[0]
		now := time.Now()
		if st.due.After(now) {
			return
		}
		st.sent++
		last := st.sent >= s.shape.Tokens
		_, err := st.nc.Write(s.frame.render(st.sent == 1, last))
		if err != nil || last {
			heap.Pop(&s.due)
			st.done <- err == nil
			continue
		}
		st.due = st.due.Add(s.shape.Interval)
		if st.due.Before(now.Add(s.shape.Interval * 3 / 4)) { // a source that is late is slow, it sends no tokens in a heap
			st.due = now.Add(s.shape.Interval)
		}
		heap.Fix(&s.due, 0)
	}
}

// queue is the streams by when their next token is due.
type queue []*stream

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*stream)) }
func (q *queue) Pop() any {
	old := *q
	st := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return st
}

// frame is the bytes of an event, with those that begin and end an answer around them.
type frame struct {
	bytes []byte
	event int // where the event begins, and where it ends
	end   int
	stamp int // where its text begins
}

func newFrame() frame {
	const (
		head  = `{"id":"chatcmpl-5d1f0cbe8a7746f29e0b3c1d2a4f6e80","object":"chat.completion.chunk","created":1764547200,"model":"source","choices":[`
		token = head + `{"index":0,"delta":{"content":"`
		tail  = `"},"logprobs":null,"finish_reason":null}]}`
	)
	chunk := func(b []byte, text string) []byte { return fmt.Appendf(b, "%x\r\n%s\r\n", len(text), text) }
	f := frame{bytes: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")}
	f.event = len(f.bytes)
	event := "data: " + token + fmt.Sprintf("%0*d", stampDigits, 0) + tail + "\n\n"
	f.stamp = f.event + len(strconv.FormatInt(int64(len(event)), 16)) + len("\r\ndata: ") + len(token)
	f.bytes = chunk(f.bytes, event)
	f.end = len(f.bytes)
	f.bytes = chunk(f.bytes, "data: "+head+`{"index":0,"delta":{},"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	f.bytes = append(f.bytes, "0\r\n\r\n"...)
	return f
}

// render stamps the event; what it returns holds until the next call.
func (f *frame) render(first, last bool) []byte {
	from, to := f.event, f.end
	if first {
		from = 0
	}
	if last {
		to = len(f.bytes)
	}
	at := time.Now().UnixNano()
	for i := f.stamp + stampDigits - 1; i >= f.stamp; i-- {
		f.bytes[i] = byte('0' + at%10)
		at /= 10
	}
	return f.bytes[from:to]
}
