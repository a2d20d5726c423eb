package load

import (
	"bytes"
	"encoding/json"
)

// Opt is a value that may be undefined. The zero Opt is undefined. In JSON an
// undefined Opt is null.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some returns a defined Opt.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// MarshalJSON writes the value, or null when it is undefined.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.OK {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// UnmarshalJSON reads a value; null leaves the Opt undefined.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*o = Opt[T]{}
		return nil
	}
	o.OK = true
	return json.Unmarshal(b, &o.V)
}

// IsZero reports whether o is undefined.
func (o Opt[T]) IsZero() bool { return !o.OK }
