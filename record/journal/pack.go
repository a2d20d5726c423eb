package journal

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"time"

	"kneesweep/load"
)

// The arrivals of a request are packed in nanoseconds, losing nothing, as unpadded
// base64 of
//
//	varint(first − Sent) uvarint(chunks)
//	varint(smallest gap) width   varint(smallest count) width
//	bits
//
// Each width is one byte. The bits are, chunk by chunk, the gap before it less
// the smallest one (not for the first chunk), in as many bits as the width says,
// and the chunk's own token count likewise, lowest bit first. Gaps take at least
// one bit, so that a number of chunks that is not there is noticed. A width of
// 0xff for the counts says that no chunk has one of its own.
const noCounts = 0xff

// pack writes the arrivals of a sample; empty without any.
func pack(s *load.Sample) string {
	m := len(s.Chunks)
	if m == 0 {
		return ""
	}
	gaps, counts := make([]int64, m-1), make([]int64, m)
	counted := false
	for i, c := range s.Chunks {
		if i > 0 {
			gaps[i-1] = int64(c.At - s.Chunks[i-1].At)
		}
		counts[i] = int64(c.Tokens)
		counted = counted || c.Tokens != 0
	}
	b := binary.AppendVarint(make([]byte, 0, 24+4*m), int64(s.Chunks[0].At-s.Sent))
	b = binary.AppendUvarint(b, uint64(m))
	low, width := frame(gaps)
	width = max(1, width)
	b = append(binary.AppendVarint(b, low), byte(width))
	lowCount, countWidth := frame(counts)
	if counted {
		b = append(binary.AppendVarint(b, lowCount), byte(countWidth))
	} else {
		b = append(b, 0, noCounts)
		countWidth = 0
	}
	w := bitWriter{b: b}
	for i := range s.Chunks {
		if i > 0 {
			w.put(uint64(gaps[i-1]-low), width)
		}
		w.put(uint64(counts[i]-lowCount), countWidth)
	}
	return base64.RawStdEncoding.EncodeToString(w.bytes())
}

// frame returns the smallest value and the bits that the others need above it.
// Differences wrap around, so any values can be written.
func frame(values []int64) (low int64, width int) {
	if len(values) == 0 {
		return 0, 0
	}
	low = values[0]
	for _, v := range values {
		low = min(low, v)
	}
	for _, v := range values {
		width = max(width, bits.Len64(uint64(v-low)))
	}
	return low, width
}

var errPacked = errors.New("packed chunks are damaged")

// packed is the head of packed chunks, and their bits.
type packed struct {
	first, gap, count int64
	chunks            uint64
	width, countWidth int
	counted           bool
	bits              bitReader
}

// unpack is the inverse of pack.
func unpack(text string, sent time.Duration) ([]load.Chunk, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, errPacked
	}
	p, ok := parsePacked(b)
	if !ok {
		return nil, errPacked
	}
	chunks := make([]load.Chunk, p.chunks)
	at := sent + time.Duration(p.first)
	for i := range chunks {
		if i > 0 {
			at += time.Duration(p.gap + int64(p.bits.get(p.width)))
		}
		chunks[i].At = at
		if p.counted {
			n := p.count + int64(p.bits.get(p.countWidth))
			if n < 0 || n > 1<<30 {
				return nil, errPacked
			}
			chunks[i].Tokens = int32(n)
		}
	}
	return chunks, nil
}

// parsePacked reads the head and makes sure that the bits are there.
func parsePacked(b []byte) (p packed, ok bool) {
	varint := func() (v int64) {
		v, n := binary.Varint(b)
		ok = ok && n > 0
		b = b[max(0, n):]
		return v
	}
	width := func() (v int) {
		if ok = ok && len(b) > 0; ok {
			v, b = int(b[0]), b[1:]
		}
		return v
	}
	ok = true
	p.first = varint()
	m, n := binary.Uvarint(b)
	if n <= 0 {
		return p, false
	}
	p.chunks, b = m, b[n:]
	p.gap, p.width = varint(), width()
	p.count, p.countWidth = varint(), width()
	if p.counted = p.countWidth != noCounts; !p.counted {
		p.countWidth = 0
	}
	if !ok || p.chunks < 1 || p.width < 1 || p.width > 64 || p.countWidth > 64 || p.chunks > uint64(8*len(b)+1) {
		return p, false
	}
	p.bits = bitReader{b: b}
	return p, p.bits.left(int(p.chunks-1)*p.width + int(p.chunks)*p.countWidth)
}
