package sim

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// messageFrames writes the events of /v1/messages.
type messageFrames struct {
	answer
	same repeated
}

func newMessageFrames(a answer) frames { return &messageFrames{answer: a} }

// needsLimit: this dialect wants to know the version that is spoken, and the longest answer.
func needsLimit(q *question, h http.Header) string {
	switch {
	case h.Get("Anthropic-Version") == "":
		return "anthropic-version: header is required"
	case !q.Messages.asked:
		return "messages: at least one message is required"
	case q.MaxTokens <= 0:
		return "max_tokens: Field required"
	}
	return ""
}

// begin counts the prompt, and one token of the output that is none yet.
func (f *messageFrames) begin() []byte {
	head := messageObject(&f.answer, []any{}, nil)
	if f.usage {
		u := promptUsage(&f.answer)
		u["output_tokens"] = 1
		head["usage"] = u
	}
	return slices.Concat(
		event("message_start", fmt.Sprintf(`,"message":%s`, jsonOf(head))),
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
		event("ping", ""),
	)
}

func (f *messageFrames) tokens(n, _ int) []byte {
	return f.same.of(f.word, n, func(text string) []byte {
		return event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, text))
	})
}

func (f *messageFrames) end() []byte {
	tail := `,"delta":{"stop_reason":"max_tokens","stop_sequence":null}`
	if f.usage {
		tail += fmt.Sprintf(`,"usage":%s`, jsonOf(messageUsage(&f.answer)))
	}
	return slices.Concat(event("content_block_stop", `,"index":0`), event("message_delta", tail), event("message_stop", ""))
}

func (f *messageFrames) fail() []byte {
	return fmt.Appendf(nil, "event: error\ndata: %s\n\n", jsonOf(messageError("overloaded_error", simulatedError)))
}

func wholeMessage(a *answer) any {
	m := messageObject(a, []any{map[string]any{"type": "text", "text": a.text()}}, "max_tokens")
	if a.usage {
		u := messageUsage(a)
		maps.Copy(u, promptUsage(a))
		m["usage"] = u
	}
	return m
}

func messageObject(a *answer, content []any, stop any) map[string]any {
	return map[string]any{
		"id": "msg_sim", "type": "message", "role": "assistant", "model": a.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil,
	}
}

// promptUsage counts what a cache had beside the rest, as this dialect does.
func promptUsage(a *answer) map[string]any {
	u := map[string]any{"input_tokens": a.prompt - a.cached}
	if a.caching {
		u["cache_read_input_tokens"], u["cache_creation_input_tokens"] = a.cached, 0
	}
	return u
}

func messageUsage(a *answer) map[string]any {
	u := map[string]any{"output_tokens": a.hidden + a.visible}
	if a.hidden > 0 {
		u["output_tokens_details"] = map[string]any{"thinking_tokens": a.hidden}
	}
	return u
}

func messageError(kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}
