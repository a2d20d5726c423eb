package client

import (
	"fmt"
	"testing"

	"kneesweep/load"
)

// Reasoning that was billed but not streamed, within or beside the completion. The
// prompt has 10 tokens; -1 leaves a field out.
func TestReasoningWithinOrBeside(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name                                 string
		prompt, completion, reasoning, total int
		pieces                               int
		output, hidden                       int
	}{
		{"within", 10, 60, 50, 70, 2, 60, 50},
		{"within, no total", 10, 60, 50, none, 2, 60, 50},
		{"within, no prompt", none, 60, 50, 70, 2, 60, 50},
		{"all but the pieces", 10, 50, 50, 60, 2, 50, 48},
		{"fewer left than pieces", 10, 60, 59, 70, 3, 60, 57},
		{"beside, smaller", 10, 60, 50, 120, 2, 110, 50},
		{"beside, larger", 10, 2, 50, 62, 2, 52, 50},
		{"beside, as large", 10, 50, 50, 110, 2, 100, 50},
		{"larger, total denies it", 10, 2, 50, 12, 2, 2, 0},
		{"larger, total half explains it", 10, 2, 50, 60, 2, 50, 48},
		{"larger, no total", 10, 2, 50, none, 2, 52, 50},
		{"larger, no prompt, total has room", none, 2, 50, 62, 2, 52, 50},
		{"larger, no prompt, total has none", none, 2, 50, 12, 2, 2, 0},
		{"total counts something else too", 10, 60, 50, 900, 2, 110, 50},
		{"total smaller than the prompt", 10, 60, 50, 5, 2, 60, 50},
		{"completion zero, total has it", 10, 0, 50, 60, 2, 50, 48},
		{"completion zero, no total", 10, 0, 50, none, 2, 50, 48},
		{"fewer counted than pieces", 10, 2, 1, 12, 3, 2, 0},
		{"no reasoning", 10, 2, 0, 62, 2, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			field := func(name string, n int) string {
				if n == none {
					return ""
				}
				return fmt.Sprintf("%q:%d,", name, n)
			}
			usage := "data: {\"choices\":[],\"usage\":{" + field("prompt_tokens", c.prompt) + field("completion_tokens", c.completion) +
				field("total_tokens", c.total) + fmt.Sprintf(`"completion_tokens_details":{"reasoning_tokens":%d}}}`, c.reasoning) + "\n\n"
			s := ask(t, func(w *writer, _ int) {
				for range c.pieces {
					w.send(tok("x"))
				}
				w.send(fin("stop"), usage, done)
			}, nil)
			if s.Failed() || s.OutputTokens != c.output || s.HiddenTokens != c.hidden || s.TokenSource != load.SourceServer {
				t.Errorf("output %d, hidden %d; want %d, %d", s.OutputTokens, s.HiddenTokens, c.output, c.hidden)
			}
			streamed := ask(t, func(w *writer, _ int) {
				w.send(frameOf(`{"reasoning":"x"}`))
				for range c.pieces - 1 {
					w.send(tok("x"))
				}
				w.send(fin("stop"), usage, done)
			}, nil)
			if streamed.OutputTokens != c.output || streamed.HiddenTokens != 0 {
				t.Errorf("streamed reasoning: output %d, hidden %d", streamed.OutputTokens, streamed.HiddenTokens)
			}
		})
	}
}

// Increments of a growing count that leaves the reasoning out are those of the pieces.
func TestGrowingUsageBesideReasoning(t *testing.T) {
	frame := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":50}}}`+"\n\n", n, n+51)
	}
	s := ask(t, says(frame(1), frame(2), frame(4), fin("stop"), done), nil)
	if got := fmt.Sprint(s.Chunks[0].Tokens, s.Chunks[1].Tokens, s.Chunks[2].Tokens); got != "1 1 2" || s.HiddenTokens != 50 || s.OutputTokens != 54 {
		t.Errorf("increments %s, hidden %d of %d", got, s.HiddenTokens, s.OutputTokens)
	}
}

// Usage may stand in the choice.
func TestUsageInTheChoice(t *testing.T) {
	s := ask(t, says(tok("a"), `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"cached_tokens":5}}]}`+"\n\n", done), nil)
	checkTokens(t, s, want{tokens: 3, source: load.SourceServer, chunks: 1, finish: "stop", text: "a"})
	if s.PromptTokens != load.Some(7) {
		t.Errorf("prompt %v", s.PromptTokens)
	}
}

// A frame that repeats the whole message after its pieces is no piece.
func TestSummaryFrame(t *testing.T) {
	summary := func(content string) string {
		return `data: {"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + content + `","reasoning_content":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"completion_tokens_details":{"reasoning_tokens":1}}}` + "\n\n"
	}
	s := ask(t, says(role, tok("a"), tok("b"), summary("ab"), done), nil)
	checkTokens(t, s, want{tokens: 3, source: load.SourceServer, chunks: 2, finish: "stop", text: "ab", warn: load.WarnHiddenTokens})
	alone := ask(t, says(role, summary("ab"), done), nil)
	checkTokens(t, alone, want{tokens: 3, source: load.SourceServer, chunks: 1, finish: "stop", text: "ab"})
	both := ask(t, says(tok("a"), `data: {"choices":[{"index":0,"delta":{"content":"b"},"message":{"content":"ab"},"finish_reason":"stop"}]}`+"\n\n", done), nil)
	checkTokens(t, both, want{tokens: 2, source: load.SourceEstimated, chunks: 2, finish: "stop", text: "ab", warn: load.WarnEstimatedTokens})
}
