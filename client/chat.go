package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"kneesweep/load"
)

// This file is the wire dialect of /v1/chat/completions: how it is asked, and what one
// frame of the answer means, which is the same in /v1/completions but for the place of
// the text. scan.go reads the commonest frames faster and must agree with it.

// chatPrompt asks in turns.
func chatPrompt(b *body, p load.Prompt) { b.add("messages", turns(p)) }

// turns are the messages of a prompt as an array, even if there is none.
func turns(p load.Prompt) []load.Message {
	if p.Messages == nil {
		return []load.Message{}
	}
	return p.Messages
}

func decodeChat(d *delta, _, data []byte) error { return d.decode(data) }

// delta is what one frame says, in any dialect.
type delta struct {
	token     bool   // a piece of the answer on any channel
	partial   bool   // it came as a piece, not within a whole message
	content   bool   // a piece of content
	reasoning bool   // a piece of reasoning as it was generated, not a summary
	text      []byte // the content
	choices   int    // answers of which it tells
	last      bool   // nothing follows: it stands for [DONE]
	alive     bool   // it only keeps the connection alive

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

// maxCount is the largest number of tokens that is believed.
const maxCount = 1 << 30

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	*c = count{}
	if err == nil && v >= 0 && v <= maxCount {
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

// unmarshal reads a JSON object as far as its fields have the types of v's.
func unmarshal(data []byte, v any) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return errNoFrame
	}
	return mostly(json.Unmarshal(data, v))
}

// decode reads any frame of chat and text completions, and a whole answer too.
func (d *delta) decode(data []byte) error {
	*d = delta{}
	var f frame
	if err := unmarshal(data, &f); err != nil {
		return err
	}
	d.model, d.fingerprint = []byte(f.Model), []byte(f.Fingerprint)
	d.usage = f.Usage
	if d.usage == nil && f.Groq != nil {
		d.usage = f.Groq.Usage
	}
	if raised(f.Error) {
		d.fail(f.Error)
	} else if f.Object == "error" || f.Type == "error" || len(f.Choices) == 0 && string(f.Status) == `"failure"` {
		d.fail(data)
	}
	d.choices = len(f.Choices)
	for i := range f.Choices {
		d.add(&f.Choices[i])
	}
	if !d.failed && f.Choices == nil && d.usage == nil && !strings.HasPrefix(f.Object, "chat.completion") {
		d.wonder(f.Type, f.Status, data)
	}
	return nil
}

// fail says that the frame is an error, in the words of body.
func (d *delta) fail(body []byte) { d.failed, d.failure = true, errorText(body) }

func (d *delta) add(c *choice) {
	if c.Finish != "" {
		d.finish = []byte(c.Finish)
	}
	if d.usage == nil {
		d.usage = c.Usage
	}
	if raised(c.Error) && !d.failed {
		d.fail(c.Error)
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
	d.think(p.Reasoning)
	d.think(p.Thoughts)
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

func (d *delta) think(t richText) {
	if t != (richText{}) {
		d.token, d.reasoning = true, true
	}
}
