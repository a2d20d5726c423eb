package client

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kneesweep/load"
)

// TestC1 (redpanda-data/ai-sdk-go#200, coder/coder#28185): what keeps a connection
// alive is no event.
func TestC1KeepAlives(t *testing.T) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		t.Run(name, func(t *testing.T) {
			edit := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
			s := ask(t, func(w *writer, _ int) {
				w.send(edit(": OPENROUTER PROCESSING\n\n:\n\n: ping - 2026-01-01 00:00:00\n\nevent: ping\n\ndata:\n\ndata: \n\n\n"))
				w.at(50 * ms)
				w.send(edit("id: 7\n" + role))
				w.at(200 * ms)
				w.send(edit(tok("a")))
				w.at(250 * ms)
				w.send(edit(": ping\n\n"))
				w.at(300 * ms)
				w.send(edit(tok("b")))
				w.at(400 * ms)
				w.send(edit(tok("c") + fin("stop") + use(7, 3) + done))
			}, nil)
			check(t, s, good)
			if s.Malformed != 0 {
				t.Errorf("malformed %d", s.Malformed)
			}
		})
	}
}

// TestC2 (sgl-project/genai-bench#159, openai/openai-python#498): the blank after
// the colon is optional, and only one is taken.
func TestC2BlankAfterColon(t *testing.T) {
	for name, prefix := range map[string]string{"none": "data:", "two": "data:  "} {
		t.Run(name, func(t *testing.T) {
			check(t, ask(t, func(w *writer, _ int) {
				timed(w, func(s string) string { return strings.ReplaceAll(s, "data: ", prefix) })
			}, nil), good)
		})
	}
}

// TestC3 (kubernetes-sigs/inference-perf#781, miruamel/xuan#194): every line end,
// with no event a frame late.
func TestC3LineEnds(t *testing.T) {
	for name, end := range map[string]string{"CRLF": "\r\n", "CR": "\r"} {
		t.Run(name, func(t *testing.T) {
			check(t, ask(t, func(w *writer, _ int) {
				timed(w, func(s string) string { return strings.ReplaceAll(s, "\n", end) })
			}, nil), good)
		})
	}
	t.Run("cut between CR and LF", func(t *testing.T) {
		check(t, ask(t, func(w *writer, _ int) {
			late := "" // the LF that belongs to the CR sent before
			frame := func(at time.Duration, s string) {
				w.at(at)
				s = strings.ReplaceAll(s, "\n", "\r\n")
				w.send(late, strings.TrimSuffix(s, "\n"))
				late = "\n"
			}
			frame(50*ms, role)
			frame(200*ms, tok("a"))
			frame(300*ms, tok("b"))
			frame(400*ms, tok("c")+fin("stop")+use(7, 3)+done)
			w.send(late)
		}, nil), good)
	})
}

// TestC5 (api7/aisix#111, vllm-project/aibrix#2653): frames are cut anywhere.
func TestC5CutAnywhere(t *testing.T) {
	all := role + tok("你好🌍") + fin("stop") + use(7, 3) + done
	w := want{tokens: 3, source: load.SourceServer, chunks: 1, finish: "stop", text: "你好🌍"}
	t.Run("byte by byte", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) {
			for i := range len(all) {
				w.at(time.Duration(i) * ms)
				w.send(all[i : i+1])
			}
		}, nil)
		checkTokens(t, s, w)
		if s.Malformed != 0 {
			t.Errorf("malformed %d", s.Malformed)
		}
		if at, full := s.Chunks[0].At, time.Duration(len(role+tok("你好🌍"))-1)*ms; at != full {
			t.Errorf("first token at %v, complete at %v", at, full)
		}
	})
	t.Run("in one write", func(t *testing.T) { checkTokens(t, ask(t, says(all), nil), w) })
}

// TestC6 (openai/openai-go#368, infiniflow/ragflow#15381): long lines are read, and
// endless ones end the request.
func TestC6LongLines(t *testing.T) {
	for name, n := range map[string]int{"64 KiB": 65537, "4 MiB": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("x", n)
			s := ask(t, says(tok(text), fin("stop"), use(7, 3), done), nil)
			checkTokens(t, s, want{tokens: 3, source: load.SourceServer, chunks: 1, finish: "stop", text: text})
		})
	}
	t.Run("200 MiB without line end", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) {
			block := strings.Repeat("x", 1<<20)
			w.send("data: ")
			for range 200 {
				if _, err := w.Write([]byte(block)); err != nil {
					return
				}
			}
		}, nil)
		checkTokens(t, s, want{cause: load.CauseFrameTooLong})
		if !strings.Contains(s.Error, "frame over the limit") {
			t.Errorf("error %q", s.Error)
		}
	})
}

