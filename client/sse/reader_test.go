package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// stepClock gives every read its number as stamp.
func stepClock() func() time.Duration {
	n := 0
	return func() time.Duration { n++; return time.Duration(n) }
}

// parts is a source that returns one part per read, then err (io.EOF if nil).
type parts struct {
	list []string
	err  error
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.list) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		return 0, io.EOF
	}
	n := copy(b, p.list[0])
	if p.list[0] = p.list[0][n:]; p.list[0] == "" {
		p.list = p.list[1:]
	}
	return n, nil
}

// collect writes each event as type|data@stamp#read.
func collect(r *Reader) (string, error) {
	var out []string
	for {
		ev, err := r.Next()
		if err != nil {
			return strings.Join(out, " "), err
		}
		cut := ""
		if ev.Cut {
			cut = "!"
		}
		out = append(out, fmt.Sprintf("%s@%d#%d%s", text(string(ev.Type), string(ev.Data), string(ev.Stray)), ev.At, ev.Read, cut))
	}
}

func TestEvents(t *testing.T) {
	cases := []struct {
		name, in, want string // parts of in are separated by "~"
	}{
		{"one", "data: a\n\n", "|a@1#1"},
		{"two in one read", "data: a\n\ndata: b\n\n", "|a@1#1 |b@1#1"},
		{"two reads", "data: a\n\n~data: b\n\n", "|a@1#1 |b@2#2"},
		{"completed by the second read", "data: a\n~\n", "|a@2#2"},
		{"cut in the data", "data: a~b\n\n", "|ab@2#2"},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", "|a@1#1 |b@1#1"},
		{"CR", "data: a\r\rdata: b\r\r", "|a@1#1 |b@1#1"},
		{"mixed ends", "data: a\r\n\ndata: b\n\rdata: c\r\r\n", "|a@1#1 |b@1#1 |c@1#1"},
		{"CR completes at once", "data: a\r\n\r~\ndata: b\r\n\r~\n", "|a@1#1 |b@2#2"},
		{"LF after CR is swallowed once", "data: a\r~\n~\n", "|a@3#3"},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", "|a@1#1"},
		{"byte order mark cut", "\xef~\xbb~\xbfdata: a\n\n", "|a@3#3"},
		{"byte order mark later", "data: a\n\n\xef\xbb\xbfdata: b\n\n", "|a@1#1 |{\ufeffdata: b}@1#1"},
		{"comment", ": hello\n\ndata: a\n: x\n\n", "|a@1#1"},
		{"bare colon", ":\n\ndata: a\n\n", "|a@1#1"},
		{"lines joined", "data: a\ndata: b\ndata:\n\n", "|a\nb\n@1#1"},
		{"no blank", "data:a\n\n", "|a@1#1"},
		{"one blank only", "data:  a \n\n", "| a @1#1"},
		{"unknown field", "id: 7\nretry: 5\nfoo: bar\ndatum: x\ndata: a\n\n", "|a{foo: bar\ndatum: x}@1#1"},
		{"no field at all", "data: a\n\n{\"error\": 1}\n~\ndata: b\n\n", "|a@1#1 |{{\"error\": 1}}@2#2 |b@2#2"},
		{"no field at the end", "data: a\n\nerror: x", "|a@1#1 |{error: x}@2#2!"},
		{"only an identity", "id: 7\nretry: 5\n\n", ""},
		{"field without colon", "data\n\n", "|@1#1"},
		{"empty data", "data:\n\ndata: \n\n", "|@1#1 |@1#1"},
		{"event type", "event: error\ndata: a\n\ndata: b\n\n", "error|a@1#1 |b@1#1"},
		{"type without data", "event: ping\n\ndata: a\n\n", "|a@1#1"},
		{"only blank lines", "\n\n\r\n\r\n", ""},
		{"end without blank line", "data: a\n", "|a@2#2!"},
		{"end without line end", "data: a\n\ndata: [DONE]", "|a@1#1 |[DONE]@2#2!"},
		{"end after CR", "data: a\r", "|a@2#2!"},
		{"end in a comment", "data: a\n\n: x", "|a@1#1"},
		{"field name with blank", " data: a\n\n", "|{ data: a}@1#1"},
		{"NUL", "data: \x00\n\n", "|\x00@1#1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(&parts{list: strings.Split(c.in, "~")}, stepClock())
			got, err := collect(r)
			if got != c.want || err != io.EOF {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// A broken source drops the unfinished event, and the error stays.
func TestBrokenSource(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(&parts{[]string{"data: a\n\ndata: b\n"}, broken}, stepClock())
	got, err := collect(r)
	if got != "|a@1#1" || err != broken {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := r.Next(); err != broken || r.At() != 2 {
		t.Errorf("again: %v, stamp %v", err, r.At())
	}
}

// A body that ends too early gives what had come of its last event.
func TestShortSource(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\ndata: b": "|a@1#1 |b@2#2!",
		"data: a\n\n{x":      "|a@1#1 |{{x}@2#2!",
		"data: a\n\n":        "|a@1#1",
	} {
		got, err := collect(NewReader(&parts{[]string{in}, io.ErrUnexpectedEOF}, stepClock()))
		if got != want || err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// Stray text is bounded.
func TestStrayBound(t *testing.T) {
	ev, err := NewReader(strings.NewReader(strings.Repeat("stray line\n", 10<<10)+"\n"), stepClock()).Next()
	if err != nil || len(ev.Stray) != maxStray {
		t.Errorf("%d bytes, %v", len(ev.Stray), err)
	}
}

func TestDataWithError(t *testing.T) {
	got, err := collect(NewReader(iotest.DataErrReader(strings.NewReader("data: a\n\ndata: b\n\n")), stepClock()))
	if got != "|a@1#1 |b@1#1" || err != io.EOF {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSourceWithoutProgress(t *testing.T) {
	if _, err := NewReader(idle{}, stepClock()).Next(); err != io.ErrNoProgress {
		t.Error(err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// endless gives x forever and counts.
type endless struct {
	prefix string
	given  int
	fill   byte
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.prefix)
	e.prefix = e.prefix[n:]
	for i := n; i < len(b); i++ {
		b[i] = e.fill
	}
	e.given += len(b)
	return len(b), nil
}

// Memory is bounded whatever the source sends.
func TestFrameBound(t *testing.T) {
	t.Run("endless line", func(t *testing.T) {
		src := &endless{prefix: "data: ", fill: 'x'}
		r := NewReader(src, stepClock())
		if _, err := r.Next(); err != ErrFrameTooLong {
			t.Fatal(err)
		}
		if src.given > MaxFrame+maxRead || len(r.buf) > MaxFrame+firstBuffer {
			t.Errorf("read %d bytes, buffer of %d", src.given, len(r.buf))
		}
		if _, err := r.Next(); err != ErrFrameTooLong {
			t.Errorf("again: %v", err)
		}
	})
	t.Run("endless data lines", func(t *testing.T) {
		line := "data: " + strings.Repeat("x", 1<<20) + "\n"
		r := NewReader(strings.NewReader(strings.Repeat(line, 20)), stepClock())
		if _, err := r.Next(); err != ErrFrameTooLong {
			t.Fatal(err)
		}
		if cap(r.joined) > 2*MaxFrame {
			t.Errorf("data of %d", cap(r.joined))
		}
	})
	t.Run("endless comments", func(t *testing.T) {
		r := NewReader(io.LimitReader(&endless{fill: '\n'}, 2<<20), stepClock())
		if _, err := r.Next(); err != io.EOF || len(r.buf) != firstBuffer {
			t.Errorf("%v, buffer of %d", err, len(r.buf))
		}
	})
	t.Run("largest", func(t *testing.T) {
		text := strings.Repeat("x", MaxFrame-len("data: ")-1)
		ev, err := NewReader(strings.NewReader("data: "+text+"\n\n"), stepClock()).Next()
		if err != nil || string(ev.Data) != text {
			t.Error(len(ev.Data), err)
		}
	})
}

func TestPeekAndRest(t *testing.T) {
	r := NewReader(&parts{list: []string{"\xef\xbb\xbf\r\n", " {\"a\"", ":1}"}}, stepClock())
	head, err := r.Peek()
	if err != nil || string(head) != `{"a"` || r.At() != 2 {
		t.Errorf("%q, %v, stamp %v", head, err, r.At())
	}
	all, err := io.ReadAll(r.Rest())
	if err != nil || string(all) != "\xef\xbb\xbf\r\n {\"a\":1}" {
		t.Errorf("%q, %v", all, err)
	}
	r = NewReader(&parts{list: []string{"\n"}}, stepClock())
	if _, err := r.Peek(); err != io.EOF {
		t.Error(err)
	}
	r = NewReader(&parts{list: []string{"\n", "data: a\n\n"}}, stepClock())
	r.Peek()
	if got, err := collect(r); got != "|a@2#2" || err != io.EOF {
		t.Errorf("%q, %v", got, err)
	}
}

// loop repeats one text forever.
type loop struct {
	text string
	pos  int
	most int // bytes per read
}

func (l *loop) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), l.most)], l.text[l.pos:])
	l.pos = (l.pos + n) % len(l.text)
	return n, nil
}

func TestNoAllocationPerEvent(t *testing.T) {
	for _, most := range []int{1, 100, 1 << 20} {
		r := NewReader(&loop{text: "event: x\ndata: hello\ndata: world\r\n\r\n: ping\n\n", most: most}, stepClock())
		if n := testing.AllocsPerRun(1000, func() { r.Next() }); n != 0 {
			t.Errorf("%v allocations per event with reads of %d", n, most)
		}
	}
}
