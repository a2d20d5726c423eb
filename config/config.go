// Package config reads settings from a file: one YAML map of keys and values. The
// caller says which keys there are and what they hold; what they mean is the
// caller's business. The package opens no file and reads no environment.
package config

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 64 << 10

// Kind is the kind of one value.
type Kind int

// The kinds. A text may be written as a number or a date, and is taken as written.
const (
	Text     Kind = iota
	Bool          // true or false
	Int           // a whole number, as Go writes it: 2000000, 2_000_000, 0x10
	Uint          // the same, of at least 0
	Number        // a number
	Duration      // a number and a unit, as Go writes it: 300ms
)

// String says what is expected, in words that follow "is not".
func (k Kind) String() string {
	switch k {
	case Bool:
		return "true or false"
	case Int:
		return "a whole number"
	case Uint:
		return "a whole number of at least 0"
	case Number:
		return "a number"
	case Duration:
		return "a duration such as 500ms, 30s or 5m"
	default:
		return "a text"
	}
}

// Key is a key that a file may hold.
type Key struct {
	Name string
	Kind Kind
	List bool // a YAML list of values is as good as one
	Map  bool // so is a YAML map; each pair becomes the value "name: value"
	// Grid keys hold a map whose values may be lists; each pair becomes "name=value,value".
	Grid bool
	// Secret keys may name an environment variable, as ${NAME}. Their values stand
	// in no error.
	Secret bool
}

// wants says what a key expects.
func (k Key) wants() string {
	switch {
	case k.List && k.Map:
		return k.Kind.String() + ", a list, or a map of names and values"
	case k.List:
		return k.Kind.String() + " or a list"
	}
	return k.Kind.String()
}

// Setting is a key of a file with its values, one unless it is a list or a map.
type Setting struct {
	Key    Key
	Values []string // as written; a secret one may hold ${NAME}: see [Setting.Expand]
	At     string   // where the key stands, FILE:LINE
}
