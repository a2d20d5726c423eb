package gate

import (
	"slices"
	"strconv"
	"strings"
)

// longest is the longest expression in bytes. It bounds the recursion.
const longest = 2000

// Parse reads an expression. Its errors are of type [*SyntaxError].
func Parse(s string) (Expr, error) {
	if len(s) > longest {
		return Expr{}, &SyntaxError{s[:longest], longest, "want an expression of at most " + strconv.Itoa(longest) + " bytes"}
	}
	tokens, err := lex(s)
	if err != nil {
		return Expr{}, err
	}
	p := parser{expr: s, tokens: tokens}
	root, err := p.either()
	if err != nil {
		return Expr{}, err
	}
	if t := p.peek(); t.kind != end {
		return Expr{}, p.fail(t, "want and, or, or the end of the expression")
	}
	return Expr{s, root}, nil
}

type parser struct {
	expr   string
	tokens []token
	next   int
}

func (p *parser) peek() token { return p.tokens[p.next] }

// take moves on if the next token is one of the words or symbols.
func (p *parser) take(texts ...string) (token, bool) {
	t := p.peek()
	if t.kind != word && t.kind != symbol || !slices.Contains(texts, t.text) {
		return t, false
	}
	p.next++
	return t, true
}

func (p *parser) fail(at token, want string) error { return &SyntaxError{p.expr, at.pos, want} }

// either = both { "or" both }
func (p *parser) either() (node, error) { return p.join("or", p.both) }

// both = unary { "and" unary }
func (p *parser) both() (node, error) { return p.join("and", p.unary) }

func (p *parser) join(op string, operand func() (node, error)) (node, error) {
	left, err := operand()
	for err == nil {
		if _, ok := p.take(op); !ok {
			break
		}
		var right node
		right, err = operand()
		left = binary{op, left, right}
	}
	return left, err
}

// unary = "not" unary | "(" either ")" | comparison
func (p *parser) unary() (node, error) {
	if _, ok := p.take("not"); ok {
		x, err := p.unary()
		return negation{x}, err
	}
	if _, ok := p.take("("); ok {
		x, err := p.either()
		if err != nil {
			return nil, err
		}
		if t, ok := p.take(")"); !ok {
			return nil, p.fail(t, "want and, or, or )")
		}
		return x, nil
	}
	return p.comparison()
}

var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// comparison = operand operator operand | operand, if that is true or false
func (p *parser) comparison() (node, error) {
	c := comparison{}
	var err error
	start := p.peek()
	if c.left, err = p.operand(); err != nil {
		return nil, err
	}
	op, ok := p.take(operators...)
	switch {
	case !ok && (c.left.field.kind != boolean || c.left.literal()):
		return nil, p.fail(op, "want one of the operators == != <= >= < >")
	case !ok:
		c.right.value = true
		return c, nil
	}
	c.op = op.text
	second := p.peek()
	if c.right, err = p.operand(); err != nil {
		return nil, err
	}
	if err := p.check(c, start, op, second); err != nil {
		return nil, err
	}
	if t, chained := p.take(operators...); chained {
		return nil, p.fail(t, "want one operator in a comparison; join two comparisons with and")
	}
	return c, nil
}

// check refuses what cannot be compared.
func (p *parser) check(c comparison, left, op, right token) error {
	a, b, other := c.left, c.right, right
	if a.literal() {
		a, b, other = b, a, left
	}
	equality := c.op == "==" || c.op == "!="
	switch {
	case a.literal():
		return p.fail(left, "want a field on one side, such as knee.concurrency")
	case a.ranged() && b.ranged():
		return p.fail(right, "want all or any on one side only")
	case b.null() && !equality:
		return p.fail(op, "want == or != with null")
	case b.null():
		return nil
	case a.field.kind == object:
		return p.fail(other, "want null, or else one of the members on the other side: "+names(a.field.members))
	case !suits(a, b):
		return p.fail(other, "want "+a.field.kind.want())
	case !equality && !a.field.kind.isNumber():
		return p.fail(op, "want == or != with a text, true or false")
	}
	if s, ok := b.value.(string); ok && len(a.field.oneOf) > 0 && !slices.Contains(a.field.oneOf, s) {
		return p.fail(other, `want one of "`+strings.Join(a.field.oneOf, `", "`)+`"`)
	}
	return nil
}

