package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"kneesweep/internal/spell"
)

// maxProblems is how many things that are wrong are said at once.
const maxProblems = 10

// Parse reads the settings in data, in their order; file is its name in errors. An
// error joins what is wrong, a line for each as FILE:LINE: KEY: …, ten at most. An
// empty file holds no settings. No error shows the value of a secret key.
//
// Strictness is kept on the nodes, not by decoding into a struct: the keys are not
// known before the program runs, and every error needs its line.
func Parse(file string, data []byte, keys []Key) ([]Setting, error) {
	root, err := document(file, data)
	if root == nil {
		return nil, err
	}
	p := parser{file: file, keys: keys, seen: map[string]int{}}
	p.settings(root)
	if len(p.problems) == 0 {
		return p.found, nil
	}
	if more := len(p.problems) - maxProblems; more > 0 {
		p.problems = append(p.problems[:maxProblems:maxProblems], fmt.Errorf("%s: and %d more", file, more))
	}
	return nil, errors.Join(p.problems...)
}

// parser collects settings and problems.
type parser struct {
	file     string
	keys     []Key
	seen     map[string]int // keys and their lines
	found    []Setting
	problems []error
}

// problem notes what is wrong at a node. It returns false.
func (p *parser) problem(n *yaml.Node, format string, args ...any) bool {
	p.problems = append(p.problems, fmt.Errorf("%s:%d: "+format, append([]any{p.file, n.Line}, args...)...))
	return false
}

// settings reads the root.
func (p *parser) settings(root *yaml.Node) {
	if decorated(root) {
		p.problem(root, "tags (!) and anchors (&) have no meaning here; remove them")
	}
	for i := 0; i < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		key, ok := p.key(name)
		if !ok {
			continue
		}
		before := len(p.problems)
		values := p.values(key, value)
		if len(p.problems) == before {
			p.found = append(p.found, Setting{Key: key, Values: values, At: fmt.Sprintf("%s:%d", p.file, name.Line)})
		}
	}
}