// TestC7 (kubernetes-sigs/inference-perf#713, sgl-project/sglang#38868): an error in
// a stream is a failure, whatever the status.
func TestC7ErrorInTheStream(t *testing.T) {
	oom := `data: {"error":{"message":"OOM","type":"server_error","code":500}}` + "\n\n"
	cases := []struct {
		name   string
		frames string
		text   string
		chunks int
	}{
		{"before a token", role + oom + done, "OOM", 0},
		{"after a token", role + tok("a") + oom + done, "OOM", 1},
		{"event error", "event: error\ndata: {\"error\":\"boom\"}\n\n", "boom", 0},
		{"event error without JSON", tok("a") + "event: error\ndata: boom\n\n", "boom", 1},
		{"error text", role + `data: {"error":"out of memory"}` + "\n\n", "out of memory", 0},
		{"object error", `data: {"object":"error","message":"too long","code":400}` + "\n\n" + done, "too long", 0},
		{"after finish_reason", tok("a") + fin("stop") + oom, "OOM", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := ask(t, says(c.frames), nil)
			if s.Cause != load.CauseStreamError || s.Error != c.text || len(s.Chunks) != c.chunks || s.Status != 200 {
				t.Errorf("cause %q, error %q, chunks %d", s.Cause, s.Error, len(s.Chunks))
			}
		})
	}
	t.Run("error null is none", func(t *testing.T) {
		check(t, ask(t, func(w *writer, _ int) {
			timed(w, func(s string) string { return strings.Replace(s, `"id":"c1"`, `"error":null,"id":"c1"`, 1) })
		}, nil), good)
	})
}

// TestC9 (simonw/llm#294, microsoft/autogen#6465): frames with filter results and
// choices without delta.
func TestC9AzureFrames(t *testing.T) {
	check(t, ask(t, func(w *writer, _ int) {
		w.send(`data: {"id":"","choices":[],"created":0,"model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}` + "\n\n")
		w.at(50 * ms)
		w.send(role)
		w.at(200 * ms)
		w.send(tok("a"))
		w.at(300 * ms)
		w.send(tok("b"))
		w.at(400 * ms)
		w.send(tok("c"), `data: {"id":"","choices":[{"finish_reason":null,"index":0,"content_filter_results":{},"content_filter_offsets":{"check_offset":1,"start_offset":1,"end_offset":2}}],"created":0,"model":"","object":""}`+"\n\n",
			fin("stop"), use(7, 3), done)
	}, nil), good)
}

// TestC11 (kubernetes-sigs/inference-perf#781, ai-forever/gigachat-js#12): the end
// mark without line end or padded; text that looks like a field.
func TestC11EndMarks(t *testing.T) {
	for name, end := range map[string]string{"no line end": "data: [DONE]", "padded": "data: [DONE] \n\n", "one line end": "data: [DONE]\n"} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, says(role, tok("a"), tok("b"), tok("c"), fin("stop"), use(7, 3), end), nil)
			checkTokens(t, s, want{tokens: 3, source: load.SourceServer, chunks: 3, finish: "stop", text: "abc"})
		})
	}
	t.Run("colon and blank in the text", func(t *testing.T) {
		s := ask(t, says(tok(`\": [\"`), fin("stop"), use(7, 1), done), nil)
		checkTokens(t, s, want{tokens: 1, source: load.SourceServer, chunks: 1, finish: "stop", text: `": ["`})
	})
}

