package client

import (
	"testing"

	"kneesweep/load"
)

// respond is an event of /v1/responses, as its servers write them.
func respond(kind, fields string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\",\"sequence_number\":1" + fields + "}\n\n"
}

func said(text string) string {
	return respond("response.output_text.delta", `,"item_id":"i","output_index":0,"content_index":0,"delta":"`+text+`","logprobs":[]`)
}

// The parts of a good answer in the responses dialect.
var (
	responseBegin = respond("response.created", `,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[],"usage":null,"error":null}`) +
		respond("response.in_progress", `,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[],"usage":null}`) +
		respond("response.output_item.added", `,"output_index":0,"item":{"id":"i","type":"message","status":"in_progress","content":[]}`) +
		respond("response.content_part.added", `,"item_id":"i","part":{"type":"output_text","text":"","annotations":[]}`)
	responseEnd = respond("response.output_text.done", `,"item_id":"i","text":"abc"`) +
		respond("response.content_part.done", `,"item_id":"i","part":{"type":"output_text","text":"abc"}`) +
		respond("response.output_item.done", `,"item":{"id":"i","type":"message","content":[{"type":"output_text","text":"abc"}]}`) +
		respond("response.completed", `,"response":`+responseWhole)
)

const responseWhole = `{"id":"r","object":"response","status":"completed","model":"m","error":null,"incomplete_details":null,` +
	`"output":[{"type":"message","content":[{"type":"output_text","text":"abc"}]}],` +
	`"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":10}}`

func responses(c *Config) { c.Dialect = Responses }

func TestResponses(t *testing.T) {
	w := good
	w.finish = "completed"
	s := ask(t, func(w *writer, _ int) {
		w.at(50 * ms)
		w.send(responseBegin)
		w.at(200 * ms)
		w.send(said("a"))
		w.at(300 * ms)
		w.send(said("b"))
		w.at(400 * ms)
		w.send(said("c"), responseEnd)
		w.at(1200 * ms) // the body ends later
	}, responses)
	check(t, s, w)
	if s.PromptTokens != load.Some(7) || s.CachedTokens != load.Some(4) || s.ReasoningTokens != load.Some(0) || s.Model != "m" || s.TPOT() != load.Some(0.1) || s.Malformed != 0 {
		t.Errorf("sample %+v", s)
	}
	check(t, ask(t, says(responseWhole), func(c *Config) { c.Dialect, c.NoStream = Responses, true }),
		want{tokens: 3, source: load.SourceServer, finish: "completed", text: "abc"})
}

// Every channel brings the first token, and only reasoning as it was generated is not
// hidden when it is billed.
func TestResponsesChannels(t *testing.T) {
	const usage = `"usage":{"input_tokens":7,"output_tokens":503,"output_tokens_details":{"reasoning_tokens":500},"total_tokens":510}`
	end := said("a") + said("b") + respond("response.completed", `,"response":{"status":"completed",`+usage+`}`)
	for name, c := range map[string]struct {
		first  string
		ttft   bool // it is the first token
		hidden int
	}{
		"reasoning":         {respond("response.reasoning_text.delta", `,"delta":"hm"`), true, 0},
		"older reasoning":   {respond("response.reasoning.delta", `,"delta":"hm"`), true, 0},
		"its summary":       {respond("response.reasoning_summary_text.delta", `,"delta":"hm"`), true, 500},
		"refusal":           {respond("response.refusal.delta", `,"delta":"no"`), true, 500},
		"arguments":         {respond("response.function_call_arguments.delta", `,"delta":"{\"a"`), true, 500},
		"tool's input":      {respond("response.custom_tool_call_input.delta", `,"delta":"x"`), true, 500},
		"name of function":  {respond("response.output_item.added", `,"item":{"type":"function_call","name":"f","arguments":""}`), true, 500},
		"empty piece":       {said(""), false, 500},
		"an annotation":     {respond("response.output_text.annotation.delta", `,"delta":"x"`), false, 500},
		"reasoning item":    {respond("response.output_item.added", `,"item":{"type":"reasoning","summary":[],"encrypted_content":"x"}`), false, 500},
		"web search":        {respond("response.web_search_call.searching", `,"item_id":"w"`), false, 500},
		"a foreign one":     {respond("keepalive", ``), false, 500},
		"no type in data":   {"event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\n", true, 500},
		"queued, and ping":  {respond("response.queued", `,"response":{"status":"queued"}`) + "event: ping\ndata: {}\n\n: ping\n\n", false, 500},
		"not quite a piece": {respond("response.output_text.delta", `,"delta":null`), false, 500},
	} {
		s := ask(t, func(w *writer, _ int) {
			w.at(100 * ms)
			w.send(c.first)
			w.at(200 * ms)
			w.send(end)
		}, responses)
		first := 200 * ms
		if c.ttft {
			first = 100 * ms
		}
		if s.Failed() || s.TTFT().V != first || s.HiddenTokens != c.hidden || s.OutputTokens != 503 || s.Malformed != 0 {
			t.Errorf("%s: %s %s, TTFT %v, %d hidden of %d", name, s.Cause, s.Error, s.TTFT().V, s.HiddenTokens, s.OutputTokens)
		}
	}
}

