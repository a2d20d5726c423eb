package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// searched is how many bytes are parsed at most to find the line of a syntax error.
const searched = 4 << 20

// document returns the root of the one document in data, nil when it is empty, or
// what is wrong with its syntax.
func document(file string, data []byte) (*yaml.Node, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: above %d KiB; settings need far less", file, MaxSize>>10)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s:%d: not UTF-8; save the file as UTF-8", file, 1+bytes.Count(data[:invalid(data)], []byte("\n")))
	}
	docs, err := documents(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s:%d: not YAML: %s", file, lineOf(data), reason(err))
	case len(docs) > 1:
		return nil, fmt.Errorf("%s:%d: a second YAML document begins; a file holds one", file, docs[1].Line)
	case len(docs) == 0 || len(docs[0].Content) == 0:
		return nil, nil
	}
	root := docs[0].Content[0]
	switch {
	case root.ShortTag() == "!!null" && root.Style == 0 && root.Anchor == "":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("%s:%d: no settings; write a line KEY: VALUE for each, with a space after the colon", file, root.Line)
	}
	return root, nil
}

// documents parses data, up to the second document.
func documents(data []byte) ([]yaml.Node, error) {
	var docs []yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	for len(docs) < 2 {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// invalid is the place of the first byte in data that is not UTF-8.
func invalid(data []byte) int {
	i := 0
	for i < len(data) {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return i
}

// lineOf finds the line of a syntax error: the first with which data can no more
// be parsed, whatever follows. The parser itself names the beginning of the
// innermost list or map, or nothing. In a large file it is the last line looked at.
func lineOf(data []byte) int {
	lines := bytes.SplitAfter(bytes.TrimRight(data, "\r\n"), []byte("\n"))
	line, spent := len(lines), 0
	for ; line > 1 && spent < searched; line-- {
		before := bytes.Join(lines[:line-1], nil)
		if _, err := documents(before); err == nil {
			break
		}
		spent += len(before)
	}
	return line
}

// reasons are what the parser says, by a part of it, and what to do in our words.
var reasons = []struct{ part, words string }{
	{"anchor", "a value begins with *; put it in quotes"}, // the parser would quote the value
	{"mapping values are not allowed", "a second colon, or more indentation than the line before; put a value with a colon in quotes"},
	{"could not find expected ':'", "a line without KEY: VALUE; write a space after the colon"},
	{"did not find expected ',' or ']'", "a list in [ ] does not end, or holds a value that needs quotes"},
	{"did not find expected ',' or '}'", "a map in { } does not end, or holds a value that needs quotes"},
	{"did not find expected node content", "a value is missing, or needs quotes"},
	{"unexpected end of stream", "a quote is not closed"},
	{"document indicator", "a quote is not closed"},
	{"cannot start any token", "a tab, or a value that begins with %, @ or `; indent with spaces and put such a value in quotes"},
	{"tab character", "a tab; indent with spaces"},
	{"unknown escape character", "a backslash in double quotes; use single quotes"},
	{"control characters", "a control character; remove it"},
	{"did not find expected key", "something after a quote or a list has ended, or wrong indentation"},
}

// reason says what a syntax error is about. It shows nothing of the file.
func reason(err error) string {
	for _, r := range reasons {
		if strings.Contains(err.Error(), r.part) {
			return r.words
		}
	}
	return "a line that cannot be read; write KEY: VALUE, and values with special characters in quotes"
}
