package sse

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// reference parses a whole stream in the most obvious way.
func reference(in string) (events []string) {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	in = strings.ReplaceAll(in, "\r\n", "\n")
	in = strings.ReplaceAll(in, "\r", "\n")
	var data, stray []string
	typ := ""
	flush := func() {
		if data != nil || stray != nil {
			events = append(events, text(typ, strings.Join(data, "\n"), cap64(strings.Join(stray, "\n"))))
		}
		data, stray, typ = nil, nil, ""
	}
	for _, line := range strings.Split(in, "\n") {
		if line == "" {
			flush()
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			typ = value
		case "", "id", "retry":
		default:
			stray = append(stray, line)
		}
	}
	flush()
	return events
}

// text writes an event as type|data, and its stray text in braces.
func text(typ, data, stray string) string {
	if stray != "" {
		stray = "{" + stray + "}"
	}
	return typ + "|" + data + stray
}

func cap64(s string) string { return s[:min(len(s), maxStray)] }

// pieces cuts its text where the bytes of cuts say.
type pieces struct {
	text, cuts []byte
	i          int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := len(p.text)
	if len(p.cuts) > 0 {
		n = min(n, 1+int(p.cuts[p.i%len(p.cuts)])%64)
		p.i++
	}
	n = copy(b, p.text[:n])
	p.text = p.text[n:]
	return n, nil
}

// FuzzReader compares the reader with the reference, whatever the reads are cut into.
func FuzzReader(f *testing.F) {
	for _, in := range []string{
		"data: a\n\n", "data: a\r\n\r\n", "data: a\r\rdata: b", "\xef\xbb\xbfdata:a\ndata\n\n",
		": c\n\nevent: error\ndata: {\"a\":1}\nid: 7\n\n", "data: 你好🌍\r\n\ndata: [DONE]", "event: x\n\ndata: a\n\n", "\r\n\r\n\n\r",
		"data: a\n\n{\"error\":1}\nerror: x\n\n", "x\ndata: a\nretry: 1\ny",
		"data: " + strings.Repeat("x", 5000) + "\n\ndata: b\n\n",
	} {
		f.Add([]byte(in), []byte{})
		f.Add([]byte(in), []byte{0})
		f.Add([]byte(in), []byte{2, 0, 40})
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte) {
		want := reference(string(in))
		r := NewReader(&pieces{text: bytes.Clone(in), cuts: cuts}, stepClock())
		for i := 0; ; i++ {
			ev, err := r.Next()
			if err == io.EOF {
				if i != len(want) {
					t.Fatalf("%d events, want %q", i, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(string(ev.Type), string(ev.Data), string(ev.Stray)); i >= len(want) || got != want[i] {
				t.Fatalf("event %d is %q, want %q", i, got, want)
			}
			if int(ev.At) != ev.Read || ev.Read < 1 {
				t.Fatalf("event %d stamped %v in read %d", i, ev.At, ev.Read)
			}
		}
	})
}