func TestResponsesEnds(t *testing.T) {
	begun := responseBegin + said("a") + said("b")
	ends := func(kind, response string) string { return respond(kind, `,"response":`+response) }
	for name, c := range map[string]struct {
		stream string
		cause  load.Cause
		finish string
		tokens int
		source load.TokenSource
		error  string
	}{
		"by the limit":    {begun + ends("response.incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"output_tokens":5}}`), "", "max_output_tokens", 5, load.SourceServer, ""},
		"without status":  {begun + ends("response.completed", `{"usage":{"output_tokens":2}}`), "", "completed", 2, load.SourceServer, ""},
		"done":            {begun + ends("response.done", `{"usage":{"output_tokens":2}}`), "", "completed", 2, load.SourceServer, ""},
		"no usage":        {begun + ends("response.completed", `{"status":"completed"}`), "", "completed", 2, load.SourceEstimated, ""},
		"[DONE]":          {begun + done, "", "", 2, load.SourceEstimated, ""},
		"not at all":      {begun, load.CauseTruncated, "", 2, load.SourceEstimated, "the stream ended without response.completed or response.incomplete"},
		"failed":          {begun + ends("response.failed", `{"status":"failed","error":{"code":"server_error","message":"out of memory"}}`), load.CauseStreamError, "failed", 2, load.SourceEstimated, "out of memory"},
		"silently failed": {begun + ends("response.failed", `{}`), load.CauseStreamError, "failed", 2, load.SourceEstimated, "the server ended the generation with status failed"},
		"cancelled":       {begun + ends("response.cancelled", `{"status":"cancelled"}`), load.CauseStreamError, "cancelled", 2, load.SourceEstimated, "the server ended the generation with status cancelled"},
		"error event":     {begun + respond("error", `,"code":"rate_limit","message":"slow down","param":null`), load.CauseStreamError, "", 2, load.SourceEstimated, "slow down"},
		"error object":    {begun + "data: {\"error\":{\"message\":\"boom\"}}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "boom"},
		"error, no event": {begun + "data: {\"type\":\"error\",\"message\":\"boom\"}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "boom"},
		"nothing said":    {responseBegin + ends("response.completed", `{"status":"completed","output":[],"usage":{"output_tokens":0}}`), load.CauseEmpty, "completed", 0, "", "the answer holds no token"},
		"another dialect": {role + tok("a"), load.CauseTruncated, "", 0, "", "the stream ended without response.completed or response.incomplete; not understood: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}…"},
		"a call, whole":   {respond("response.output_item.added", `,"item":{"name":"f"}`) + ends("response.completed", `{"output":[{"name":"f","arguments":"{}"}]}`), "", "completed", 1, load.SourceEstimated, ""},
		"at once":         {ends("response.completed", responseWhole), "", "completed", 3, load.SourceServer, ""},
	} {
		s := ask(t, says(c.stream), responses)
		if s.Cause != c.cause || s.FinishReason != c.finish || s.OutputTokens != c.tokens || s.TokenSource != c.source || s.Error != c.error {
			t.Errorf("%s: cause %q, finish %q, %d tokens (%s), error %q", name, s.Cause, s.FinishReason, s.OutputTokens, s.TokenSource, s.Error)
		}
	}
}

func TestResponsesWhole(t *testing.T) {
	for body, c := range map[string]struct {
		cause  load.Cause
		tokens int
		hidden int
	}{
		`{"object":"response","status":"incomplete","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}]}],"usage":{"output_tokens":9,"output_tokens_details":{"reasoning_tokens":9}}}`:              {"", 9, 0},
		`{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","name":"f"}],"usage":{"output_tokens":9,"output_tokens_details":{"reasoning_tokens":6}}}`: {"", 9, 6},
		`{"object":"response","status":"in_progress","output":[]}`:                    {load.CauseTruncated, 0, 0},
		`{"object":"response","status":"failed","error":{"message":"boom"}}`:          {load.CauseStreamError, 0, 0},
		`{"object":"response","status":"completed","output":[],"usage":null}`:         {load.CauseEmpty, 0, 0},
		`{"error":{"message":"boom"}}`:                                                {load.CauseStreamError, 0, 0},
		`{"id":"x","object":"chat.completion","choices":[{"finish_reason":"stop"}]}`:  {load.CauseNotAStream, 0, 0},
		`{"object":"response","status":"completed","output":[{"content":[{"text":"a"`: {load.CauseTruncated, 0, 0},
	} {
		s := ask(t, says(body), func(c *Config) { c.Dialect, c.NoStream = Responses, true })
		if s.Cause != c.cause || s.OutputTokens != c.tokens || s.HiddenTokens != c.hidden || c.cause == load.CauseStreamError && s.Error != "boom" {
			t.Errorf("%s: cause %q (%s), %d tokens, %d hidden", body, s.Cause, s.Error, s.OutputTokens, s.HiddenTokens)
		}
	}
}
