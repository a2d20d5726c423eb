package client

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"kneesweep/load"
)

// This file is the wire dialect of /v1/messages. A stream begins with message_start,
// which counts the prompt; content_block_delta carries the pieces, message_delta the
// reason of the end and the count of the output, and message_stop ends it.

// messagesPrompt asks in turns; what the system says stands apart from them.
func messagesPrompt(b *body, p load.Prompt) {
	var system []string
	rest := slices.DeleteFunc(slices.Clone(turns(p)), func(m load.Message) bool {
		apart := m.Role == "system" || m.Role == "developer"
		if apart {
			system = append(system, m.Content)
		}
		return apart
	})
	if system != nil {
		b.add("system", strings.Join(system, "\n\n"))
	}
	b.add("messages", rest)
}

// messageEvent is an event, or a whole message.
type messageEvent struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Status  json.RawMessage `json:"status"`
	Message *messageBody    `json:"message"`
	Block   *block          `json:"content_block"`
	Delta   *struct {
		block
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	messageBody
}

type messageBody struct {
	Model   string        `json:"model"`
	Content []block       `json:"content"`
	Stop    string        `json:"stop_reason"`
	Usage   *messageUsage `json:"usage"`
}

// block is a block of content, or a piece of one.
type block struct {
	Text     richText `json:"text"`
	Thinking string   `json:"thinking"`
	Redacted string   `json:"data"`         // thinking that is not shown
	Name     string   `json:"name"`         // of a tool
	JSON     string   `json:"partial_json"` // what it is given
}

type messageUsage struct {
	Input      count `json:"input_tokens"` // those beside the cache
	CacheWrite count `json:"cache_creation_input_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	Output     count `json:"output_tokens"`
	OutputPart struct {
		Thinking count `json:"thinking_tokens"` // within Output
	} `json:"output_tokens_details"`
}

// normal makes the prompt whole: this dialect counts what is read from the cache, or
// written into it, beside the rest.
func (u *messageUsage) normal() *usage {
	if u == nil {
		return nil
	}
	n := &usage{Completion: u.Output, CacheRead: u.CacheRead, Reasoning: u.OutputPart.Thinking}
	if u.Input.ok {
		all := int64(u.Input.n) + int64(u.CacheWrite.n) + int64(u.CacheRead.n)
		n.Prompt = count{int(min(all, maxCount)), true}
	}
	return n
}

func decodeMessage(d *delta, name, data []byte) error {
	*d = delta{}
	var e messageEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	d.usage = e.Usage.normal()
	switch kind := cmp.Or(e.Type, string(name)); kind {
	case "error":
		d.fail(data)
	case "message_start":
		d.begin(e.Message)
	case "content_block_start":
		d.continueMessage(e.Block)
	case "content_block_delta":
		if e.Delta != nil {
			d.continueMessage(&e.Delta.block)
		}
	case "message_delta":
		d.choices = 1
		if e.Delta != nil {
			d.finish = []byte(e.Delta.Stop)
		}
	case "message_stop":
		d.choices, d.last = 1, true
	case "message":
		d.choices, d.model, d.finish = 1, []byte(e.Model), []byte(e.Stop)
		for i := range e.Content {
			d.block(&e.Content[i])
		}
	case "ping":
		d.alive = true
	case "content_block_stop":
	default:
		if !raised(e.Error) {
			d.wonder(kind, e.Status, data)
		}
	}
	if raised(e.Error) {
		d.fail(e.Error)
	}
	return nil
}

// begin takes the head of a message. Its count of output is made before anything was
// generated: it is none.
func (d *delta) begin(m *messageBody) {
	d.choices = 1
	if m == nil {
		return
	}
	d.model, d.usage = []byte(m.Model), m.Usage.normal()
	if d.usage != nil {
		d.usage.Completion = count{}
	}
}

func (d *delta) continueMessage(b *block) {
	d.choices = 1
	if b != nil {
		d.block(b)
		d.partial = d.token
	}
}

// block takes every channel of a block. Thinking is a piece of the answer, but not
// the reasoning that a server counts: those that count it stream a summary of it.
func (d *delta) block(b *block) {
	d.say(b.Text)
	d.token = d.token || b.Thinking != "" || b.Redacted != "" || b.Name != "" || b.JSON != ""
}
