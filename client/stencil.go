package client

import "bytes"

// stencil reads the frames of one answer that differ from an earlier one in their
// content alone, as nearly all do: what stands around the content is compared, not
// parsed. It allocates only while frames grow.
type stencil struct {
	frame    []byte // a copy of the earlier frame; empty = none yet
	from, to int    // its content
	fitted   bool   // the last reading came from here
	off      bool   // frames of this dialect look otherwise
}

// scan is [delta.scan] for the frames of one answer, whose readings stay in one d.
func (t *stencil) scan(d *delta, data []byte) bool {
	if t.off {
		return false
	}
	if text := t.text(data); text != nil {
		if !t.fitted {
			d.scan(t.frame)
			t.fitted = true
		}
		d.text = text
		return true
	}
	t.fitted = false
	at := d.scanText(data)
	if at > 0 && !d.reasoning {
		t.frame = append(t.frame[:0], data...)
		t.from, t.to = at, at+len(d.text)
	}
	return at >= 0
}

// text returns the content of a frame that is like the earlier one around it; nil of
// another. Both contents are strings that stand for themselves and are not empty, so
// the frames mean the same but for them.
func (t *stencil) text(data []byte) []byte {
	end := len(data) - (len(t.frame) - t.to)
	if len(t.frame) == 0 || end <= t.from ||
		!bytes.Equal(data[:t.from], t.frame[:t.from]) || !bytes.Equal(data[end:], t.frame[t.to:]) {
		return nil
	}
	text := data[t.from:end]
	if bytes.IndexByte(text, '"') >= 0 || !plain(text) {
		return nil
	}
	return text
}
