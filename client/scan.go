package client

import (
	"bytes"
	"unicode/utf8"
)

// scan reads a frame of the commonest shape, one choice with one piece of text and
// nothing to unescape, without allocating. It returns false for everything else,
// and for everything that it cannot be sure of; decode then reads the frame. When
// it returns true, d is what decode would have made of it. Texts are slices of data.
//
// It checks the whole frame against the JSON grammar. Keys must be plain lower
// case, because encoding/json matches keys without regard to case.
func (d *delta) scan(data []byte) bool { return d.scanText(data) >= 0 }

// scanText is scan, and returns where the content lies in the frame: 0 if it has
// none, −1 if the frame must be read by decode.
func (d *delta) scanText(data []byte) int {
	*d = delta{}
	s := scanner{b: data, d: d}
	if s.object(levelFrame) && s.end() && s.chosen {
		return s.textAt
	}
	return -1
}

type level int

const (
	levelFrame level = iota
	levelChoice
	levelDelta
)

type scanner struct {
	b []byte
	i int
	d *delta

	textAt int  // where the content begins
	chosen bool // the frame has choices: without, it may be an error of any form
}

// next skips white space and returns the byte after it, 0 at the end.
func (s *scanner) next() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) end() bool { s.next(); return s.i == len(s.b) }

func (s *scanner) take(c byte) bool {
	if s.next() != c || s.i == len(s.b) {
		return false
	}
	s.i++
	return true
}

// str takes a string without escapes.
func (s *scanner) str() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	n := bytes.IndexByte(s.b[s.i:], '"')
	if n < 0 {
		return nil, false
	}
	v := s.b[s.i : s.i+n]
	s.i += n + 1
	return v, plain(v)
}

// plain reports whether what stands between two quotes stands for itself.
func plain(v []byte) bool {
	high := false
	for _, c := range v {
		if c < ' ' || c == '\\' {
			return false
		}
		high = high || c >= utf8.RuneSelf
	}
	return !high || utf8.Valid(v)
}

// text takes a string or null.
func (s *scanner) text() ([]byte, bool) {
	if s.next() == 'n' {
		return nil, s.word("null")
	}
	return s.str()
}

func (s *scanner) word(w string) bool {
	s.next()
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// scalar takes a value of no interest: a plain string, a whole number, true,
// false or null.
func (s *scanner) scalar() bool {
	switch c := s.next(); c {
	case '"':
		_, ok := s.str()
		return ok
	case 'n':
		return s.word("null")
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case '0':
		s.i++
		return true
	default:
		from := s.i
		if c < '1' || c > '9' {
			return false
		}
		for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > from
	}
}

// object takes one object. What follows a number is checked here: only a comma or
// a brace may.
func (s *scanner) object(at level) bool {
	if !s.take('{') {
		return false
	}
	if s.next() == '}' {
		s.i++
		return true
	}
	var seen uint
	for {
		key, ok := s.str()
		if !ok || !plainKey(key) || !s.take(':') {
			return false
		}
		bit, ok := s.value(at, key)
		if !ok || bit&seen != 0 {
			return false
		}
		seen |= bit
		if s.take(',') {
			continue
		}
		return s.take('}')
	}
}

func plainKey(key []byte) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// value takes the value of key; the bit tells keys that matter apart, since a key
// that comes twice is left to decode.
func (s *scanner) value(at level, key []byte) (uint, bool) {
	switch at {
	case levelFrame:
		return s.frameValue(key)
	case levelChoice:
		return s.choiceValue(key)
	default:
		return s.deltaValue(key)
	}
}

func (s *scanner) frameValue(key []byte) (bit uint, ok bool) {
	switch string(key) {
	case "model":
		s.d.model, ok = s.text()
		return 1, ok
	case "system_fingerprint":
		s.d.fingerprint, ok = s.text()
		return 2, ok
	case "choices":
		return 4, s.choices()
	case "object":
		kind, ok := s.text()
		return 8, ok && string(kind) != "error"
	case "usage", "error", "x_groq":
		return 0, s.next() == 'n' && s.word("null")
	case "type", "status", "message":
		return 0, false
	}
	return 0, s.scalar()
}

// choices takes an array of at most one choice.
func (s *scanner) choices() bool {
	if !s.take('[') {
		return false
	}
	s.chosen = true
	if s.next() != ']' {
		s.d.choices = 1
		if !s.object(levelChoice) {
			return false
		}
	}
	return s.take(']')
}

func (s *scanner) choiceValue(key []byte) (bit uint, ok bool) {
	switch string(key) {
	case "delta":
		if s.next() == 'n' {
			return 1, s.word("null")
		}
		return 1, s.object(levelDelta)
	case "finish_reason":
		s.d.finish, ok = s.text()
		return 2, ok && !ended(s.d.finish)
	case "usage", "error":
		return 0, s.next() == 'n' && s.word("null")
	case "text", "message":
		return 0, false
	}
	return 0, s.scalar()
}

func (s *scanner) deltaValue(key []byte) (bit uint, ok bool) {
	switch string(key) {
	case "content":
		s.d.text, ok = s.text()
		if len(s.d.text) > 0 {
			s.textAt = s.i - 1 - len(s.d.text)
			s.d.token, s.d.partial, s.d.content = true, true, true
		}
		return 1, ok
	case "reasoning":
		return 2, s.thought()
	case "reasoning_content":
		return 4, s.thought()
	case "refusal", "function_call", "audio":
		return 0, s.next() == 'n' && s.word("null")
	case "tool_calls":
		if s.next() == 'n' {
			return 0, s.word("null")
		}
		return 0, s.take('[') && s.take(']')
	}
	return 0, s.scalar()
}

func (s *scanner) thought() bool {
	v, ok := s.text()
	if len(v) > 0 {
		s.d.token, s.d.partial, s.d.reasoning = true, true, true
	}
	return ok
}
