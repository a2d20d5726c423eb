package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"kneesweep/load"
)

func roundTrip(t *testing.T, s load.Sample) string {
	t.Helper()
	text := pack(&s)
	got, err := unpack(text, s.Sent)
	if err != nil || len(got) != len(s.Chunks) || len(got) > 0 && !reflect.DeepEqual(got, s.Chunks) {
		t.Fatalf("%v: %v\nwant %v", err, got, s.Chunks)
	}
	return text
}

func TestPackIsExact(t *testing.T) {
	times := func(at ...time.Duration) (c []load.Chunk) {
		for _, t := range at {
			c = append(c, load.Chunk{At: t})
		}
		return c
	}
	for name, chunks := range map[string][]load.Chunk{
		"none":      nil,
		"one":       times(5),
		"regular":   times(10, 20, 30, 40),
		"coalesced": times(10, 10, 10),
		"backwards": times(10, 5, 7),
		"extremes":  times(math.MinInt64, math.MaxInt64, 0, math.MinInt64, -1, math.MaxInt64),
		"counts":    {{At: 1, Tokens: 3}, {At: 2, Tokens: 3}, {At: 9, Tokens: 3}},
		"mixed":     {{At: 1, Tokens: 0}, {At: 2, Tokens: 1 << 30}, {At: 9, Tokens: 7}},
		"one count": {{At: 1, Tokens: 4}},
	} {
		for _, sent := range []time.Duration{0, 3, math.MaxInt64, math.MinInt64} {
			t.Run(name, func(t *testing.T) { roundTrip(t, load.Sample{Sent: sent, Chunks: chunks}) })
		}
	}
}

// Four bytes hold a chunk of a stream with a jitter of a fifth, and a growing
// usage of one token a chunk costs nothing more.
func TestPackIsSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, counted := range []int32{0, 1} {
		s := load.Sample{Sent: time.Minute}
		at := s.Sent + 300*time.Millisecond
		for range 256 {
			s.Chunks = append(s.Chunks, load.Chunk{At: at, Tokens: counted})
			at += time.Duration(1e7 * math.Exp(0.2*rng.NormFloat64()))
		}
		got := float64(len(roundTrip(t, s))) / 256
		t.Logf("%.2f bytes a chunk", got)
		if got > 4.2 {
			t.Errorf("%.2f bytes a chunk, want at most 4.2", got)
		}
	}
}

// A head that promises what is not there, or cannot be, is refused.
func TestDamagedChunks(t *testing.T) {
	good := []byte{2, 3, 0, 9, 0, 1, 0, 0, 0} // 3 chunks, gaps of 9 bits and counts of 1: 21 bits
	if c, err := unpack(base64.RawStdEncoding.EncodeToString(good), 0); err != nil || len(c) != 3 {
		t.Fatalf("%v, %v", c, err)
	}
	change := func(at int, b byte) []byte {
		d := bytes.Clone(good)
		d[at] = b
		return d
	}
	for name, b := range map[string][]byte{
		"no chunks":       change(1, 0),
		"too many chunks": change(1, 100),
		"no width":        change(3, 0),
		"a wide gap":      change(3, 65),
		"a wide count":    change(5, 65),
		"bits short":      good[:8],
		"four chunks":     change(1, 4),
		"negative counts": change(4, 3),
	} {
		if c, err := unpack(base64.RawStdEncoding.EncodeToString(b), 0); err == nil {
			t.Errorf("%s: %v", name, c)
		}
	}
	for n := range good[:6] {
		if c, err := unpack(base64.RawStdEncoding.EncodeToString(good[:n+1]), 0); err == nil {
			t.Errorf("%d bytes: %v", n+1, c)
		}
	}
}

// Any chunks come back from packing, and any text is unpacked or refused.
func FuzzPack(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789"), int64(7))
	f.Add([]byte{0, 1, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff}, int64(-1))
	f.Add([]byte{}, int64(0))
	f.Fuzz(func(t *testing.T, b []byte, sent int64) {
		if got, err := unpack(base64.RawStdEncoding.EncodeToString(b), time.Duration(sent)); err == nil && len(got) > 8*len(b)+1 {
			t.Fatalf("%d chunks from %d bytes", len(got), len(b))
		}
		_, _ = unpack(string(b), time.Duration(sent))
		s := load.Sample{Sent: time.Duration(sent)}
		for len(b) >= 9 {
			c := load.Chunk{At: time.Duration(binary.LittleEndian.Uint64(b))}
			if b[8]&1 == 1 {
				c.Tokens = int32(b[8])
			}
			s.Chunks = append(s.Chunks, c)
			b = b[9:]
		}
		roundTrip(t, s)
	})
}
