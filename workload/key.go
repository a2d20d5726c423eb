package workload

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"
)

// Key names one prompt of a sweep. A source uses Seq, or Stream and Turn: both
// name every request once.
type Key struct {
	Concurrency int
	Pass        int
	Warmup      bool
	Seq         int // counted from 0 within level, pass and warm-up
	Stream      int // which of the level's streams asks, from 0; they are numbered anew in each visit
	Turn        int // requests of the stream before this one in the visit, warm-ups included
}

// Preflight is the key of the request before the first level.
var Preflight = Key{Warmup: true, Seq: -1}

// hash spreads a key over the streams of the generator.
func (k Key) hash() uint64 {
	var b [25]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(k.Concurrency))
	binary.LittleEndian.PutUint64(b[8:], uint64(k.Pass))
	binary.LittleEndian.PutUint64(b[16:], uint64(k.Seq))
	if k.Warmup {
		b[24] = 1
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return h.Sum64()
}

// appendTag appends the key as one short word that no other key has: 17m8p1 is
// the prompt 17 that is measured with 8 streams in pass 1, 3w8p0 the prompt 3 of
// a warm-up. What changes most comes first.
func (k Key) appendTag(b []byte) []byte {
	kind := byte('m')
	if k.Warmup {
		kind = 'w'
	}
	b = append(strconv.AppendInt(b, int64(k.Seq), 10), kind)
	return k.appendVisit(b)
}

// appendVisit appends level and pass.
func (k Key) appendVisit(b []byte) []byte {
	b = append(strconv.AppendInt(b, int64(k.Concurrency), 10), 'p')
	return strconv.AppendInt(b, int64(k.Pass), 10)
}
