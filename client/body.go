package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kneesweep/load"
)

// body is a request body in the making: one JSON object.
type body struct {
	out  []byte
	omit []string // fields that are left out
	err  error
}

// add appends a field, unless it is to be left out.
func (b *body) add(name string, value any) {
	if slices.Contains(b.omit, name) {
		return
	}
	text, err := json.Marshal(value)
	b.err = errors.Join(b.err, err)
	b.comma()
	b.out = append(b.out, '"')
	b.out = append(append(append(b.out, name...), `":`...), text...)
}

func (b *body) comma() {
	if len(b.out) > 1 {
		b.out = append(b.out, ',')
	}
}

var includeUsage = map[string]bool{"include_usage": true}

// body builds the request for p. A field that was not asked for is not sent.
func (c Config) body(p load.Prompt) ([]byte, error) {
	w := c.Dialect.wire()
	b := &body{out: []byte{'{'}, omit: c.OmitFields}
	if c.Model != "" {
		b.add("model", c.Model)
	}
	w.prompt(b, p)
	if p.OutputTokens > 0 {
		b.add(c.limitField(), p.OutputTokens)
	}
	if !c.NoStream {
		b.add("stream", true)
		if w.options {
			b.add("stream_options", includeUsage)
		}
	}
	c.addExtra(b, p.OutputTokens)
	return append(b.out, '}'), b.err
}

// addExtra adds the fields that only some servers know. The least answer is never
// longer than the longest one, limit, where that is set.
func (c Config) addExtra(b *body, limit int) {
	if c.IgnoreEOS {
		b.add("ignore_eos", true)
	}
	if c.MinTokens > 0 {
		least := c.MinTokens
		if limit > 0 {
			least = min(least, limit)
		}
		b.add("min_tokens", least)
	}
	if len(c.extra) > 0 {
		b.comma()
		b.out = append(b.out, c.extra...)
	}
}

// Extra returns what is added to every request by IgnoreEOS, MinTokens and Body, as
// one JSON object without secrets; empty if nothing is.
func (c *Client) Extra() string {
	b := &body{out: []byte{'{'}, omit: c.cfg.OmitFields}
	c.cfg.addExtra(b, 0)
	if len(b.out) == 1 {
		return ""
	}
	return c.mask.Mask(string(append(b.out, '}')))
}

func (c Config) limitField() string {
	if c.MaxTokensField != "" {
		return c.MaxTokensField
	}
	return c.Dialect.wire().limit
}

// bodyFields lists the fields that a request may hold beside those of Body.
func (c Config) bodyFields() []string {
	w := c.Dialect.wire()
	list := append([]string{"model"}, w.fields...)
	list = append(list, c.limitField(), "stream")
	if w.options {
		list = append(list, "stream_options")
	}
	return append(list, "ignore_eos", "min_tokens")
}

// limits are the fields that limit an answer anywhere.
var limits = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

const wantBody = `want a JSON object such as '{"temperature":0}'`

// checkBody reports what is wrong with Body. It shows names and no value.
func (c Config) checkBody() []error {
	if c.Body == "" {
		return nil
	}
	names, err := members(c.Body)
	if err != nil {
		return []error{err}
	}
	var errs []error
	ours := append(c.bodyFields(), limits...)
	for i, name := range names {
		same := func(s string) bool { return strings.EqualFold(s, name) } // some servers read names so
		field := name
		if slices.ContainsFunc(limits, same) {
			field = c.limitField() // of two limits nobody knows which one holds
		}
		switch omitted := slices.Contains(c.OmitFields, field); {
		case slices.ContainsFunc(names[:i], same):
			errs = append(errs, fmt.Errorf("--body: %.40q is given twice", name))
		case slices.ContainsFunc(ours, same) && !omitted:
			errs = append(errs, fmt.Errorf("--body: %.40q is set by %s; to send it here all the same, add --omit-field %s", name, setBy(name), strings.ToLower(field)))
		}
	}
	return errs
}

// BodyNames returns the names of the fields of Body, in their order.
func (c Config) BodyNames() []string {
	names, _ := members(c.Body)
	return names
}

// setBy says which flags decide on a field.
func setBy(name string) string {
	switch name = strings.ToLower(name); name {
	case "model":
		return "--model"
	case "messages", "prompt", "input", "system":
		return "the prompts, --input-tokens or --prompts"
	case "stream":
		return "--no-stream"
	case "stream_options":
		return "kneesweep, to get usage"
	case "ignore_eos":
		return "--ignore-eos"
	case "min_tokens":
		return "--min-tokens"
	}
	return "--output-tokens and --max-tokens-field"
}

// members returns the names of the fields of a JSON object, in their order.
func members(text string) (names []string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	at := func(what string) error {
		return fmt.Errorf("--body: %s at byte %d; %s", what, d.InputOffset()+1, wantBody)
	}
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("--body: not a JSON object; " + wantBody)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, at("not JSON")
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, at("not JSON")
		}
		names = append(names, name.(string))
	}
	if _, err := d.Token(); err != nil {
		return nil, at("not JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, at("more than one JSON object")
	}
	return names, nil
}

// inner returns the fields of a JSON object without its braces; nothing of what is no
// object.
func inner(text string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil || b.Len() < 2 || b.Bytes()[0] != '{' {
		return nil
	}
	return b.Bytes()[1 : b.Len()-1]
}
