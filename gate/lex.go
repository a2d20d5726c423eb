package gate

import (
	"regexp"
	"strconv"
	"strings"
)

type tokenKind int

const (
	end tokenKind = iota
	numeral
	word // a name, or several joined by dots
	quoted
	symbol
)

// token is one word of an expression.
type token struct {
	kind  tokenKind
	text  string // as it is printed
	pos   int
	value float64 // of a numeral, its unit applied
	unit  kind    // of a numeral: number when any numeric field will do
}

// lexeme matches a token; its groups are mantissa and exponent of a numeral, then
// the other kinds in their order.
var lexeme = regexp.MustCompile(`^(?:(-?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d+))?` +
	`|(\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|("[^"]*"|'[^']*')|(<=|>=|==|!=|&&|\|\||[<>()!]))`)

var unitName = regexp.MustCompile(`^\s*(%|[A-Za-zµ_]\w*)`)

// units by name: the power of ten that a number is multiplied by, and the fields
// that it belongs to.
var units = map[string]struct {
	power int
	kind  kind
}{
	"": {0, number}, "k": {3, number}, "M": {6, number}, "%": {-2, fraction},
	"us": {-3, millis}, "ms": {0, millis}, "s": {3, millis},
}

const space = " \t\r\n"

// lex splits an expression; the last token is its end.
func lex(expr string) ([]token, error) {
	var tokens []token
	for pos := 0; ; {
		rest := strings.TrimLeft(expr[pos:], space)
		pos = len(expr) - len(rest)
		if rest == "" {
			return append(tokens, token{kind: end, pos: pos}), nil
		}
		m := lexeme.FindStringSubmatch(rest)
		if m == nil {
			return nil, &SyntaxError{expr, pos, unexpected(rest)}
		}
		t := token{text: m[0], pos: pos}
		pos += len(m[0])
		switch {
		case m[1] != "":
			n, err := t.number(expr, m[1], m[2])
			if err != nil {
				return nil, err
			}
			pos += n
		case m[3] != "":
			t.kind = word
		case m[4] != "":
			t.kind = quoted
		default:
			t.kind, t.text = symbol, alias(t.text)
		}
		tokens = append(tokens, t)
	}
}

// number completes a numeral with the unit that follows it, and returns the length
// of that unit.
func (t *token) number(expr, mantissa, exponent string) (int, error) {
	rest := expr[t.pos+len(t.text):]
	length, name := 0, ""
	if m := unitName.FindStringSubmatch(rest); m != nil {
		switch _, known := units[m[1]]; {
		case known:
			length, name = len(m[0]), m[1]
		case len(m[0]) == len(m[1]):
			return 0, &SyntaxError{expr, t.pos + len(t.text), "want one of the units us, ms, s, %, k and M, or a space"}
		}
	}
	unit := units[name]
	power, err := strconv.Atoi(orZero(exponent))
	if err == nil {
		// The power goes into the text, so that 0.29s is exactly 290.
		t.value, err = strconv.ParseFloat(mantissa+"e"+strconv.Itoa(power+unit.power), 64)
	}
	if err != nil {
		return 0, &SyntaxError{expr, t.pos, "want a number that is not so large"}
	}
	t.kind, t.unit = numeral, unit.kind
	t.text += name
	return length, nil
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// alias is the word that a sign stands for.
func alias(s string) string {
	switch s {
	case "&&":
		return "and"
	case "||":
		return "or"
	case "!":
		return "not"
	}
	return s
}

// unexpected says what is wrong with a text that begins no token.
func unexpected(rest string) string {
	switch {
	case rest[0] == '=':
		return "want == to compare, or <= or >="
	case rest[0] == '"' || rest[0] == '\'':
		return "want the quote that ends this text"
	case rest[0] == '[':
		return "want at(N) before a field of the step at N streams, or all(steps.…), any, min or max over steps"
	}
	return "want a field, a value, an operator or a parenthesis"
}