// TestC12 (kubernetes-sigs/inference-perf#713): a 2xx answer that is no stream.
func TestC12NotAStream(t *testing.T) {
	as := func(contentType, body string) reply {
		return func(w *writer, _ int) {
			w.Header().Set("Content-Type", contentType)
			w.at(300 * ms)
			w.send(body)
		}
	}
	const completion = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"abc"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`
	t.Run("error object", func(t *testing.T) {
		s := ask(t, as("application/json", `{"error":{"message":"bad model"}}`), nil)
		check(t, s, want{cause: load.CauseStreamError, e2e: 300 * ms})
		if s.Error != "bad model" {
			t.Errorf("error %q", s.Error)
		}
	})
	for _, kind := range []string{"application/json", "text/event-stream", "text/plain"} {
		t.Run("completion as "+kind, func(t *testing.T) {
			s := ask(t, as(kind, completion), nil)
			check(t, s, want{tokens: 3, source: load.SourceServer, e2e: 300 * ms, finish: "stop", text: "abc", warn: load.WarnNotStreamed})
			if s.Streaming || s.TTFT().OK || s.TPOT().OK || s.PromptTokens != load.Some(7) {
				t.Errorf("sample %+v", s)
			}
		})
	}
	t.Run("login page", func(t *testing.T) {
		s := ask(t, as("text/html", "<html>"+strings.Repeat("é login ", 100)), nil)
		check(t, s, want{cause: load.CauseNotAStream, e2e: 300 * ms})
		if len(s.Error) > 200 || !utf8.ValidString(s.Error) || !strings.Contains(s.Error, "login") {
			t.Errorf("error %q", s.Error)
		}
	})
	for name, c := range map[string]struct {
		kind, body string
		cause      load.Cause
	}{
		"page labelled as stream":  {"text/event-stream", "<html>", load.CauseNotAStream},
		"plain text":               {"text/plain", "welcome", load.CauseNotAStream},
		"plain text like a field":  {"text/plain", "denied", load.CauseNotAStream},
		"other JSON":               {"application/json", `{"hello":"world"}`, load.CauseNotAStream},
		"JSON lines":               {"application/json", "{\"response\":\"a\"}\n{\"response\":\"b\"}\n", load.CauseNotAStream},
		"no body":                  {"application/json", "", load.CauseEmpty},
		"empty stream":             {"text/event-stream", "", load.CauseTruncated},
		"gateway's failure object": {"application/json", `{"status":"failure","message":"no"}`, load.CauseStreamError},
		"cut JSON":                 {"application/json", completion[:100], load.CauseTruncated},
		"without a token":          {"application/json", strings.Replace(completion, "abc", "", 1), load.CauseEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			if s := ask(t, as(c.kind, c.body), nil); s.Cause != c.cause {
				t.Errorf("cause %q (%s), want %q", s.Cause, s.Error, c.cause)
			}
		})
	}
	t.Run("stream labelled as text", func(t *testing.T) {
		s := ask(t, as("text/plain", tok("a")+fin("stop")+use(7, 1)+done), nil)
		check(t, s, want{tokens: 1, source: load.SourceServer, ttft: 300 * ms, last: 300 * ms, e2e: 300 * ms, chunks: 1, finish: "stop", text: "a"})
	})
	t.Run("asked for in one piece", func(t *testing.T) {
		var body string
		s := ask(t, func(w *writer, n int) { body = w.body; as("application/json", completion)(w, n) }, func(c *Config) { c.NoStream = true })
		check(t, s, want{tokens: 3, source: load.SourceServer, e2e: 300 * ms, finish: "stop", text: "abc"})
		if strings.Contains(body, "stream") {
			t.Errorf("request body %s", body)
		}
	})
	t.Run("asked for in one piece, but streamed", func(t *testing.T) {
		s := ask(t, base, func(c *Config) { c.NoStream = true })
		check(t, s, good)
		if !s.Streaming {
			t.Error("not marked as a stream")
		}
	})
}

// How a stream that went wrong is named.
func TestStreamCauses(t *testing.T) {
	cases := []struct {
		name, frames string
		cause        load.Cause
		malformed    int
	}{
		{"no end mark", tok("a"), load.CauseTruncated, 0},
		{"cut in a frame", tok("a") + `data: {"choices":[{"ind`, load.CauseTruncated, 0},
		{"finish_reason is enough", tok("a") + fin("stop"), "", 0},
		{"[DONE] is enough", tok("a") + done, "", 0},
		{"no token", role + fin("stop") + use(3, 0) + done, load.CauseEmpty, 0},
		{"only [DONE]", done, load.CauseEmpty, 0},
		{"only keep-alives", ": ping\n\n", load.CauseTruncated, 0},
		{"one malformed frame", tok("a") + "data: {\"choi\n\n" + fin("stop") + done, "", 1},
		{"all malformed", "data: x\n\ndata: [1]\n\ndata: 5\n\n" + done, load.CauseMalformed, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := ask(t, says(c.frames), nil)
			if s.Cause != c.cause || s.Malformed != c.malformed {
				t.Errorf("cause %q, malformed %d, error %q", s.Cause, s.Malformed, s.Error)
			}
			noted := strings.Contains(s.Error, "could be understood") || len(s.Warnings) > 0 && s.Warnings[0].Code == load.WarnMalformedFrames
			if (c.malformed > 0) != noted {
				t.Errorf("warnings %v", s.Warnings)
			}
		})
	}
}
