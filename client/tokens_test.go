package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// checkTokens compares everything but the times.
func checkTokens(t *testing.T, s load.Sample, w want) {
	t.Helper()
	if last := s.LastToken(); last.OK {
		w.last = last.V - s.Sent
	}
	w.ttft, w.ttfc, w.e2e = s.TTFT().V, s.TTFC().V, s.E2E()
	if w.ttfc == 0 {
		w.ttfc = -1
	}
	check(t, s, w)
}

// TestA1 (triton-inference-server/server#8082, sgl-project/sglang#5451): a usage
// frame has no choice to take.
func TestA1UsageFrameWithoutChoices(t *testing.T) {
	for name, choices := range map[string]string{"empty": `"choices":[],`, "null": `"choices":null,`, "absent": ""} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, func(w *writer, _ int) {
				w.at(50 * ms)
				w.send(role, tok("a"))
				w.at(70 * ms)
				w.send(tok("b"), fin("stop"), strings.Replace(use(5, 2), `"choices":[],`, choices, 1), done)
			}, nil)
			check(t, s, want{tokens: 2, source: load.SourceServer, ttft: 50 * ms, last: 70 * ms, e2e: 70 * ms, chunks: 2, finish: "stop", text: "ab"})
			if s.PromptTokens != load.Some(5) {
				t.Errorf("prompt tokens %v", s.PromptTokens)
			}
		})
	}
}

// TestA2 (sgl-project/sglang#24266): usage is asked for, and the length asked for
// never stands in for the length got.
func TestA2NeverTheRequestedLength(t *testing.T) {
	for name, obeys := range map[string]bool{"server sends usage": true, "server ignores the option": false} {
		t.Run(name, func(t *testing.T) {
			var body string
			s := ask(t, func(w *writer, _ int) {
				body = w.body
				w.send(role, tok("a"), tok("b"), tok("."), fin("stop"))
				if obeys && strings.Contains(w.body, `"include_usage":true`) {
					w.send(use(9, 3))
				}
				w.send(done)
			}, nil)
			w := want{tokens: 3, source: load.SourceServer, chunks: 3, finish: "stop", text: "ab."}
			if !obeys {
				w.source, w.warn = load.SourceEstimated, load.WarnEstimatedTokens
			}
			checkTokens(t, s, w)
			if !strings.Contains(body, `"stream":true,"stream_options":{"include_usage":true}`) || !strings.Contains(body, `"max_tokens":512`) {
				t.Errorf("request body %s", body)
			}
		})
	}
}

// TestA4 (pydantic/pydantic-ai#7913): usage null says nothing.
func TestA4NullUsageKeepsTheCount(t *testing.T) {
	frame := func(content, usage string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + content + `"},"finish_reason":null}],"usage":` + usage + "}\n\n"
	}
	s := ask(t, says(frame("a", `{"prompt_tokens":1,"completion_tokens":5,"total_tokens":6}`), frame("b", "null"), fin("stop"), done), nil)
	checkTokens(t, s, want{tokens: 5, source: load.SourceServer, chunks: 2, finish: "stop", text: "ab"})
	if s.Chunks[0].Tokens != 0 || s.Chunks[1].Tokens != 0 {
		t.Errorf("increments kept although one chunk has none: %v", s.Chunks)
	}
}

// TestA5 (ray-project/llmperf#99, vllm-project/vllm#5708): a frame may hold several
// tokens.
func TestA5SeveralTokensPerFrame(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		w.at(100 * ms)
		w.send(tok("aaa"))
		w.at(130 * ms)
		w.send(tok("bbb"))
		w.at(160 * ms)
		w.send(tok("ccc"), fin("stop"), use(4, 9), done)
	}, nil)
	check(t, s, want{tokens: 9, source: load.SourceServer, ttft: 100 * ms, last: 160 * ms, e2e: 160 * ms, chunks: 3, finish: "stop", text: "aaabbbccc"})
	if s.TPOT() != load.Some(0.0075) {
		t.Errorf("TPOT %v, want 7.5 ms", s.TPOT())
	}
}

// Usage that grows with each chunk says how many tokens each chunk holds.
func TestContinuousUsage(t *testing.T) {
	frame := func(content string, n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}],"usage":{"prompt_tokens":4,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", content, n, n+4)
	}
	s := ask(t, func(w *writer, _ int) {
		w.send(frame("", 0))
		w.at(100 * ms)
		w.send(frame("aaa", 3))
		w.at(130 * ms)
		w.send(frame("b", 4))
		w.at(160 * ms)
		w.send(frame("ccccc", 9), fin("stop"), use(4, 9), done)
	}, nil)
	check(t, s, want{tokens: 9, source: load.SourceServer, ttft: 100 * ms, last: 160 * ms, e2e: 160 * ms, chunks: 3, finish: "stop", text: "aaabccccc"})
	if got := fmt.Sprint(s.Chunks[0].Tokens, s.Chunks[1].Tokens, s.Chunks[2].Tokens); got != "3 1 5" || !s.Incremental() {
		t.Errorf("increments %s, want 3 1 5", got)
	}
	if s.TPOT() != load.Some(0.01) {
		t.Errorf("TPOT %v, want 60 ms / (9-3)", s.TPOT())
	}
}

