package sim

import (
	"fmt"
	"slices"
)

// responseFrames writes the events of /v1/responses. Their sequence numbers are left
// out: they would make every event another one.
type responseFrames struct {
	answer
	same repeated
}

func newResponseFrames(a answer) frames { return &responseFrames{answer: a} }

const inItem = `,"item_id":"msg_sim","output_index":0,"content_index":0`

func (f *responseFrames) begin() []byte {
	started := fmt.Sprintf(`,"response":%s`, jsonOf(responseObject(&f.answer, "in_progress", nil)))
	return slices.Concat(
		event("response.created", started), event("response.in_progress", started),
		event("response.output_item.added", `,"output_index":0,"item":{"id":"msg_sim","type":"message","status":"in_progress","role":"assistant","content":[]}`),
		event("response.content_part.added", inItem+`,"part":{"type":"output_text","text":"","annotations":[]}`),
	)
}

func (f *responseFrames) tokens(n, _ int) []byte {
	return f.same.of(f.word, n, func(text string) []byte {
		return event("response.output_text.delta", fmt.Sprintf(`%s,"delta":%q,"logprobs":[]`, inItem, text))
	})
}

func (f *responseFrames) end() []byte {
	return slices.Concat(
		event("response.output_text.done", fmt.Sprintf(`%s,"text":%q`, inItem, f.text())),
		event("response.output_item.done", fmt.Sprintf(`,"output_index":0,"item":%s`, jsonOf(outputItem(&f.answer)))),
		event("response.incomplete", fmt.Sprintf(`,"response":%s`, jsonOf(wholeResponse(&f.answer)))),
	)
}

func (f *responseFrames) fail() []byte {
	failed := responseObject(&f.answer, "failed", nil)
	failed["error"] = map[string]any{"code": "server_error", "message": simulatedError}
	return event("response.failed", fmt.Sprintf(`,"response":%s`, jsonOf(failed)))
}

// wholeResponse is the response of an answer that was ended by its limit.
func wholeResponse(a *answer) any {
	r := responseObject(a, "incomplete", outputItem(a))
	r["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	if a.usage {
		u := map[string]any{
			"input_tokens": a.prompt, "output_tokens": a.hidden + a.visible, "total_tokens": a.prompt + a.hidden + a.visible,
		}
		if a.hidden > 0 {
			u["output_tokens_details"] = map[string]any{"reasoning_tokens": a.hidden}
		}
		if a.caching {
			u["input_tokens_details"] = map[string]any{"cached_tokens": a.cached}
		}
		r["usage"] = u
	}
	return r
}

func responseObject(a *answer, status string, item any) map[string]any {
	output := []any{}
	if item != nil {
		output = append(output, item)
	}
	return map[string]any{
		"id": "resp_sim", "object": "response", "created_at": 0, "model": a.model, "status": status,
		"error": nil, "incomplete_details": nil, "output": output, "usage": nil,
	}
}

func outputItem(a *answer) any {
	return map[string]any{
		"id": "msg_sim", "type": "message", "status": "incomplete", "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": a.text(), "annotations": []any{}}},
	}
}
