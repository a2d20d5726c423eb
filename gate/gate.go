// Package gate evaluates conditions over the fields of a curve, the document
// kneesweep/curve/v1, such as
//
//	knee.concurrency >= 32 and at(8).ttft_ms.p95 <= 500ms
//
// Names, kinds of values and units are checked when an expression is read, before
// there is a document. Values that are null make a condition neither true nor
// false, unless the rest decides it.
package gate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Truth is true, false, or null when it depends on a value that is not there.
type Truth int8

// The truths, in the order in which and takes the least and or the greatest.
const (
	False Truth = iota - 1
	Null
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

// MarshalJSON writes true, false or null.
func (t Truth) MarshalJSON() ([]byte, error) {
	return []byte([...]string{"false", "null", "true"}[t+1]), nil
}

// SyntaxError says where an expression cannot be understood.
type SyntaxError struct {
	Expr string
	Pos  int    // in bytes
	Want string // what was expected there
}

// Error is the expression, and below it a caret under the place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s\n%s^ %s", OneLine(e.Expr), strings.Repeat(" ", utf8.RuneCountInString(e.Expr[:e.Pos])), e.Want)
}

// OneLine is a text with blanks in the place of line breaks and what else is not
// printed.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// Expr is a condition.
type Expr struct {
	source string
	root   node
}

// Source is the expression as it was written.
func (e Expr) Source() string { return e.source }

// String is the expression in its usual form: [Parse] reads it as the same one.
func (e Expr) String() string { return e.root.print(0) }

// node is an expression or a part of one; print puts parentheses around what binds
// less than the place does.
type node interface {
	eval(doc map[string]any, seen *[]Reading) Truth
	print(place int) string
}

// Places for print, by how strongly they bind.
const (
	placeOr = iota
	placeAnd
	placeNot
)

type binary struct {
	op          string
	left, right node
}

func (b binary) eval(doc map[string]any, seen *[]Reading) Truth {
	left, right := b.left.eval(doc, seen), b.right.eval(doc, seen)
	if b.op == "and" {
		return min(left, right)
	}
	return max(left, right)
}

func (b binary) print(place int) string {
	own := placeOr
	if b.op == "and" {
		own = placeAnd
	}
	s := b.left.print(own) + " " + b.op + " " + b.right.print(own+1)
	if own < place {
		return "(" + s + ")"
	}
	return s
}

type negation struct{ x node }

func (n negation) eval(doc map[string]any, seen *[]Reading) Truth { return -n.x.eval(doc, seen) }

func (n negation) print(int) string { return "not " + n.x.print(placeNot) }

// comparison without an operator is written as its left side alone.
type comparison struct {
	left  operand
	op    string
	right operand
}

func (c comparison) print(int) string {
	if c.op == "" {
		return c.left.String()
	}
	return c.left.String() + " " + c.op + " " + c.right.String()
}

// operand is a literal, or a field with the function that chooses steps.
type operand struct {
	text     string // a literal, or the path
	value    any    // of a literal
	function string // "", at, all, any, min, max
	level    int    // of at
	path     []string
	field    field
}

func (o operand) literal() bool { return o.path == nil }

func (o operand) null() bool { return o.literal() && o.value == nil }

// ranged reports whether the operand has one value for each step.
func (o operand) ranged() bool { return o.function == "all" || o.function == "any" }

func (o operand) String() string {
	switch o.function {
	case "":
		return o.text
	case "at":
		return fmt.Sprintf("at(%d).%s", o.level, o.text)
	}
	return fmt.Sprintf("%s(steps.%s)", o.function, o.text)
}
