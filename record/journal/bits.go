package journal

// bitWriter appends numbers of a fixed width to bytes, lowest bit first.
type bitWriter struct {
	b    []byte
	acc  uint64
	held int // bits in acc, below 8 between calls
}

func (w *bitWriter) put(v uint64, width int) {
	for width > 0 {
		n := min(width, 32)
		w.acc |= (v & (1<<n - 1)) << w.held
		w.held += n
		for ; w.held >= 8; w.held -= 8 {
			w.b = append(w.b, byte(w.acc))
			w.acc >>= 8
		}
		v >>= n
		width -= n
	}
}

// bytes returns what was written; the last byte is filled with zeros.
func (w *bitWriter) bytes() []byte {
	if w.held > 0 {
		return append(w.b, byte(w.acc))
	}
	return w.b
}

// bitReader is the way back.
type bitReader struct {
	b  []byte
	at int // bits read
}

// left reports whether at least n bits are left.
func (r *bitReader) left(n int) bool { return 8*len(r.b)-r.at >= n }

func (r *bitReader) get(width int) uint64 {
	var v uint64
	for got := 0; got < width; {
		bit := r.at % 8
		n := min(8-bit, width-got)
		part := uint64(r.b[r.at/8]) >> bit & (1<<n - 1)
		v |= part << got
		got += n
		r.at += n
	}
	return v
}
