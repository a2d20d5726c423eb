package tinymodel

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
)

// Numbers of the GGUF format, version 3.
const (
	ggufMagic   = "GGUF"
	ggufVersion = 3
	alignment   = 32 // of the tensor data, and of each tensor in it

	tagUint32  = 4
	tagInt32   = 5
	tagFloat32 = 6
	tagBool    = 7
	tagString  = 8
	tagArray   = 9
)

// encoder writes little-endian GGUF primitives, counts bytes and keeps the first
// error, after which it writes nothing.
type encoder struct {
	w   *bufio.Writer
	n   int64
	err error
	buf []byte // reused by put
}

// put writes the bytes that f appends to an empty buffer.
func (e *encoder) put(f func([]byte) []byte) {
	e.buf = f(e.buf[:0])
	e.raw(e.buf)
}

func (e *encoder) raw(b []byte) {
	if e.err != nil {
		return
	}
	var n int
	n, e.err = e.w.Write(b)
	e.n += int64(n)
}

func (e *encoder) u32(v uint32) {
	e.put(func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, v) })
}

func (e *encoder) u64(v uint64) {
	e.put(func(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, v) })
}

func (e *encoder) str(s string) {
	e.u64(uint64(len(s)))
	e.raw([]byte(s))
}

func (e *encoder) align() {
	e.raw(make([]byte, aligned(e.n)-e.n))
}

// aligned returns the next multiple of the alignment at or above n.
func aligned(n int64) int64 { return (n + alignment - 1) / alignment * alignment }

// value is one metadata value. Each kind writes its type tag and itself.
type value interface{ encode(*encoder) }

type (
	uint32Value  uint32
	float32Value float32
	boolValue    bool
	stringValue  string
	stringsValue []string
	int32sValue  []int32
)

func (v uint32Value) encode(e *encoder) {
	e.u32(tagUint32)
	e.u32(uint32(v))
}

func (v float32Value) encode(e *encoder) {
	e.u32(tagFloat32)
	e.u32(math.Float32bits(float32(v)))
}

func (v boolValue) encode(e *encoder) {
	e.u32(tagBool)
	if v {
		e.raw([]byte{1})
	} else {
		e.raw([]byte{0})
	}
}

func (v stringValue) encode(e *encoder) {
	e.u32(tagString)
	e.str(string(v))
}

func (v stringsValue) encode(e *encoder) {
	e.u32(tagArray)
	e.u32(tagString)
	e.u64(uint64(len(v)))
	for _, s := range v {
		e.str(s)
	}
}

func (v int32sValue) encode(e *encoder) {
	e.u32(tagArray)
	e.u32(tagInt32)
	e.u64(uint64(len(v)))
	for _, i := range v {
		e.u32(uint32(i))
	}
}

// entry is one line of metadata; their order is kept.
type entry struct {
	key   string
	value value
}

// writeGGUF writes header, metadata, tensor directory and tensor data, and
// returns the number of bytes. The weights are drawn from seed in the order of ts.
func writeGGUF(w io.Writer, meta []entry, ts []tensor, seed uint64) (int64, error) {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<18)}
	e.raw([]byte(ggufMagic))
	e.u32(ggufVersion)
	e.u64(uint64(len(ts)))
	e.u64(uint64(len(meta)))
	for _, m := range meta {
		e.str(m.key)
		m.value.encode(e)
	}
	var offset int64 // from the start of the data
	for _, t := range ts {
		e.str(t.name)
		e.u32(uint32(len(t.shape)))
		for _, d := range t.shape {
			e.u64(uint64(d))
		}
		e.u32(t.kind.code)
		e.u64(uint64(offset))
		offset += aligned(int64(t.elements() * t.kind.size))
	}
	e.align()

	rng := rand.New(rand.NewPCG(seed, 0))
	for _, t := range ts {
		row := make([]float32, t.shape[0])
		for i := range t.rows() {
			t.fill(rng, i, row)
			e.put(func(b []byte) []byte { return t.kind.appendRow(b, row) })
		}
		e.align()
	}
	if e.err == nil {
		e.err = e.w.Flush()
	}
	return e.n, e.err
}
