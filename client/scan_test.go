package client

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/client/sse"
	"kneesweep/load"
)

// same reports whether two readings of a frame agree.
func same(a, b *delta) bool {
	return a.token == b.token && a.partial == b.partial && a.complaint == b.complaint && a.odd == b.odd && a.content == b.content && a.reasoning == b.reasoning && a.choices == b.choices &&
		bytes.Equal(a.text, b.text) && bytes.Equal(a.finish, b.finish) && bytes.Equal(a.model, b.model) &&
		bytes.Equal(a.fingerprint, b.fingerprint) && a.usage == b.usage && a.failed == b.failed && a.failure == b.failure
}

// frames lists the payloads of every recorded stream.
func frames(t testing.TB) (all [][]byte) {
	files, err := filepath.Glob(filepath.Join(streams, "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal("no streams", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(b, []byte("\n")) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				all = append(all, data)
			}
		}
	}
	return all
}

// Where the fast reading is sure, it agrees with the full one; and it is sure of
// nearly all frames of real streams.
func TestScanAgreesWithDecode(t *testing.T) {
	sure, all := 0, frames(t)
	var st stencil
	var fast delta
	for _, data := range all {
		var full delta
		if !st.scan(&fast, data) {
			continue
		}
		sure++
		if err := full.decode(data); err != nil || !same(&fast, &full) {
			t.Fatalf("%s\nfast %+v\nfull %+v, %v", data, fast, full, err)
		}
	}
	if sure*100 < len(all)*95 {
		t.Errorf("sure of %d of %d frames", sure, len(all))
	}
}

// Shapes of servers that must stay on the fast path, and ones that must not.
func TestScanShapes(t *testing.T) {
	for in, sure := range map[string]bool{
		`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}]}`: true,
		`{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null,"stop_reason":null,"token_ids":null}],"usage":null,"error":null}`:            true,
		`{"choices":[{"delta":{"reasoning":"a","content":null,"tool_calls":null},"finish_reason":"stop"}]}`:                                                        true,
		` { "choices" : [ { "delta" : { "content" : "é" } } ] } `:                                                                                                  true,
		`{"choices":[]}`:   true,
		`{}`:               false, // no choices: it may be anything
		`{"choices":null}`: false,
		`{"choices":[{"delta":{"content":"a"},"error":null,"usage":null}]}`:       true,
		`{"choices":[{"delta":{},"finish_reason":"error"}]}`:                      false,
		`{"choices":[{"delta":{},"error":{"message":"x"}}]}`:                      false,
		`{"choices":[{"delta":{"audio":{"data":"x"}}}]}`:                          false,
		`{"choices":[{"delta":{"content":"a\n"}}]}`:                               false, // an escape
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`:       false,
		`{"choices":[{"delta":{"content":"a","content":"b"}}]}`:                   false,
		`{"choices":[{"delta":{"Content":"a"}}]}`:                                 false,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}}`: false,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"x"}}]}}]}`: false,
		`{"error":{"message":"x"}}`:                                               false,
		`{"choices":[{"delta":{"content":"a"}}]`:                                  false,
		`{"choices":[{"delta":{"content":"a"}}]} x`:                               false,
		`{"created":01}`: false,
		`[DONE]`:         false,
		"{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}": false,
		"{\"choices\":[{\"delta\":{\"content\":\"a\tb\"}}]}": false,
	} {
		var d delta
		if d.scan([]byte(in)) != sure {
			t.Errorf("%s: sure %v", in, !sure)
		}
	}
}

// A frame that is like the last one but for its content is read from it, and from
// nothing else.
func TestStencil(t *testing.T) {
	const frame = `{"id":"a","model":"m","choices":[{"delta":{"content":"%"},"finish_reason":null}]}`
	with := func(text string) []byte { return []byte(strings.Replace(frame, "%", text, 1)) }
	var st stencil
	var d delta
	if !st.scan(&d, with("x")) || st.fitted {
		t.Fatal("the first frame")
	}
	for _, c := range []struct {
		data   []byte
		fitted bool
	}{
		{with("y"), true}, {with("longer"), true}, {with("é"), true},
		{with(""), false},         // no content, no token
		{with(`\n`), false},       // to be unescaped
		{with(`","x":"`), false},  // more than a content
		{with("\t"), false},       // not JSON
		{with("\xff"), false},     // not UTF-8
		{with("x")[:20], false},   // cut
		{with("x")[1:], false},    // cut
		{[]byte(`[DONE]`), false}, // something else
		{[]byte(``), false},       // nothing
		{with("z"), true},         // as before
		{bytes.Replace(with("z"), []byte(`"a"`), []byte(`"b"`), 1), false},
		{bytes.Replace(with("z"), []byte(`"a"`), []byte(`"b"`), 1), true}, // it has become the one to compare with
	} {
		var full delta
		sure, err := st.scan(&d, c.data), full.decode(c.data)
		if st.fitted != c.fitted || c.fitted && !sure || sure && (err != nil || !same(&d, &full)) {
			t.Errorf("%q: fitted %v, sure %v\n got %+v\nwant %+v, %v", c.data, st.fitted, sure, d, full, err)
		}
	}
}

// FuzzScan compares the fast with the full reading on anything, and that of a frame
// that follows another one.
func FuzzScan(f *testing.F) {
	all := frames(f)
	for i, data := range all {
		if i%200 < 2 {
			f.Add(data, all[(i+1)%len(all)])
		}
	}
	for _, s := range []string{
		`{"choices":[{"delta":{"content":"a\u0041"}}]}`, `{"choices":[{"text":"a"}]}`, `{"choices":null,"usage":null}`,
		`{"choices":[{"delta":{"reasoning_content":"r","reasoning":"s"},"finish_reason":"stop"}]}`, `{"object":"error"}`, `{"error":""}`,
		`{"choices":[{"delta":{"tool_calls":[]}}],"x_groq":null,"a":-1.5e3,"b":true,"c":false,"d":0}`, `{"choices":[{"delta":null}]}`,
		`{"choices":[{"error":null,"usage":null,"finish_reason":"abort"}]}`, `{"detail":"x"}`, `{"code":500,"message":"x","choices":[]}`,
		`{"choices":[{"message":{"content":"x"},"usage":{"completion_tokens":2}}]}`, `{"choices":[{"delta":{"audio":null}}],"code":500,"detail":"x"}`,
	} {
		f.Add([]byte(s), []byte(s))
	}
	f.Add([]byte(`{"choices":[{"delta":{"content":"a"}}]}`), []byte(`{"choices":[{"delta":{"content":"a","content":"b"}}]}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a"}}]}`), []byte(`{"choices":[{"delta":{"content":"\u00e9\ud83c"}}]}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var st stencil
		var fast delta
		for i, data := range [][]byte{first, second, second, first} {
			var full delta
			sure := st.scan(&fast, data)
			err := full.decode(data)
			if sure && (err != nil || !same(&fast, &full)) {
				t.Fatalf("frame %d: fast %+v\nfull %+v, %v", i, fast, full, err)
			}
		}
	})
}

