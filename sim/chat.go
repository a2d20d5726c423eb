package sim

import (
	"fmt"
	"strings"
)

// chat writes the events of /v1/chat/completions and of /v1/completions.
type chat struct {
	answer
	kind  string // of the object
	piece string // the choice's field that holds the text, with room for it
	same  repeated
}

func chatFrames(a answer) frames {
	return &chat{answer: a, kind: "chat.completion.chunk", piece: `"delta":{"content":%q}`}
}

func textFrames(a answer) frames {
	return &chat{answer: a, kind: "text_completion", piece: `"text":%q`}
}

func (c *chat) chunk(piece, finish, extra string) []byte {
	return fmt.Appendf(nil, `data: {"id":"chatcmpl-sim","object":%q,"created":0,"model":%q,"choices":[{"index":0,%s,"finish_reason":%s}]%s}`+"\n\n",
		c.kind, c.model, piece, finish, extra)
}

// begin is the role, which carries no token.
func (c *chat) begin() []byte {
	if c.kind == "text_completion" {
		return nil
	}
	return c.chunk(`"delta":{"role":"assistant","content":""}`, "null", "")
}

func (c *chat) tokens(n, sent int) []byte {
	if c.growing {
		extra := fmt.Sprintf(`,"usage":%s`, jsonOf(chatUsage(&c.answer, sent)))
		return c.chunk(fmt.Sprintf(c.piece, strings.Repeat(c.word, n)), "null", extra)
	}
	return c.same.of(c.word, n, func(text string) []byte { return c.chunk(fmt.Sprintf(c.piece, text), "null", "") })
}

// end is the finish frame, usage if asked for, and the terminator.
func (c *chat) end() []byte {
	piece := `"delta":{}`
	if c.kind == "text_completion" {
		piece = `"text":""`
	}
	out := c.chunk(piece, `"length"`, "")
	if c.usage && c.asked {
		out = fmt.Appendf(out, `data: {"id":"chatcmpl-sim","object":%q,"created":0,"model":%q,"choices":[],"usage":%s}`+"\n\n",
			c.kind, c.model, jsonOf(chatUsage(&c.answer, c.visible)))
	}
	return append(out, "data: [DONE]\n\n"...)
}

func (c *chat) fail() []byte {
	return fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", jsonOf(errorObject("server_error", simulatedError)))
}

func wholeChat(a *answer) any {
	return completion(a, "chat.completion", "message", map[string]any{"role": "assistant", "content": a.text()})
}

func wholeText(a *answer) any { return completion(a, "text_completion", "text", a.text()) }

func completion(a *answer, kind, field string, text any) map[string]any {
	whole := map[string]any{
		"id": "chatcmpl-sim", "object": kind, "created": 0, "model": a.model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "length", field: text}},
	}
	if a.usage {
		whole["usage"] = chatUsage(a, a.visible)
	}
	return whole
}

func chatUsage(a *answer, visible int) map[string]any {
	u := map[string]any{"prompt_tokens": a.prompt, "completion_tokens": a.hidden + visible, "total_tokens": a.prompt + a.hidden + visible}
	if a.hidden > 0 {
		u["completion_tokens_details"] = map[string]any{"reasoning_tokens": a.hidden}
	}
	if a.caching {
		u["prompt_tokens_details"] = map[string]any{"cached_tokens": a.cached}
	}
	return u
}
