package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Result is what became of a condition.
type Result struct {
	Holds    Truth
	Readings []Reading // the fields that it names, in their order
}

// Reading is a field and the value that it had.
type Reading struct {
	Name   string
	Value  any       // a list, with one value for each of Levels, for all and any
	Levels []float64 // of all, any, min and max: the steps that the value is from
	Note   string    // why there is no value, if that is known
	kind   kind
}

// Eval evaluates the condition over a document as encoding/json decodes it.
func (e Expr) Eval(doc map[string]any) Result {
	var r Result
	r.Holds = e.root.eval(doc, &r.Readings)
	return r
}

// Value is the value of the one field that the condition names, or a map from
// name to value if there are several.
func (r Result) Value() any {
	if len(r.Readings) == 1 {
		return r.Readings[0].Value
	}
	m := map[string]any{}
	for _, x := range r.Readings {
		m[x.Name] = x.Value
	}
	return m
}

// Text says the values for people.
func (r Result) Text() string {
	var parts []string
	for _, x := range r.Readings {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, "; ")
}

func (c comparison) eval(doc map[string]any, seen *[]Reading) Truth {
	left, right := c.left.read(doc, seen), c.right.read(doc, seen)
	return c.left.fold(left, func(l any) Truth {
		return c.right.fold(right, func(r any) Truth { return c.compare(l, r) })
	})
}

// fold joins what holds for each value of an operand: one, or those that all and
// any range over. No step at all leaves both of them undecided.
func (o operand) fold(value any, holds func(any) Truth) Truth {
	if !o.ranged() {
		return holds(value)
	}
	values := value.([]any)
	if len(values) == 0 {
		return Null
	}
	t := holds(values[0])
	for _, v := range values[1:] {
		if o.function == "all" {
			t = min(t, holds(v))
		} else {
			t = max(t, holds(v))
		}
	}
	return t
}

// compare holds two values against each other. Only a literal null can be equal to
// null; otherwise null is an unknown value.
func (c comparison) compare(a, b any) Truth {
	if c.left.null() || c.right.null() {
		return truth((a == nil && b == nil) == (c.op == "=="))
	}
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		if !ok {
			return Null
		}
		return truth(map[string]bool{"==": x == y, "!=": x != y, "<=": x <= y, ">=": x >= y, "<": x < y, ">": x > y}[c.op])
	}
	if a == nil || b == nil {
		return Null
	}
	return truth((a == b) == (c.op != "!="))
}

// read returns the value of an operand, and notes it.
func (o operand) read(doc map[string]any, seen *[]Reading) any {
	if o.literal() {
		return o.value
	}
	r := Reading{Name: o.String(), kind: o.field.kind}
	switch o.function {
	case "":
		r.Value = o.lookup(doc)
	case "at":
		r.Value, r.Note = o.at(doc)
	default:
		o.over(doc, &r)
	}
	if !slices.ContainsFunc(*seen, func(x Reading) bool { return x.Name == r.Name }) {
		*seen = append(*seen, r)
	}
	return r.Value
}

// lookup follows the path. What is not there is null, but a count that is not in
// its map is 0.
func (o operand) lookup(from map[string]any) any {
	var v any = from
	f := curve
	if o.function != "" {
		f = step
	}
	for _, name := range o.path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v, ok = m[name]
		if f.kind == counts && !ok {
			v = 0.0
		}
		f = f.members[name]
	}
	if m, ok := v.(map[string]any); ok && o.field.kind != object {
		return m["value"]
	}
	return v
}

// at is the value in the step at one level.
func (o operand) at(doc map[string]any) (value any, note string) {
	for level, s := range steps(doc) {
		switch {
		case level != float64(o.level):
		case s["valid"] != true && !o.accounts():
			return nil, "that level is not valid"
		default:
			return o.lookup(s), ""
		}
	}
	return nil, "that level was not measured"
}

// over reads the field in every step that counts.
func (o operand) over(doc map[string]any, r *Reading) {
	values := []any{}
	for level, s := range steps(doc) {
		if s["valid"] == true || o.accounts() {
			values, r.Levels = append(values, o.lookup(s)), append(r.Levels, level)
		}
	}
	switch {
	case o.ranged():
		r.Value = values
	case len(values) > 0:
		r.extreme(values, o.function == "max")
	}
	if len(values) == 0 {
		r.Note = "no level counts for it"
	}
}

// extreme keeps the least or the greatest value and its level; it is null if any
// value is.
func (r *Reading) extreme(values []any, greatest bool) {
	best, at := 0.0, -1
	for i, v := range values {
		x, ok := v.(float64)
		if !ok {
			r.Note, r.Levels = fmt.Sprintf("since it is null at N = %v", r.Levels[i]), nil
			return
		}
		if at < 0 || greatest == (x > best) && x != best {
			best, at = x, i
		}
	}
	r.Value, r.Levels = best, r.Levels[at:at+1]
}

// accounts reports whether the field counts for steps that are not valid.
func (o operand) accounts() bool { return slices.Contains(account, o.path[0]) }

// steps yields the steps of a document with their levels.
func steps(doc map[string]any) func(func(float64, map[string]any) bool) {
	return func(yield func(float64, map[string]any) bool) {
		all, _ := doc["steps"].([]any)
		for _, v := range all {
			s, _ := v.(map[string]any)
			if level, ok := s["concurrency"].(float64); ok && !yield(level, s) {
				return
			}
		}
	}
}

// String is "NAME is VALUE".
func (r Reading) String() string {
	s := r.Name + " is " + r.show(r.Value)
	if values, ok := r.Value.([]any); ok && len(values) > 0 {
		parts := []string{}
		for i, v := range values {
			parts = append(parts, r.show(v)+[]string{" at N = ", " at "}[min(i, 1)]+fmt.Sprint(r.Levels[i]))
		}
		s = r.Name + ": " + strings.Join(parts, ", ")
	} else if len(r.Levels) > 0 {
		s += fmt.Sprintf(" at N = %v", r.Levels[0])
	}
	if r.Note != "" {
		s += ", " + r.Note
	}
	return s
}

// show is a value with its unit, numbers to six digits.
func (r Reading) show(v any) string {
	x, ok := v.(float64)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
	unit := map[kind]string{fraction: "%", millis: " ms"}[r.kind]
	if r.kind == fraction {
		x *= 100
	}
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64); err == nil {
		x = rounded
	}
	return strconv.FormatFloat(x, 'f', -1, 64) + unit
}