// steady is an endless stream of ordinary frames.
type steady struct {
	frame []byte
	pos   int
}

func (s *steady) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k := copy(b[n:], s.frame[s.pos:])
		n += k
		s.pos = (s.pos + k) % len(s.frame)
	}
	return n, nil
}

// steadyExchange is an exchange in the middle of an endless answer.
func steadyExchange() (*exchange, *sse.Reader) {
	c := &Client{cfg: Config{TimeoutIdle: time.Hour}, now: func() time.Duration { return 0 }}
	x := &exchange{c: c, wire: Chat.wire(), p: &load.Prompt{}, s: &load.Sample{Chunks: make([]load.Chunk, 0, 1<<20)}}
	x.watch.now, x.watch.cancel = c.now, func() {}
	return x, sse.NewReader(&steady{frame: []byte(tok("hello"))}, c.now)
}

func TestNoAllocationPerToken(t *testing.T) {
	x, r := steadyExchange()
	defer x.watch.stop()
	one := func() {
		ev, err := r.Next()
		if err != nil || x.event(ev) {
			t.Fatal("stream ended", err)
		}
	}
	one()
	if n := testing.AllocsPerRun(10000, one); n != 0 {
		t.Errorf("%v allocations per token", n)
	}
	if len(x.s.Chunks) != 10002 {
		t.Errorf("%d chunks", len(x.s.Chunks))
	}
}

// BenchmarkParse is the cost of one token-bearing event from the bytes of the body
// to the sample.
func BenchmarkParse(b *testing.B) {
	x, r := steadyExchange()
	defer x.watch.stop()
	b.SetBytes(int64(len(tok("hello"))))
	b.ReportAllocs()
	for b.Loop() {
		ev, _ := r.Next()
		x.event(ev)
		if len(x.s.Chunks) == cap(x.s.Chunks) {
			x.s.Chunks = x.s.Chunks[:1]
		}
	}
}

// BenchmarkDecode is the full reading of the same frame.
func BenchmarkDecode(b *testing.B) {
	data := []byte(strings.TrimSpace(strings.TrimPrefix(tok("hello"), "data: ")))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var d delta
	for b.Loop() {
		if err := d.decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
