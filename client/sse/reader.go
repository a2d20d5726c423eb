// Package sse reads a stream of server-sent events and says when each arrived.
//
// It knows nothing of HTTP or of what the events mean. A [Reader] reads straight
// into a buffer that it reuses and allocates nothing per event once that buffer
// has the size of the largest line.
package sse

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// MaxFrame bounds one line and the data of one event, in bytes.
const MaxFrame = 16 << 20

const (
	firstBuffer = 1 << 10
	maxStray    = 64 << 10 // bytes kept of lines that are no field
	maxRead     = 64 << 10 // bytes asked for at once, whatever room there is
	maxIdleRead = 100      // reads in a row that may return nothing
)

// ErrFrameTooLong says that a line, or the data of an event, passed [MaxFrame].
var ErrFrameTooLong = errors.New("sse: frame over the limit of 16 MiB")

var bom = []byte("\xef\xbb\xbf")

// Event is one dispatched event.
type Event struct {
	Data []byte // its data lines joined by LF; valid until the next call of Next
	// Stray holds the lines before its end that are neither a comment nor a known field,
	// joined by LF, at most 64 KiB of them; valid until the next call of Next. They mean
	// nothing in a stream, but servers and gateways write their last words so.
	Stray []byte
	Type  []byte        // its event field, empty if it had none; valid until the next call of Next
	At    time.Duration // stamp of the read that completed it
	Read  int           // number of that read, from 1; what one read completed shares a stamp
	Cut   bool          // the stream ended before the blank line that closes the event
}

// Reader splits a stream into events. It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	now func() time.Duration

	buf      []byte
	pos, end int  // buf[pos:end] is unread
	scanned  int  // buf[pos:scanned] holds no line end
	skipLF   bool // the last line ended in CR; a LF that follows belongs to it
	started  bool // the first line is past
	err      error

	at   time.Duration
	read int

	ev      Event // the current one; Data is one line within buf, or joined
	joined  []byte
	pending bool // it has a data line
	inside  bool // Data lies within buf
}

// NewReader returns a Reader of r. now is asked for the stamp directly after each
// Read of r has returned.
func NewReader(r io.Reader, now func() time.Duration) *Reader {
	return &Reader{src: r, now: now, buf: make([]byte, firstBuffer)}
}

// At returns the stamp of the last read, of one that failed too.
func (r *Reader) At() time.Duration { return r.at }

// Peek returns what is buffered, from the first byte that is neither white space
// nor part of a byte order mark; it reads until there is one. The bytes stay
// unread and are valid until the next call. The error is that of the source.
func (r *Reader) Peek() ([]byte, error) {
	for {
		rest := bytes.TrimLeft(r.buf[r.pos:r.end], " \t\r\n\xef\xbb\xbf")
		if len(rest) > 0 {
			return rest, nil
		}
		if r.err != nil {
			return nil, r.err
		}
		r.fill()
	}
}

// Rest returns a reader of everything not yet read: what is buffered, then the
// source. The Reader must not be used after it.
func (r *Reader) Rest() io.Reader {
	buffered := bytes.NewReader(r.buf[r.pos:r.end])
	if r.err != nil {
		return io.MultiReader(buffered, failed{r.err})
	}
	return io.MultiReader(buffered, r.src)
}

type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// Next returns the next event, which is valid until the next call; lines that are no field make one too, with stray text
// and perhaps without data. At the end of the stream, which io.EOF and
// io.ErrUnexpectedEOF tell, it first returns an event that lacks its closing blank
// line, then the error. After any other error of the source, an unfinished event is
// dropped. A line or an event over [MaxFrame] gives [ErrFrameTooLong].
func (r *Reader) Next() (*Event, error) {
	r.reset()
	for {
		line, ok := r.line()
		if !ok {
			if r.err != nil {
				return r.last()
			}
			r.fill()
			continue
		}
		if len(line) == 0 {
			if r.full() {
				return r.event(false), nil
			}
			r.reset()
			continue
		}
		if err := r.field(line); err != nil {
			r.err, r.pos = err, r.end
			return nil, err
		}
	}
}

func (r *Reader) reset() {
	r.ev.Data, r.ev.Type, r.ev.Stray, r.pending, r.inside = nil, r.ev.Type[:0], r.ev.Stray[:0], false, false
}

