package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"kneesweep/load"
)

// Canaries are questions with known answers among other prompts: if answers get worse
// as streams get more, a speed-up is bought with quality. The canaries of a visit are
// asked in the order of their file, so that all levels ask the same ones. A warm-up
// asks none.
type Canaries struct {
	Prompts
	Share float64 // of the prompts, 0…1

	name string
	hash string
	list []canary
}

// canary is a question and what is known of its answer.
type canary struct {
	prompt   load.Prompt
	expected func(answer string) bool
}

var _ Prompts = (*Canaries)(nil)

// wantedCanary shows what a line must be.
const wantedCanary = `a line is {"prompt":"…","contains":"…"}, or "messages", and "exact", "regex" or "json":true`

// ReadCanaries reads a file of canaries, one JSON object a line. Its error names every
// bad line. Prompts and Share of what it returns are to be set.
func ReadCanaries(r io.Reader, name string) (*Canaries, error) {
	in := newRecords(r, name, false)
	c := &Canaries{name: name}
	err := in.each(func(text []byte) error {
		one, err := parseCanary(text)
		if err == nil {
			c.list = append(c.list, one)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(c.list) == 0 {
		return nil, fmt.Errorf("%s: no canary in the file; %s", name, wantedCanary)
	}
	c.hash = in.sum()
	return c, nil
}

// parseCanary reads a line.
func parseCanary(text []byte) (c canary, err error) {
	fields, err := object(text, wantedCanary)
	if err != nil {
		return c, err
	}
	if c.prompt, err = parseFields(fields); err != nil {
		return c, err
	}
	found := ""
	for _, e := range expectations {
		raw, ok := fields[e.field]
		if !ok {
			continue
		}
		if found != "" {
			return c, fmt.Errorf("has both %q and %q; remove one of them", found, e.field)
		}
		found = e.field
		if c.expected, err = e.parse(raw); err != nil {
			return c, fmt.Errorf("%q %w", e.field, err)
		}
	}
	if found == "" {
		return c, errors.New("says nothing of the answer; " + wantedCanary)
	}
	return c, nil
}

// expectations are what a line can say of the answer.
var expectations = []struct {
	field string
	parse func(json.RawMessage) (func(string) bool, error)
}{
	{"exact", func(raw json.RawMessage) (func(string) bool, error) {
		want, err := someText(raw)
		return func(answer string) bool { return strings.TrimSpace(answer) == strings.TrimSpace(want) }, err
	}},
	{"contains", func(raw json.RawMessage) (func(string) bool, error) {
		want, err := someText(raw)
		return func(answer string) bool { return strings.Contains(answer, want) }, err
	}},
	{"regex", func(raw json.RawMessage) (func(string) bool, error) {
		want, err := someText(raw)
		if err != nil {
			return nil, err
		}
		re, err := regexp.Compile(want)
		if err != nil {
			return nil, fmt.Errorf("is no regular expression (RE2): %w", err)
		}
		return re.MatchString, nil
	}},
	{"json", func(raw json.RawMessage) (func(string) bool, error) {
		if string(raw) != "true" {
			return nil, fmt.Errorf("is %s; write true, or leave it out", kind(raw))
		}
		return validJSON, nil
	}},
}

func someText(raw json.RawMessage) (text string, err error) {
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("is %s; write a text", kind(raw))
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("is empty: any answer would do; write a text")
	}
	return text, nil
}

// validJSON takes an answer that is JSON, in a fence of Markdown or without.
func validJSON(answer string) bool {
	answer = strings.TrimSpace(answer)
	if inner, ok := strings.CutPrefix(answer, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		answer = strings.TrimSuffix(inner, "```")
	}
	return json.Valid([]byte(answer))
}

// every is the distance between two canaries of a visit, in requests.
func (c *Canaries) every() int { return max(1, int(math.Round(1/c.Share))) }

// Validate reports every problem of the source.
func (c *Canaries) Validate() error { return c.Prompts.Validate() }

// Prompt returns the prompt of a key. A canary without a limit of its own has that of
// the prompt whose place it takes.
func (c *Canaries) Prompt(k Key) load.Prompt {
	p := c.Prompts.Prompt(k)
	if k.Warmup {
		return p
	}
	visit := Key{Concurrency: k.Concurrency, Pass: k.Pass}
	at := k.Seq + int(visit.hash()%uint64(c.every()))
	if at%c.every() != 0 {
		return p
	}
	// Pass 1 begins with the second half of the file: few visits ask all of it.
	i := (at/c.every() + k.Pass*(len(c.list)/2)) % len(c.list)
	one := c.list[i]
	limit := p.OutputTokens
	p = one.prompt
	if p.OutputTokens == 0 {
		p.OutputTokens = limit
	}
	p.Canary, p.Expected = i+1, one.expected
	return p
}

// Hash names the data set.
func (c *Canaries) Hash() string {
	h := sha256.Sum256(fmt.Appendf(nil, "canaries/v1 every %d %s %s", c.every(), c.hash, c.Prompts.Hash()))
	return "sha256:" + hex.EncodeToString(h[:16])
}

// Describe says what is asked.
func (c *Canaries) Describe() load.RequestShape {
	d := c.Prompts.Describe()
	d.Source += fmt.Sprintf(", every %s a canary of the %d in %s", ordinal(c.every()), len(c.list), filepath.Base(c.name))
	return d
}

func ordinal(n int) string {
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
