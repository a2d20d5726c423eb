package client

import (
	"net/http"
	"testing"
	"time"

	"kneesweep/load"
)

// tell is an event of /v1/messages.
func tell(kind, fields string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + fields + "}\n\n"
}

func bit(delta string) string { return tell("content_block_delta", `,"index":0,"delta":{`+delta+`}`) }

func spoken(text string) string { return bit(`"type":"text_delta","text":"` + text + `"`) }

// The parts of a good answer in the anthropic dialect.
var (
	messageBegin = tell("message_start", `,"message":{"id":"msg","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,`+
		`"usage":{"input_tokens":4,"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"output_tokens":8}}`) +
		tell("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`) + tell("ping", "")
	messageEnd = tell("content_block_stop", `,"index":0`) + tell("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}`) + tell("message_stop", "")
)

func anthropic(c *Config) { c.Dialect = Anthropic }

func TestAnthropic(t *testing.T) {
	w := good
	w.finish = "end_turn"
	s := ask(t, func(w *writer, _ int) {
		w.at(50 * ms)
		w.send(messageBegin)
		w.at(200 * ms)
		w.send(spoken("a"))
		w.at(250 * ms)
		w.send(tell("ping", ""), ": ping\n\n")
		w.at(300 * ms)
		w.send(spoken("b"))
		w.at(400 * ms)
		w.send(spoken("c"), messageEnd)
		w.at(1200 * ms) // the body ends later
	}, anthropic)
	check(t, s, w)
	if s.PromptTokens != load.Some(7) || s.CachedTokens != load.Some(2) || s.Model != "m" || s.TPOT() != load.Some(0.1) || s.Malformed != 0 {
		t.Errorf("sample %+v", s)
	}
	whole := `{"id":"msg","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"abc"}],"stop_reason":"max_tokens","usage":{"input_tokens":7,"output_tokens":3}}`
	check(t, ask(t, says(whole), func(c *Config) { c.Dialect, c.NoStream = Anthropic, true }),
		want{tokens: 3, source: load.SourceServer, finish: "max_tokens", text: "abc"})
}

// Every channel brings the first token. What was thought and billed is hidden, since
// only a summary of it is streamed.
func TestAnthropicChannels(t *testing.T) {
	end := spoken("a") + spoken("b") +
		tell("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":503,"output_tokens_details":{"thinking_tokens":500}}`) + tell("message_stop", "")
	for name, c := range map[string]struct {
		first string
		ttft  bool
	}{
		"thinking":       {bit(`"type":"thinking_delta","thinking":"hm"`), true},
		"tool's name":    {tell("content_block_start", `,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}`), true},
		"tool's input":   {bit(`"type":"input_json_delta","partial_json":"{\"a"`), true},
		"its beginning":  {bit(`"type":"input_json_delta","partial_json":""`), false},
		"not shown":      {tell("content_block_start", `,"content_block":{"type":"redacted_thinking","data":"AbC"}`), true},
		"begun text":     {tell("content_block_start", `,"content_block":{"type":"text","text":"x"}`), true},
		"signature":      {bit(`"type":"signature_delta","signature":"AbC"`), false},
		"empty thought":  {bit(`"type":"thinking_delta","thinking":""`), false},
		"a citation":     {bit(`"type":"citations_delta","citation":{"cited_text":"x"}`), false},
		"nothing":        {tell("content_block_delta", ""), false},
		"unknown event":  {tell("content_block_progress", ""), false},
		"no type inside": {"event: content_block_delta\ndata: {\"delta\":{\"text\":\"x\"}}\n\n", true},
	} {
		s := ask(t, func(w *writer, _ int) {
			w.at(100 * ms)
			w.send(messageBegin, c.first)
			w.at(200 * ms)
			w.send(end)
		}, anthropic)
		first := 200 * ms
		if c.ttft {
			first = 100 * ms
		}
		if s.Failed() || s.TTFT().V != first || s.HiddenTokens != 500 || s.OutputTokens != 503 || s.Malformed != 0 {
			t.Errorf("%s: %s %s, TTFT %v, %d hidden of %d", name, s.Cause, s.Error, s.TTFT().V, s.HiddenTokens, s.OutputTokens)
		}
	}
}

func TestAnthropicEnds(t *testing.T) {
	begun := messageBegin + spoken("a") + spoken("b")
	for name, c := range map[string]struct {
		stream string
		cause  load.Cause
		finish string
		tokens int
		source load.TokenSource
		error  string
	}{
		// The count of the beginning is made before anything was generated.
		"not at all":      {begun, load.CauseTruncated, "", 2, load.SourceEstimated, "the stream ended without stop_reason or message_stop"},
		"without usage":   {begun + tell("message_delta", `,"delta":{"stop_reason":"end_turn"}`) + tell("message_stop", ""), "", "end_turn", 2, load.SourceEstimated, ""},
		"without stop":    {begun + tell("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}`), "", "end_turn", 5, load.SourceServer, ""},
		"without reason":  {begun + tell("message_stop", ""), "", "", 2, load.SourceEstimated, ""},
		"growing counts":  {begun + tell("message_delta", `,"usage":{"output_tokens":4}`) + messageEnd, "", "end_turn", 4, load.SourceServer, ""},
		"overloaded":      {begun + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "Overloaded"},
		"error, no event": {begun + "data: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"boom\"}}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "boom"},
		"error at once":   {"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", load.CauseStreamError, "", 0, "", "Overloaded"},
		"gateway's error": {begun + "data: {\"error\":{\"message\":\"boom\"}}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "boom"},
		"plain words":     {begun + "data: {\"type\":\"error\",\"message\":\"boom\"}\n\n", load.CauseStreamError, "", 2, load.SourceEstimated, "boom"},
		"nothing said":    {messageBegin + messageEnd, load.CauseEmpty, "end_turn", 3, load.SourceServer, "the answer holds no token"},
		"whole at last":   {begun + `data: {"type":"message","content":[{"text":"ab"}],"stop_reason":"end_turn","usage":{"output_tokens":2}}` + "\n\n", "", "end_turn", 2, load.SourceServer, ""},
		"broken frame":    {messageBegin + "data: {\"type\":\n\n" + spoken("a") + messageEnd, "", "end_turn", 3, load.SourceServer, ""},
	} {
		s := ask(t, says(c.stream), anthropic)
		if s.Cause != c.cause || s.FinishReason != c.finish || s.OutputTokens != c.tokens || s.TokenSource != c.source || s.Error != c.error {
			t.Errorf("%s: cause %q, finish %q, %d tokens (%s), error %q", name, s.Cause, s.FinishReason, s.OutputTokens, s.TokenSource, s.Error)
		}
		if name == "whole at last" && (s.Text != "ab" || len(s.Chunks) != 2) {
			t.Errorf("%s: %q in %d chunks", name, s.Text, len(s.Chunks))
		}
		if (s.Malformed > 0) != (name == "broken frame") {
			t.Errorf("%s: %d malformed frames", name, s.Malformed)
		}
	}
}

