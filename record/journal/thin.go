package journal

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"kneesweep/load"
)

// maxThin bounds the chunks that a thin line may claim: beyond it the line is
// damaged and not a request.
const maxThin = 1 << 20

// thin is what a journal of requests keeps of the arrivals of a closed-loop
// request: enough for every latency of the request, and not for those between its
// tokens. It is written as varints, one after the other, in unpadded base64.
type thin struct {
	count   int           // chunks
	first   time.Duration // chunk, after the send
	content time.Duration // first chunk with content, after the first one
	last    time.Duration // chunk, after the first one
	opening int           // tokens of the first chunk, if it has a count
	tokens  int           // of all chunks, if each has a count of its own; else 0
}

// thinOut writes what is kept of the arrivals of a sample; empty without any.
func thinOut(s *load.Sample) string {
	m := len(s.Chunks)
	if m == 0 {
		return ""
	}
	first, content, tokens := s.Chunks[0].At, time.Duration(0), 0
	if s.ContentAt > 0 {
		content = s.Chunks[s.ContentAt-1].At - first
	}
	if s.Incremental() {
		for _, c := range s.Chunks {
			tokens += int(c.Tokens)
		}
	}
	b := make([]byte, 0, 24)
	for _, v := range []int64{int64(m), int64(first - s.Sent), int64(content), int64(s.Chunks[m-1].At - first), int64(s.Chunks[0].Tokens), int64(tokens)} {
		b = binary.AppendVarint(b, v)
	}
	return base64.RawStdEncoding.EncodeToString(b)
}

var errThin = errors.New(`the arrivals in "thin" contradict each other`)

// thinIn reads what thinOut wrote.
func thinIn(text string) (t thin, err error) {
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return t, errThin
	}
	var v [6]int64
	for i := range v {
		n := 0
		if v[i], n = binary.Varint(b); n <= 0 {
			return t, errThin
		}
		b = b[n:]
	}
	if len(b) > 0 || v[0] < 1 || v[0] > maxThin || v[4] < 0 || v[4] > math.MaxInt32 || v[5] < 0 || v[5] > math.MaxInt32 {
		return t, errThin
	}
	return thin{int(v[0]), time.Duration(v[1]), time.Duration(v[2]), time.Duration(v[3]), int(v[4]), int(v[5])}, nil
}

// even lays the chunks evenly between the times that were kept, and their tokens
// evenly over them.
func (t thin) even(sent time.Duration, contentAt int) ([]load.Chunk, error) {
	m := t.count
	switch {
	case contentAt < 0 || contentAt > m:
		return nil, errThin
	case contentAt == 1 && t.content != 0, contentAt == m && t.content != t.last, t.tokens != 0 && (t.opening < 1 || t.tokens-t.opening < m-1):
		return nil, errThin
	}
	chunks := make([]load.Chunk, m)
	chunks[0] = load.Chunk{At: sent + t.first, Tokens: int32(t.opening)}
	lay := func(from, to int, since, until time.Duration) {
		for i := from + 1; i <= to; i++ {
			chunks[i].At = chunks[0].At + since + time.Duration(float64(until-since)*float64(i-from)/float64(to-from))
		}
	}
	if c := contentAt - 1; c > 0 {
		lay(0, c, 0, t.content)
		lay(c, m-1, t.content, t.last)
	} else {
		lay(0, m-1, 0, t.last)
	}
	if t.tokens > 0 {
		rest := t.tokens - t.opening
		for i := 1; i < m; i++ {
			chunks[i].Tokens = int32(rest*i/(m-1) - rest*(i-1)/(m-1))
		}
	}
	return chunks, nil
}
