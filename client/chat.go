package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"kneesweep/load"
)

// This file is the wire dialect of /v1/chat/completions: the body of the request,
// and what one frame of the answer means. scan.go reads the commonest frames
// faster and must agree with it.

// bodyFields lists the fields that a request may hold.
func (c Config) bodyFields() []string {
	limit := c.MaxTokensField
	if limit == "" {
		limit = DefaultMaxTokensField
	}
	return []string{"model", "messages", limit, "stream", "stream_options", "ignore_eos"}
}

// body builds the request for p. A field that was not asked for is not sent.
func (c Config) body(p load.Prompt) ([]byte, error) {
	out := []byte{'{'}
	add := func(name string, value []byte) {
		if slices.Contains(c.OmitFields, name) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = strconv.AppendQuote(out, name)
		out = append(append(out, ':'), value...)
	}
	if c.Model != "" {
		name, err := json.Marshal(c.Model)
		if err != nil {
			return nil, err
		}
		add("model", name)
	}
	messages := p.Messages
	if messages == nil {
		messages = []load.Message{}
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	add("messages", text)
	if p.OutputTokens > 0 {
		add(c.MaxTokensField, strconv.AppendInt(nil, int64(p.OutputTokens), 10))
	}
	if !c.NoStream {
		add("stream", []byte("true"))
		add("stream_options", []byte(`{"include_usage":true}`))
	}
	if c.IgnoreEOS {
		add("ignore_eos", []byte("true"))
	}
	return append(out, '}'), nil
}

// delta is what one frame says.
type delta struct {
	token     bool   // a piece of the answer on any channel
	partial   bool   // it came as a piece, not within a whole message
	content   bool   // a piece of content
	reasoning bool   // a piece of reasoning
	text      []byte // the content
	choices   int

	finish      []byte // why generation ended, empty if it did not
	model       []byte // empty = not said
	fingerprint []byte
	usage       *usage // nil = no information
	failed      bool   // an error frame
	complaint   bool   // words that may be an error
	odd         bool   // a frame that is no part of an answer
	failure     string // the words
}

type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Total      count `json:"total_tokens"`
	Reasoning  count `json:"reasoning_tokens"`
	CacheRead  count `json:"cache_read_tokens"`
	CacheInput count `json:"cache_read_input_tokens"`
	PromptPart *struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionPart *struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// count is a number of tokens. Servers write it as a whole number, as 7.0 or as "7";
// anything else, and a number that cannot be true, is no count.
type count struct {
	n  int
	ok bool
}

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(b []byte) error {
	const most = 1 << 30
	v, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	*c = count{}
	if err == nil && v >= 0 && v <= most {
		*c = count{int(v), true}
	}
	return nil
}

type frame struct {
	Object      string          `json:"object"`
	Type        string          `json:"type"`
	Status      json.RawMessage `json:"status"`
	Message     json.RawMessage `json:"message"`
	Model       string          `json:"model"`
	Fingerprint string          `json:"system_fingerprint"`
	Choices     []choice        `json:"choices"`
	Usage       *usage          `json:"usage"`
	Groq        *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Error json.RawMessage `json:"error"`
}

type choice struct {
	Delta   *piece          `json:"delta"`
	Message *piece          `json:"message"` // a whole answer
	Text    richText        `json:"text"`    // text completions
	Finish  string          `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type piece struct {
	Content   richText   `json:"content"`
	Reasoning richText   `json:"reasoning"`
	Thoughts  richText   `json:"reasoning_content"`
	Refusal   richText   `json:"refusal"`
	Function  *function  `json:"function_call"`
	Tools     []toolCall `json:"tool_calls"`
	Audio     *audio     `json:"audio"`
}

type toolCall struct {
	Function function `json:"function"`
	Custom   struct {
		Name  string   `json:"name"`
		Input richText `json:"input"`
	} `json:"custom"`
}

func (t *toolCall) empty() bool {
	return t.Function.empty() && t.Custom.Name == "" && t.Custom.Input == richText{}
}

// audio is a piece of speech; its identity and its expiry alone are none.
type audio struct {
	Data       string `json:"data"`
	Transcript string `json:"transcript"`
}

type function struct {
	Name      string   `json:"name"`
	Arguments richText `json:"arguments"`
}

func (f *function) empty() bool {
	return f.Name == "" && f.Arguments == richText{}
}

// richText is text that comes as a string or as an array of typed parts.
type richText struct{ text, thought string }

// UnmarshalJSON takes a string or parts; anything else is no text.
func (t *richText) UnmarshalJSON(b []byte) error {
	*t = richText{}
	switch b[0] {
	case '"':
		return json.Unmarshal(b, &t.text)
	case '[':
		var parts []struct {
			Text     string   `json:"text"`
			Thinking richText `json:"thinking"`
		}
		if err := mostly(json.Unmarshal(b, &parts)); err != nil {
			return err
		}
		for _, p := range parts {
			t.text += p.Text
			t.thought += p.Thinking.text + p.Thinking.thought
		}
	case '{':
		t.text = string(b) // tool arguments as an object
	}
	return nil
}

// mostly forgives a field of an unexpected type: the others were still read.
func mostly(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil
	}
	return err
}

var errNoFrame = errors.New("not a JSON object")

// decode reads any frame, and a whole answer too.
func (d *delta) decode(data []byte) error {
	*d = delta{}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return errNoFrame
	}
	var f frame
	if err := mostly(json.Unmarshal(data, &f)); err != nil {
		return err
	}
	d.model, d.fingerprint = []byte(f.Model), []byte(f.Fingerprint)
	d.usage = f.Usage
	if d.usage == nil && f.Groq != nil {
		d.usage = f.Groq.Usage
	}
	if raised(f.Error) {
		d.failed, d.failure = true, errorText(f.Error)
	} else if f.Object == "error" || f.Type == "error" || len(f.Choices) == 0 && string(f.Status) == `"failure"` {
		d.failed, d.failure = true, errorText(data)
	}
	d.choices = len(f.Choices)
	for i := range f.Choices {
		d.add(&f.Choices[i])
	}
	if !d.failed && f.Choices == nil && d.usage == nil && !strings.HasPrefix(f.Object, "chat.completion") {
		d.wonder(&f, data)
	}
	return nil
}

func (d *delta) add(c *choice) {
	if c.Finish != "" {
		d.finish = []byte(c.Finish)
	}
	if d.usage == nil {
		d.usage = c.Usage
	}
	if raised(c.Error) && !d.failed {
		d.failed, d.failure = true, errorText(c.Error)
	}
	if ended([]byte(c.Finish)) && !d.failed {
		d.failed, d.failure = true, "the server ended the generation with finish_reason "+c.Finish
	}
	if c.Delta != nil {
		d.tell(c.Delta)
	}
	d.say(c.Text)
	d.partial = d.partial || d.token
	if c.Delta == nil && c.Message != nil {
		d.tell(c.Message)
	}
}

// tell takes every channel of a piece, or of a whole message.
func (d *delta) tell(p *piece) {
	d.say(p.Content)
	for _, r := range []richText{p.Reasoning, p.Thoughts} {
		if r != (richText{}) {
			d.token, d.reasoning = true, true
		}
	}
	if p.Refusal.text != "" || p.Function != nil && !p.Function.empty() ||
		p.Audio != nil && *p.Audio != (audio{}) {
		d.token = true
	}
	for i := range p.Tools {
		if !p.Tools[i].empty() {
			d.token = true
		}
	}
}

func (d *delta) say(t richText) {
	if t.text != "" {
		d.token, d.content = true, true
		d.text = append(d.text, t.text...)
	}
	if t.thought != "" {
		d.token, d.reasoning = true, true
	}
}