// plausible is how a key that can be shown looks; anything else may be a value with
// its colon in the wrong place.
var plausible = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,30}$`)

// key looks a key up.
func (p *parser) key(n *yaml.Node) (Key, bool) {
	if n.Kind != yaml.ScalarNode || decorated(n) || !plausible.MatchString(strings.TrimLeft(n.Value, "-")) {
		return Key{}, p.problem(n, "no such key; write KEY: VALUE, with a space after the colon")
	}
	if line, again := p.seen[n.Value]; again {
		return Key{}, p.problem(n, "%s: given already in line %d", n.Value, line)
	}
	p.seen[n.Value] = n.Line
	nearest, least := "", 0
	for _, k := range p.keys {
		if k.Name == n.Value {
			return k, true
		}
		meant := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(n.Value, "-")), "_", "-")
		if d := spell.Distance(meant, k.Name); d <= len(meant)/3 && (nearest == "" || d < least) {
			nearest, least = k.Name, d
		}
	}
	if nearest != "" {
		return Key{}, p.problem(n, "%s: no such key; %s?", n.Value, nearest)
	}
	return Key{}, p.problem(n, "%s: no such key; a key is the name of a flag, without dashes", n.Value)
}

// values reads what a key holds.
func (p *parser) values(key Key, n *yaml.Node) []string {
	switch {
	case decorated(n):
		p.problem(n, "%s: a value begins with ! or &; put it in quotes", key.Name)
	case n.Kind == yaml.ScalarNode:
		if p.scalar(key, key.wants(), n) && p.plainName(key, n, n.Value) {
			return []string{n.Value}
		}
	case n.Kind == yaml.SequenceNode && !key.List:
		p.problem(n, "%s: a list is not %s", key.Name, key.wants())
	case n.Kind == yaml.MappingNode && !key.Map:
		p.problem(n, "%s: a map is not %s", key.Name, key.wants())
	case len(n.Content) == 0:
		p.problem(n, "%s: holds nothing; write a value, or remove the key", key.Name)
	case n.Kind == yaml.MappingNode:
		return p.pairs(key, n)
	default:
		return p.items(key, n)
	}
	return nil
}

// items reads a list.
func (p *parser) items(key Key, n *yaml.Node) []string {
	var values []string
	for _, item := range n.Content {
		if p.item(key, item) && p.plainName(key, item, item.Value) {
			values = append(values, item.Value)
		}
	}
	return values
}

// pairs reads a map, each pair as "name: value".
func (p *parser) pairs(key Key, n *yaml.Node) []string {
	var values []string
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		line, again := seen[strings.ToLower(name.Value)]
		seen[strings.ToLower(name.Value)] = name.Line
		switch {
		case name.Kind != yaml.ScalarNode || decorated(name) || name.Value == "" || strings.ContainsAny(name.Value, ": \t\r\n"):
			p.problem(name, "%s: number %d has no name; write NAME: VALUE, with a space after the colon", key.Name, i/2+1)
		case again:
			p.problem(name, "%s: number %d has the name of line %d; write several values as a list of 'NAME: VALUE'", key.Name, i/2+1, line)
		case key.Grid:
			if list, ok := p.axis(key, value); ok {
				values = append(values, name.Value+"="+list)
			}
		case p.item(key, value):
			pair := name.Value + ": " + value.Value
			p.plainName(key, name, pair)
			values = append(values, pair)
		}
	}
	return values
}

// axis reads the value of a pair of a grid, one or a list, whatever their kinds: those
// are the business of the key that the pair names.
func (p *parser) axis(key Key, n *yaml.Node) (string, bool) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var values []string
	for _, item := range items {
		switch {
		case item.Kind != yaml.ScalarNode || decorated(item) || item.ShortTag() == "!!null" || strings.Contains(item.Value, ","):
			return "", p.problem(item, "%s: want a value or a list of values, each without a comma", key.Name)
		case p.misplaced(key, item.Value) != "":
			return "", p.problem(item, "%s: %s", key.Name, p.misplaced(key, item.Value))
		}
		values = append(values, item.Value)
	}
	if len(values) == 0 {
		return "", p.problem(n, "%s: want a value or a list of values, each without a comma", key.Name)
	}
	return strings.Join(values, ","), true
}

// plainName checks that nothing is put into the name of a pair.
func (p *parser) plainName(key Key, n *yaml.Node, pair string) bool {
	if name, _, _ := strings.Cut(pair, ":"); key.Map && strings.Contains(name, reference) {
		return p.problem(n, "%s: ${…} in the name; write 'NAME: ${VARIABLE}'", key.Name)
	}
	return true
}

// item checks a value inside a list or a map.
func (p *parser) item(key Key, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || decorated(n) {
		return p.problem(n, "%s: an item is not %s", key.Name, key.Kind)
	}
	return p.scalar(key, key.Kind.String(), n)
}

// scalar checks one value.
func (p *parser) scalar(key Key, wants string, n *yaml.Node) bool {
	shown := fmt.Sprintf("%.40q", n.Value)
	if key.Secret {
		shown = "the value"
	}
	if n.ShortTag() == "!!null" {
		return p.problem(n, "%s: no value, want %s", key.Name, wants)
	}
	if bad := p.misplaced(key, n.Value); bad != "" {
		return p.problem(n, "%s: %s", key.Name, bad)
	}
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	switch {
	case key.Kind == Text && n.ShortTag() == "!!bool":
		return p.problem(n, "%s: %s without quotes is not %s", key.Name, shown, wants)
	case !key.Kind.Reads(n.Value):
		return p.problem(n, "%s: %s is not %s", key.Name, shown, wants)
	case quoted && key.Kind != Text && key.Kind != Duration:
		return p.problem(n, "%s: %s in quotes is a text, not %s", key.Name, shown, wants)
	}
	return true
}

// Reads reports whether s is of the kind.
func (k Kind) Reads(s string) bool {
	var err error
	switch k {
	case Text:
	case Bool:
		return s == "true" || s == "false"
	case Int:
		_, err = strconv.ParseInt(s, 0, strconv.IntSize)
	case Uint:
		_, err = strconv.ParseUint(s, 0, 64)
	case Number:
		_, err = strconv.ParseFloat(s, 64)
	case Duration:
		_, err = time.ParseDuration(s)
	}
	return err == nil
}

// decorated reports whether a node has a tag, an anchor, or stands for another.
func decorated(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0
}
