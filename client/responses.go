package client

import (
	"cmp"
	"encoding/json"
	"strings"

	"kneesweep/load"
)

// This file is the wire dialect of /v1/responses. A stream is made of events with a
// type; those that end in .delta carry the pieces. What ends a stream brings the whole
// response, with usage.

func responsePrompt(b *body, p load.Prompt) { b.add("input", turns(p)) }

// responseEvent is an event, or a whole response.
type responseEvent struct {
	Type     string          `json:"type"`
	Delta    richText        `json:"delta"`
	Item     *responseItem   `json:"item"`
	Response *response       `json:"response"`
	Error    json.RawMessage `json:"error"`
	response
}

type response struct {
	Object     string          `json:"object"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Failure    json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []responseItem `json:"output"`
	Usage  *responseUsage `json:"usage"`
}

type responseItem struct {
	Name      string         `json:"name"`
	Arguments richText       `json:"arguments"`
	Input     richText       `json:"input"` // of a custom tool
	Content   []responsePart `json:"content"`
	Summary   []responsePart `json:"summary"`
}

type responsePart struct {
	Type    string   `json:"type"`
	Text    richText `json:"text"`
	Refusal string   `json:"refusal"`
}

type responseUsage struct {
	Input     count `json:"input_tokens"`
	Output    count `json:"output_tokens"`
	Total     count `json:"total_tokens"`
	InputPart struct {
		Cached count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputPart struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responseUsage) normal() *usage {
	if u == nil {
		return nil
	}
	return &usage{
		Prompt: u.Input, Completion: u.Output, Total: u.Total,
		Reasoning: u.OutputPart.Reasoning, CacheRead: u.InputPart.Cached,
	}
}

const responsePrefix = "response."

func decodeResponse(d *delta, name, data []byte) error {
	*d = delta{}
	var e responseEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	kind := cmp.Or(e.Type, string(name))
	switch {
	case kind == "error" || e.Object == "error":
		d.fail(data)
	case e.Response != nil:
		d.respond(strings.TrimPrefix(kind, responsePrefix), e.Response)
		d.last = len(d.finish) > 0
	case e.Object == "response", e.Output != nil:
		e.Failure = e.Error // the outer field of this name hides the inner one
		d.respond(e.Status, &e.response)
	case raised(e.Error):
		d.fail(e.Error)
	case strings.HasSuffix(kind, ".delta"):
		d.continueResponse(kind, e.Delta)
	case kind == "response.output_item.added" && e.Item != nil:
		d.token = e.Item.Name != "" // the name of a function is generated, and comes at once
		d.partial = d.token
	case !strings.HasPrefix(kind, responsePrefix):
		status, _ := json.Marshal(e.Status)
		d.wonder(kind, status, data)
	}
	return nil
}

// continueResponse takes a piece of an answer. A summary of the reasoning is a piece,
// but not the reasoning that is billed.
func (d *delta) continueResponse(kind string, piece richText) {
	d.choices = 1
	switch {
	case piece == richText{} || strings.Contains(kind, "annotation"):
		return
	case kind == "response.output_text.delta":
		d.say(piece)
	case kind == "response.reasoning_text.delta", kind == "response.reasoning.delta":
		d.think(piece)
	}
	d.token, d.partial = true, true
}

// respond takes a response as it stands after an event, or whole. Only one that has
// ended brings its output and its count.
func (d *delta) respond(state string, r *response) {
	d.choices, d.model = 1, []byte(r.Model)
	if state == "done" {
		state = cmp.Or(r.Status, "completed")
	}
	switch state {
	case "completed":
		d.finish = []byte(state)
	case "incomplete":
		d.finish = []byte(state)
		if i := r.Incomplete; i != nil && i.Reason != "" {
			d.finish = []byte(i.Reason)
		}
	case "failed", "cancelled", "canceled":
		d.finish, d.failed = []byte(state), true
		d.failure = "the server ended the generation with status " + state
	default:
		return
	}
	if raised(r.Failure) {
		d.fail(r.Failure)
	}
	d.usage = r.Usage.normal()
	for i := range r.Output {
		d.item(&r.Output[i])
	}
}

// item takes every channel of a part of the output.
func (d *delta) item(it *responseItem) {
	none := richText{}
	d.token = d.token || it.Name != "" || it.Arguments != none || it.Input != none
	for _, p := range it.Content {
		if p.Type == "reasoning_text" {
			d.think(p.Text)
		} else {
			d.say(p.Text)
		}
		d.token = d.token || p.Refusal != ""
	}
	for _, p := range it.Summary {
		d.token = d.token || p.Text != none
	}
}
