package tinymodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func write(t *testing.T, c Config) ([]byte, Info) {
	t.Helper()
	var b bytes.Buffer
	info, err := Write(&b, c)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), info
}

// small is a model whose tests take milliseconds.
func small() Config {
	c := Default()
	c.Layers, c.Dim, c.FeedForward, c.Heads, c.KVHeads, c.Vocabulary = 1, 64, 96, 4, 2, 300
	return c
}

func TestWriteDefault(t *testing.T) {
	b, info := write(t, Default())
	if got := int64(len(b)); got != info.Bytes {
		t.Errorf("Bytes = %d, %d were written", info.Bytes, got)
	}
	t.Logf("%+v", info)
	if info.Parameters < 3_000_000 || info.Parameters > 5_000_000 {
		t.Errorf("Parameters = %d, want 3 to 5 million", info.Parameters)
	}
	if info.Tokens > Default().Vocabulary || info.Tokens < 900 {
		t.Errorf("Tokens = %d, want 900 to %d", info.Tokens, Default().Vocabulary)
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	one, _ := write(t, small())
	two, _ := write(t, small())
	if sha256.Sum256(one) != sha256.Sum256(two) {
		t.Error("two models of one Config differ")
	}
	c := small()
	c.Seed++
	other, _ := write(t, c)
	if len(other) != len(one) || bytes.Equal(other, one) {
		t.Error("another seed must give other weights in the same layout")
	}
}

// reader takes a GGUF file apart, as far as its directory.
type reader struct {
	t *testing.T
	b *bytes.Reader
}

func (r reader) u32() (v uint32) { r.read(&v); return v }
func (r reader) u64() (v uint64) { r.read(&v); return v }

func (r reader) read(v any) {
	r.t.Helper()
	if err := binary.Read(r.b, binary.LittleEndian, v); err != nil {
		r.t.Fatal(err)
	}
}

func (r reader) str() string {
	b := make([]byte, r.u64())
	if _, err := io.ReadFull(r.b, b); err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r reader) value(tag uint32) any {
	switch tag {
	case tagUint32, tagInt32:
		return r.u32()
	case tagFloat32:
		return math.Float32frombits(r.u32())
	case tagBool:
		var v bool
		r.read(&v)
		return v
	case tagString:
		return r.str()
	case tagArray:
		of := r.u32()
		list := make([]any, r.u64())
		for i := range list {
			list[i] = r.value(of)
		}
		return list
	}
	r.t.Fatalf("unknown tag %d", tag)
	return nil
}

func TestFileReadsBack(t *testing.T) {
	b, info := write(t, small())
	r := reader{t, bytes.NewReader(b)}
	magic := make([]byte, 4)
	r.read(magic)
	if string(magic) != ggufMagic || r.u32() != ggufVersion {
		t.Fatal("not a GGUF file of version 3")
	}
	tensors, entries := r.u64(), r.u64()
	meta := map[string]any{}
	for range entries {
		key := r.str()
		meta[key] = r.value(r.u32())
	}
	tokens := meta["tokenizer.ggml.tokens"].([]any)
	if got := len(tokens); got != info.Tokens {
		t.Errorf("%d tokens in the file, Info says %d", got, info.Tokens)
	}
	if eos := meta["tokenizer.ggml.eos_token_id"].(uint32); tokens[eos] != turnEnd {
		t.Errorf("end token = %q, want %q", tokens[eos], turnEnd)
	}
	if got := meta["llama.embedding_length"]; got != uint32(64) {
		t.Errorf("embedding length = %v, want 64", got)
	}

	type span struct {
		name       string
		from, size int64
	}
	var spans []span
	for range tensors {
		name, size := r.str(), int64(1)
		for range r.u32() {
			size *= int64(r.u64())
		}
		switch r.u32() {
		case single.code:
			size *= 4
		case half.code:
			size *= 2
		default:
			t.Fatalf("%s: unknown type", name)
		}
		spans = append(spans, span{name, int64(r.u64()), size})
	}
	start := aligned(int64(len(b) - r.b.Len()))
	end := int64(0)
	for _, s := range spans {
		if !strings.HasSuffix(s.name, ".weight") {
			t.Errorf("tensor %q is no weight", s.name)
		}
		if s.from != end {
			t.Errorf("%s starts at %d, want %d", s.name, s.from, end)
		}
		end = aligned(s.from + s.size)
	}
	if want := int64(len(b)); start+end != want {
		t.Errorf("tensors end at %d, the file at %d", start+end, want)
	}
}

func TestValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("Default: %v", err)
	}
	tests := []struct {
		name string
		edit func(*Config)
		want []string
	}{
		{"everything", func(c *Config) { *c = Config{} }, []string{"layers", "context", "dim", "feed-forward", "vocabulary", "heads"}},
		{"dim", func(c *Config) { c.Dim = 100 }, []string{"dim 100"}},
		{"heads", func(c *Config) { c.Heads = 3 }, []string{"of 3 heads"}},
		{"key/value heads", func(c *Config) { c.KVHeads = 3 }, []string{"of 3 key/value heads"}},
		{"key/value length", func(c *Config) { c.Dim, c.KVHeads = 64, 1 }, []string{"length 8"}},
		{"vocabulary", func(c *Config) { c.Vocabulary = 258 }, []string{"258 tokens"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			tt.edit(&c)
			_, err := Write(io.Discard, c)
			if err == nil {
				t.Fatal("Write accepted it")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not speak of %q", err, want)
				}
			}
		})
	}
}

// fullDisk takes n bytes.
type fullDisk struct{ n int }

var errFull = errors.New("disk full")

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.n {
		return 0, errFull
	}
	d.n -= len(p)
	return len(p), nil
}

func TestWriteReportsErrors(t *testing.T) {
	for _, room := range []int{0, 1 << 18, 1 << 20} {
		if _, err := Write(&fullDisk{room}, Default()); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: error = %v, want %v", room, err, errFull)
		}
	}
}