// A count that comes once, with the last piece, is no increment of that piece.
func TestUsageOnlyOnTheLastChunk(t *testing.T) {
	last := `data: {"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":4}}` + "\n\n"
	s := ask(t, says(tok("a"), tok("b"), last, done), nil)
	checkTokens(t, s, want{tokens: 3, source: load.SourceServer, chunks: 3, finish: "stop", text: "abc"})
	if s.FirstTokens() != 1 || s.Chunks[2].Tokens != 0 {
		t.Errorf("chunks %v", s.Chunks)
	}
}

// TestA7 (BerriAI/litellm#17136): usage need not be in the last frame.
func TestA7UsageBeforeTheLastFrame(t *testing.T) {
	s := ask(t, says(role, tok("hi"),
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`+"\n\n",
		`data: {"choices":[]}`+"\n\n", done), nil)
	checkTokens(t, s, want{tokens: 1, source: load.SourceServer, chunks: 1, finish: "stop", text: "hi"})
}

// TestA8 (CentML/flexible-inference-bench#66): nothing is tokenised again.
func TestA8NoLocalTokenizer(t *testing.T) {
	blanks := func(w *writer) {
		for i := range 15 {
			w.at(time.Duration(i+1) * 10 * ms)
			w.send(tok(" "))
		}
	}
	with := ask(t, func(w *writer, _ int) { blanks(w); w.send(fin("length"), use(3, 15), done) }, nil)
	checkTokens(t, with, want{tokens: 15, source: load.SourceServer, chunks: 15, finish: "length", text: strings.Repeat(" ", 15)})
	without := ask(t, func(w *writer, _ int) { blanks(w); w.send(fin("length"), done) }, nil)
	checkTokens(t, without, want{tokens: 15, source: load.SourceEstimated, chunks: 15, finish: "length", text: strings.Repeat(" ", 15), warn: load.WarnEstimatedTokens})
}

// Where the counts of a stream with one piece come from.
func TestUsageForms(t *testing.T) {
	usage := func(u string) string { return `data: {"choices":[],` + u + "}\n\n" }
	cases := []struct {
		name, frames                                    string
		tokens, hidden, prompt, cached, reasoning, warn int
		source                                          load.TokenSource
	}{
		{"x_groq", usage(`"x_groq":{"id":"q","usage":{"prompt_tokens":6,"completion_tokens":2,"total_tokens":8}}`), 2, 0, 6, -1, -1, 0, load.SourceServer},
		{"largest wins", use(5, 9) + use(5, 2), 9, 0, 5, -1, -1, 1, load.SourceServer},
		{"zeros say nothing", use(0, 0), 1, 0, -1, -1, -1, 1, load.SourceEstimated},
		{"empty object", usage(`"usage":{}`), 1, 0, -1, -1, -1, 1, load.SourceEstimated},
		{"cached tokens", usage(`"usage":{"prompt_tokens":1000,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":900}}`), 1, 0, 1000, 900, -1, 0, load.SourceServer},
		{"cache_read_tokens", usage(`"usage":{"prompt_tokens":10,"completion_tokens":1,"cache_read_tokens":4}`), 1, 0, 10, 4, -1, 0, load.SourceServer},
		{"cache_read_input_tokens", usage(`"usage":{"prompt_tokens":10,"completion_tokens":1,"cache_read_input_tokens":5}`), 1, 0, 10, 5, -1, 0, load.SourceServer},
		{"hidden reasoning", usage(`"usage":{"prompt_tokens":10,"completion_tokens":600,"total_tokens":610,"completion_tokens_details":{"reasoning_tokens":500}}`), 600, 500, 10, -1, 500, 2, load.SourceServer},
		{"reasoning beside completion", usage(`"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":111,"completion_tokens_details":{"reasoning_tokens":100}}`), 101, 100, 10, -1, 100, 1, load.SourceServer},
		{"counts as floats", usage(`"usage":{"prompt_tokens":10.0,"completion_tokens":2.0}`), 2, 0, 10, -1, -1, 0, load.SourceServer},
		{"counts as texts", usage(`"usage":{"prompt_tokens":"10","completion_tokens":"2"}`), 2, 0, 10, -1, -1, 0, load.SourceServer},
		{"negative", usage(`"usage":{"prompt_tokens":-1,"completion_tokens":-5}`), 1, 0, -1, -1, -1, 1, load.SourceEstimated},
	}
	opt := func(n int) load.Opt[int] {
		if n < 0 {
			return load.Opt[int]{}
		}
		return load.Some(n)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := ask(t, says(tok("x"), fin("stop"), c.frames, done), nil)
			if s.Cause != "" || s.OutputTokens != c.tokens || s.TokenSource != c.source || s.HiddenTokens != c.hidden ||
				s.PromptTokens != opt(c.prompt) || s.CachedTokens != opt(c.cached) || s.ReasoningTokens != opt(c.reasoning) || len(s.Warnings) != c.warn {
				t.Errorf("sample %+v", s)
			}
		})
	}
}

// 500 hidden and 100 visible tokens at 10 ms are 10 ms apart.
func TestHiddenTokensStayOutOfTPOT(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		for i := range 100 {
			w.at(time.Second + time.Duration(i)*10*ms)
			w.send(tok("x"))
		}
		w.send(fin("stop"), `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":600,"total_tokens":610,"completion_tokens_details":{"reasoning_tokens":500}}}`+"\n\n", done)
	}, nil)
	if s.TPOT() != load.Some(0.01) || s.OutputTokens != 600 || s.HiddenTokens != 500 || s.Streamed() != 100 {
		t.Errorf("TPOT %v, output %d, hidden %d", s.TPOT(), s.OutputTokens, s.HiddenTokens)
	}
}