func TestAnthropicWhole(t *testing.T) {
	for body, c := range map[string]struct {
		status int
		cause  load.Cause
		error  string
	}{
		`{"type":"message","content":[{"type":"tool_use","name":"f","input":{}}],"stop_reason":"tool_use"}`: {200, "", ""},
		`{"type":"message","content":[{"type":"thinking","thinking":"hm"}],"stop_reason":"max_tokens"}`:     {200, "", ""},
		`{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":null}`:                      {200, load.CauseTruncated, "the completion has no stop_reason"},
		`{"type":"message","content":[],"stop_reason":"refusal"}`:                                           {200, load.CauseEmpty, "the completion holds no token"},
		`{"type":"error","error":{"type":"api_error","message":"x"}}`:                                       {200, load.CauseStreamError, "x"},
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`:      {529, load.HTTPCause(529), "Overloaded"},
		`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`:                        {429, load.HTTPCause(http.StatusTooManyRequests), "slow down"},
	} {
		s := ask(t, func(w *writer, _ int) { w.WriteHeader(c.status); w.send(body) }, func(c *Config) { c.Dialect, c.NoStream = Anthropic, true })
		if s.Cause != c.cause || s.Error != c.error {
			t.Errorf("%s: cause %q, error %q", body, s.Cause, s.Error)
		}
	}
}

// A server that only keeps the connection alive is silent, in every dialect.
func TestPingsEndNoSilence(t *testing.T) {
	for dialect, a := range answers {
		s := ask(t, func(w *writer, _ int) {
			w.send(a.begin, a.a)
			for i := range 20 {
				w.at(time.Duration(i+1) * 15 * time.Second)
				w.send(tell("ping", ""), "event: ping\ndata: {\"type\": \"ping\"}\n\n", ": ping\n\n")
			}
			w.send(a.b, a.end)
		}, func(c *Config) { c.Dialect = dialect })
		if s.Cause != load.CauseTimeoutIdle || s.E2E() != DefaultTimeoutIdle || len(s.Chunks) != 1 {
			t.Errorf("%s: %q after %v with %d chunks", dialect, s.Cause, s.E2E(), len(s.Chunks))
		}
	}
}