// full reports whether the current event holds anything to hand out.
func (r *Reader) full() bool { return r.pending || len(r.ev.Stray) > 0 }

func (r *Reader) event(cut bool) *Event {
	r.ev.At, r.ev.Read, r.ev.Cut = r.at, r.read, cut
	return &r.ev
}

// last handles the end of the source: a line without line end counts, and an
// event without its blank line too.
func (r *Reader) last() (*Event, error) {
	if !errors.Is(r.err, io.EOF) && !errors.Is(r.err, io.ErrUnexpectedEOF) {
		return nil, r.err
	}
	if r.pos < r.end {
		line := r.strip(r.buf[r.pos:r.end])
		r.pos, r.scanned = r.end, r.end
		if err := r.field(line); err != nil {
			r.err = err
			return nil, err
		}
	}
	if r.full() {
		return r.event(true), nil
	}
	return nil, r.err
}

// line returns the next complete line without its end.
func (r *Reader) line() ([]byte, bool) {
	if r.skipLF && r.pos < r.end {
		r.skipLF = false
		if r.buf[r.pos] == '\n' {
			r.pos++
			r.scanned = max(r.scanned, r.pos)
		}
	}
	fresh := r.buf[r.scanned:r.end]
	i := bytes.IndexByte(fresh, '\n')
	if i >= 0 {
		fresh = fresh[:i]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		i = cr
		r.skipLF = true
	}
	if i < 0 {
		r.scanned = r.end
		return nil, false
	}
	stop := r.scanned + i
	line := r.buf[r.pos:stop]
	r.pos, r.scanned = stop+1, stop+1
	return r.strip(line), true
}

// strip removes a byte order mark from the first line.
func (r *Reader) strip(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, bom)
}

// field takes one line that is not blank.
func (r *Reader) field(line []byte) error {
	var value []byte
	name := line
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		if len(r.ev.Data)+len(value)+1 > MaxFrame {
			return ErrFrameTooLong
		}
		if r.pending {
			r.lift()
			r.joined = append(append(r.joined, '\n'), value...)
			r.ev.Data = r.joined
			return nil
		}
		r.ev.Data, r.pending, r.inside = value, true, true // most events have one line: no copy
	case "event":
		r.ev.Type = append(r.ev.Type[:0], value...)
	case "", "id", "retry":
	default:
		r.keep(line)
	}
	return nil
}

// lift copies data out of buf, before buf changes or a line is joined to it.
func (r *Reader) lift() {
	if r.inside {
		r.joined = append(r.joined[:0], r.ev.Data...)
		r.ev.Data, r.inside = r.joined, false
	}
}

// keep adds a line that is no field to the stray text.
func (r *Reader) keep(line []byte) {
	if len(r.ev.Stray) > 0 && len(r.ev.Stray) < maxStray {
		r.ev.Stray = append(r.ev.Stray, '\n')
	}
	r.ev.Stray = append(r.ev.Stray, line[:min(len(line), maxStray-len(r.ev.Stray))]...)
}

// fill reads once and stamps what came. This is the one place where an arrival
// time is taken.
func (r *Reader) fill() {
	r.lift()
	r.makeRoom()
	if r.err != nil {
		return
	}
	for range maxIdleRead {
		n, err := r.src.Read(r.buf[r.end:min(len(r.buf), r.end+maxRead)])
		r.at = r.now()
		r.read++
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom moves the unfinished line to the front, or doubles the buffer.
func (r *Reader) makeRoom() {
	if r.pos == r.end {
		r.pos, r.end, r.scanned = 0, 0, 0
	}
	if r.end < len(r.buf) {
		return
	}
	if r.end-r.pos >= MaxFrame {
		r.err, r.pos, r.scanned = ErrFrameTooLong, r.end, r.end
		return
	}
	to := r.buf
	if r.end-r.pos > len(r.buf)/2 {
		to = make([]byte, min(2*len(r.buf), MaxFrame+firstBuffer))
	}
	n := copy(to, r.buf[r.pos:r.end])
	r.scanned -= r.pos
	r.buf, r.pos, r.end = to, 0, n
}