// With usage that grows, the hidden tokens stand in the first count.
func TestHiddenTokensWithContinuousUsage(t *testing.T) {
	frame := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":50}}}`+"\n\n", n)
	}
	s := ask(t, says(frame(51), frame(52), frame(54), fin("stop"), done), nil)
	if got := fmt.Sprint(s.Chunks[0].Tokens, s.Chunks[1].Tokens, s.Chunks[2].Tokens); got != "1 1 2" || s.HiddenTokens != 50 || s.Streamed() != 4 {
		t.Errorf("increments %s, hidden %d, streamed %d", got, s.HiddenTokens, s.Streamed())
	}
}

// Every channel counts, and only when it holds something.
func TestChannels(t *testing.T) {
	cases := []struct {
		delta   string
		token   bool
		content bool
	}{
		{`{"content":"x"}`, true, true},
		{`{"content":""}`, false, false},
		{`{"content":null}`, false, false},
		{`{}`, false, false},
		{`null`, false, false},
		{`{"role":"assistant"}`, false, false},
		{`{"reasoning":"x"}`, true, false},
		{`{"reasoning_content":"x","content":null}`, true, false},
		{`{"refusal":"x"}`, true, false},
		{`{"refusal":null}`, false, false},
		{`{"tool_calls":[]}`, false, false},
		{`{"tool_calls":null}`, false, false},
		{`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`, true, false},
		{`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`, true, false},
		{`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, false, false},
		{`{"function_call":{"name":"f"}}`, true, false},
		{`{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":""}}]}`, true, false},
		{`{"tool_calls":[{"index":0,"custom":{"input":"x"}}]}`, true, false},
		{`{"tool_calls":[{"index":0,"custom":{"input":""}}]}`, false, false},
		{`{"audio":{"id":"a","data":"UklG"}}`, true, false},
		{`{"audio":{"transcript":"x"}}`, true, false},
		{`{"audio":{"id":"a","expires_at":5}}`, false, false},
		{`{"audio":null}`, false, false},
		{`{"content":[{"type":"text","text":"x"}]}`, true, true},
		{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"x"}]}]}`, true, false},
		{`{"content":"\u0041"}`, true, true},
	}
	for _, c := range cases {
		t.Run(c.delta, func(t *testing.T) {
			s := ask(t, says(frameOf(c.delta), fin("stop"), done), nil)
			if (len(s.Chunks) == 1) != c.token || (s.ContentAt == 1) != c.content {
				t.Errorf("chunks %d, content at %d", len(s.Chunks), s.ContentAt)
			}
			if c.token == (s.Cause == load.CauseEmpty) {
				t.Errorf("cause %q", s.Cause)
			}
		})
	}
}

// All choices of a frame count as one chunk, and their text is kept.
func TestSeveralChoices(t *testing.T) {
	s := ask(t, says(`data: {"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`+"\n\n",
		`data: {"choices":[{"index":1,"delta":{},"finish_reason":"stop"},{"index":0,"delta":{},"finish_reason":"length"}]}`+"\n\n", use(1, 2), done), nil)
	checkTokens(t, s, want{tokens: 2, source: load.SourceServer, chunks: 1, finish: "length", text: "ab"})
}

// A count that came early says nothing about a stream that was cut later, unless it
// grew with each chunk.
func TestUsageOfACutStream(t *testing.T) {
	counted := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`+"\n\n", n)
	}
	early := ask(t, says(counted(1), tok("x"), tok("x")), nil)
	checkTokens(t, early, want{cause: load.CauseTruncated, tokens: 3, source: load.SourceEstimated, chunks: 3, text: "xxx"})
	growing := ask(t, says(counted(2), counted(4)), nil)
	checkTokens(t, growing, want{cause: load.CauseTruncated, tokens: 4, source: load.SourceServer, chunks: 2, text: "xx"})
	if !growing.Incremental() {
		t.Errorf("chunks %v", growing.Chunks)
	}
}