// suits reports whether b, a literal or a field, can stand against the field a.
func suits(a, b operand) bool {
	plain := b.literal() && b.field.kind == number
	return a.field.kind == b.field.kind || plain && a.field.kind.isNumber()
}

// operand = literal | name | "at" "(" N ")" "." name | function "(" "steps." name ")"
func (p *parser) operand() (operand, error) {
	t := p.peek()
	p.next++
	switch {
	case t.kind == numeral:
		return operand{text: t.text, value: t.value, field: field{kind: t.unit}}, nil
	case t.kind == quoted:
		return operand{text: t.text, value: t.text[1 : len(t.text)-1], field: field{kind: text}}, nil
	case t.text == "true" || t.text == "false":
		return operand{text: t.text, value: t.text == "true", field: field{kind: boolean}}, nil
	case t.text == "null":
		return operand{text: t.text}, nil
	case t.kind != word || slices.Contains([]string{"and", "or", "not"}, t.text) || t.text[0] == '.':
		p.next--
		return operand{}, p.fail(t, "want a field, such as knee.concurrency, or a value")
	}
	if _, ok := p.take("("); ok {
		return p.call(t)
	}
	return p.path(t, "", t.text, t.pos)
}

var functions = []string{"all", "any", "min", "max"}

// call reads on behind the parenthesis of a function.
func (p *parser) call(name token) (operand, error) {
	t := p.peek()
	p.next++
	switch {
	case name.text == "at":
		n, err := strconv.Atoi(t.text)
		if t.kind != numeral || err != nil || n < 1 {
			return operand{}, p.fail(t, "want a number of streams, such as at(8)")
		}
		if t, ok := p.take(")"); !ok {
			return operand{}, p.fail(t, "want )")
		}
		f := p.peek()
		if f.kind != word || f.text[0] != '.' {
			return operand{}, p.fail(f, "want a dot and a field of the step, such as .ttft_ms.p95")
		}
		p.next++
		o, err := p.path(f, "steps.", f.text[1:], f.pos+1)
		o.function, o.level = "at", n
		return o, err
	case !slices.Contains(functions, name.text):
		return operand{}, p.fail(name, "want at, all, any, min or max before a parenthesis")
	}
	path, ok := strings.CutPrefix(t.text, "steps.")
	if t.kind != word || !ok {
		return operand{}, p.fail(t, "want a field of steps, such as steps.ttft_ms.p95")
	}
	o, err := p.path(t, "steps.", path, t.pos+len("steps."))
	if err != nil {
		return operand{}, err
	}
	o.function = name.text
	switch {
	case o.field.kind == object:
		return operand{}, p.fail(t, "want one of the members of this field: "+names(o.field.members))
	case !o.ranged() && !o.field.kind.isNumber():
		return operand{}, p.fail(t, "want a field that is a number; all and any take others too")
	}
	if t, ok := p.take(")"); !ok {
		return operand{}, p.fail(t, "want )")
	}
	return o, nil
}

// path follows the names of a field from the top of the document, or from a step
// if root says so. It stands at pos, in or at the token t.
func (p *parser) path(t token, root, text string, pos int) (operand, error) {
	o := operand{text: text, path: strings.Split(text, "."), field: curve}
	if root != "" {
		o.field = step
	}
	for i, name := range o.path {
		at := token{pos: pos}
		f, ok := o.field.members[name]
		switch {
		case o.field.kind == counts:
			f, ok = field{kind: number}, o.field.has(name)
		case root == "" && i == 0 && name == "steps":
			return o, p.fail(t, "want at(N) for the step at N streams, or all, any, min or max: all(steps.…)")
		}
		if !ok {
			return o, p.fail(at, unknown(o.field, o.path[max(0, i-1)], name))
		}
		switch {
		case f.kind == list:
			return o, p.fail(at, "want a field that is one value; "+name+" is a list")
		case f.kind == counts && i == len(o.path)-1:
			return o, p.fail(at, "want one count of the map, such as failures.http_429")
		}
		o.field = f
		pos += len(name) + 1
	}
	return o, nil
}
