package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"kneesweep/client/sse"
	"kneesweep/load"
)

// textOf is a piece of a text completion.
func textOf(x string) string {
	return `data: {"id":"c","object":"text_completion","model":"m","choices":[{"index":0,"text":"` + x + `","logprobs":null,"finish_reason":null}]}` + "\n\n"
}

// answers are good streams of three tokens, "abc", in every dialect.
var answers = map[Dialect]struct{ begin, a, b, c, end, finish string }{
	Chat: {role, tok("a"), tok("b"), tok("c"), fin("stop") + use(7, 3) + done, "stop"},
	Completions: {"", textOf("a"), textOf("b"), textOf("c"), `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n" +
		`data: {"object":"text_completion","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}` + "\n\n" + done, "stop"},
	Responses: {responseBegin, said("a"), said("b"), said("c"), responseEnd, "completed"},
	Anthropic: {messageBegin, spoken("a"), spoken("b"), spoken("c"), messageEnd, "end_turn"},
}

// A good stream gives the same figures in every dialect, however it is written: with
// other line ends, without blanks, between keep-alives, byte by byte.
func TestEveryDialectOnTheWire(t *testing.T) {
	same := func(s string) string { return s }
	for name, edit := range map[string]func(string) string{
		"plain":        same,
		"CRLF":         func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"CR":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"no blank":     func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") },
		"keep-alives":  func(s string) string { return ": ping\n\n:\n\nevent: ping\n\ndata:\n\n" + s + ": ping\n\n" },
		"ids":          func(s string) string { return strings.ReplaceAll(s, "data: ", "id: 7\nretry: 1\ndata: ") },
		"byte by byte": same,
		"no last line": func(s string) string { return s },
	} {
		for dialect, a := range answers {
			t.Run(string(dialect)+" "+name, func(t *testing.T) {
				send := func(w *writer, parts ...string) {
					text := edit(strings.Join(parts, ""))
					if name == "no last line" {
						text = strings.TrimSuffix(text, "\n")
					}
					if name != "byte by byte" {
						w.send(text)
						return
					}
					for i := range len(text) {
						w.send(text[i : i+1])
					}
				}
				s := ask(t, func(w *writer, _ int) {
					w.at(50 * ms)
					w.send(edit(a.begin))
					w.at(200 * ms)
					w.send(edit(a.a))
					w.at(300 * ms)
					w.send(edit(a.b))
					w.at(400 * ms)
					send(w, a.c, a.end)
				}, func(c *Config) { c.Dialect = dialect })
				w := good
				w.finish = a.finish
				check(t, s, w)
				if s.PromptTokens != load.Some(7) || s.Malformed != 0 {
					t.Errorf("sample %+v", s)
				}
			})
		}
	}
}

// A rune may be cut by the network in any dialect.
func TestEveryDialectKeepsRunes(t *testing.T) {
	for dialect, a := range answers {
		stream := a.begin + strings.Replace(a.a, `"a"`, `"你好🌍"`, 1) + strings.Replace(a.b, `"b"`, `"\ud83c\udf0d"`, 1) + a.end
		s := ask(t, func(w *writer, _ int) {
			for i := range len(stream) {
				w.send(stream[i : i+1])
			}
		}, func(c *Config) { c.Dialect = dialect })
		if s.Failed() || s.Text != "你好🌍🌍" || len(s.Chunks) != 2 || s.Malformed != 0 {
			t.Errorf("%s: %q in %d chunks, %d malformed, %s %s", dialect, s.Text, len(s.Chunks), s.Malformed, s.Cause, s.Error)
		}
	}
}

func TestCompletions(t *testing.T) {
	edit := func(c *Config) { c.Dialect = Completions }
	growing := func(text string, n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"text":"%s","finish_reason":null}],"usage":{"prompt_tokens":7,"completion_tokens":%d}}`+"\n\n", text, n)
	}
	s := ask(t, says(growing("ab", 2), growing("cde", 5), `data: {"choices":[{"text":"","finish_reason":"length"}]}`+"\n\n", done), edit)
	if s.Failed() || s.OutputTokens != 5 || !slices.Equal([]int32{s.Chunks[0].Tokens, s.Chunks[1].Tokens}, []int32{2, 3}) || s.Text != "abcde" {
		t.Errorf("sample %+v", s)
	}
	whole := `{"object":"text_completion","model":"m","choices":[{"text":"abc","finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`
	check(t, ask(t, says(whole), func(c *Config) { c.Dialect, c.NoStream = Completions, true }),
		want{tokens: 3, source: load.SourceServer, finish: "length", text: "abc"})
	s = ask(t, says(textOf("a"), `data: {"error":{"message":"boom"}}`+"\n\n"), edit)
	if s.Cause != load.CauseStreamError || s.Error != "boom" || s.OutputTokens != 1 {
		t.Errorf("sample %+v", s)
	}
}

// TestDialectBodies: nothing is sent that was not asked for, and each limit has the
// name that the dialect gives it (eca#231).
func TestDialectBodies(t *testing.T) {
	one := load.Prompt{OutputTokens: 9, Messages: []load.Message{
		{Role: "system", Content: "s"}, {Role: "user", Content: "u"}, {Role: "assistant", Content: "a"}, {Role: "developer", Content: "d"}, {Role: "user", Content: "v"}}}
	const turns = `[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"developer","content":"d"},{"role":"user","content":"v"}]`
	const options = `"stream":true,"stream_options":{"include_usage":true}`
	for _, c := range []struct {
		cfg    Config
		prompt load.Prompt
		want   string
	}{
		{Config{Dialect: Completions, Model: "m"}, one, `{"model":"m","prompt":"s\n\nu\n\na\n\nd\n\nv","max_tokens":9,` + options + `}`},
		{Config{Dialect: Completions, NoStream: true}, load.Prompt{}, `{"prompt":""}`},
		{Config{Dialect: Responses, Model: "m"}, one, `{"model":"m","input":` + turns + `,"max_output_tokens":9,"stream":true}`},
		{Config{Dialect: Responses, MaxTokensField: "max_tokens"}, one, `{"input":` + turns + `,"max_tokens":9,"stream":true}`},
		{Config{Dialect: Responses, NoStream: true}, load.Prompt{}, `{"input":[]}`},
		{Config{Dialect: Anthropic, Model: "m"}, one, `{"model":"m","system":"s\n\nd","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}],"max_tokens":9,"stream":true}`},
		{Config{Dialect: Anthropic, NoStream: true}, question, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":512}`},
		{Config{Dialect: Anthropic, NoStream: true}, load.Prompt{}, `{"messages":[]}`},
		{Config{NoStream: true, IgnoreEOS: true, MinTokens: 5, Body: ` { "temperature" : 0 , "x" : { "a" : [ 1 ] } } `}, question,
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":512,"ignore_eos":true,"min_tokens":5,"temperature":0,"x":{"a":[1]}}`},
		{Config{NoStream: true, MinTokens: 600}, question, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":512,"min_tokens":512}`},
		{Config{NoStream: true, MinTokens: 600}, load.Prompt{}, `{"messages":[],"min_tokens":600}`},
		{Config{NoStream: true, Body: "{}"}, load.Prompt{}, `{"messages":[]}`},
		{Config{OmitFields: []string{"stream_options"}, Body: `{"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`}, load.Prompt{},
			`{"messages":[],"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{Config{NoStream: true, OmitFields: []string{"messages"}, Body: `{"messages":[]}`}, question, `{"max_tokens":512,"messages":[]}`},
	} {
		c.cfg.URL = "h"
		got, err := c.cfg.withDefaults().body(c.prompt)
		if err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("%+v: %v\n got %s\nwant %s", c.cfg, err, got, c.want)
		}
		if err := c.cfg.Validate(); err != nil {
			t.Error(err)
		}
	}
	if one.Messages[3].Role != "developer" {
		t.Error("the prompt was changed")
	}
}

// What is set by a flag is not set by Body, by whatever spelling.
func TestBodyRefused(t *testing.T) {
	for text, want := range map[string]string{
		`x`: "not a JSON object", ` `: "not a JSON object", `{"a":1}}`: "more than one JSON object at byte 8", `{"a" 1}`: "not JSON at byte",
		`{"a":1,"a":2}`: `"a" is given twice`, `{"MODEL":"m"}`: `"MODEL" is set by --model`, `{"model":"m"}`: "--omit-field model",
		`{"messages":[]}`: "is set by the prompts", `{"max_completion_tokens":1}`: "--omit-field max_tokens", `{"stream":true}`: "--no-stream",
		`{"ignore_eos":true}`: "--ignore-eos", `{"min_tokens":1}`: "--min-tokens",
	} {
		err := Config{URL: "h", Body: text}.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "--body: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, cfg := range []Config{
		{OmitFields: []string{"max_tokens"}, Body: `{"max_completion_tokens":1}`}, {OmitFields: []string{"model"}, Body: `{"model":"m"}`},
		{Body: `{"prompt":"x","input":1,"system":"s"}`}, {Dialect: Anthropic, Body: `{"prompt":"x"}`}, {Dialect: Responses, Body: `{"stream_options":{}}`},
	} {
		cfg.URL = "h"
		if err := cfg.Validate(); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// J1 in every dialect (FerroxLabs/wayland#1178).
func TestDialectAddresses(t *testing.T) {
	for _, dialect := range Dialects() {
		path := dialect.wire().path
		for in, want := range map[string]string{
			"http://h:8000": "http://h:8000/v1/", "http://h:8000/": "http://h:8000/v1/", "h:8000/v1": "http://h:8000/v1/", "http://h/v1/": "http://h/v1/",
			"http://h/v1/" + path: "http://h/v1/", "http://h/v1/" + path + "/": "http://h/v1/", "http://h/openai/v1": "http://h/openai/v1/",
			"http://h/a/b": "http://h/a/b/v1/", "http://h/v10": "http://h/v10/v1/", "http://h/a%2Fb/v1": "http://h/a%2Fb/v1/",
		} {
			checkAddress(t, dialect, in, want+path)
		}
		whole := "https://h/openai/deployments/d/" + path + "?api-version=2024-08-01"
		checkAddress(t, dialect, whole, whole)
		for _, other := range Dialects() {
			for _, base := range []string{"http://h/v1/", "http://a:topsecret@h/v1/"} {
				err := Config{URL: base + other.wire().path + "/?x=1", Dialect: dialect}.Validate()
				if (err == nil) != (other == dialect) {
					t.Errorf("%s with the address of %s: %v", dialect, other, err)
				}
				if err != nil && (!strings.HasPrefix(err.Error(), "--url: ") || !strings.Contains(err.Error(), "--dialect "+string(other)+";") || strings.Contains(err.Error(), "topsecret")) {
					t.Error(err)
				}
			}
		}
	}
	checkAddress(t, Chat, "http://h/team/messages", "http://h/team/messages/v1/chat/completions")
	checkAddress(t, "", "http://h", "http://h/v1/chat/completions")
}

func checkAddress(t *testing.T, dialect Dialect, in, want string) {
	t.Helper()
	c, err := New(Config{URL: in, Dialect: dialect})
	if err != nil {
		t.Errorf("%s: %s: %v", dialect, in, err)
		return
	}
	defer c.Close()
	if got := c.Endpoint(); got != want {
		t.Errorf("%s: %s: %s, want %s", dialect, in, got, want)
	}
}

func TestAuth(t *testing.T) {
	for _, c := range []struct {
		dialect Dialect
		auth    Auth
		header  string // that holds the key, and how
	}{
		{Chat, "", "Authorization: Bearer key-1234"}, {Completions, "", "Authorization: Bearer key-1234"}, {Responses, "", "Authorization: Bearer key-1234"},
		{Anthropic, "", "X-Api-Key: key-1234"}, {Anthropic, AuthBearer, "Authorization: Bearer key-1234"}, {Chat, AuthXAPIKey, "X-Api-Key: key-1234"},
		{Chat, AuthAPIKey, "Api-Key: key-1234"}, {Chat, AuthNone, ""}, {Anthropic, AuthNone, ""},
	} {
		bubble(t, func(t *testing.T) {
			srv := serve(t, func(w *writer, _ int) { w.WriteHeader(401); w.send("not key-1234") })
			s := srv.client(t, func(cfg *Config) { cfg.Dialect, cfg.Auth, cfg.APIKey = c.dialect, c.auth, "key-1234" }).Send(t.Context(), question)
			var found []string
			for name, values := range srv.heads[0] {
				if strings.Contains(values[0], "key-1234") {
					found = append(found, name+": "+values[0])
				}
			}
			if strings.Join(found, "; ") != c.header {
				t.Errorf("%s by %q: %q, want %q", c.dialect, c.auth, found, c.header)
			}
			version := srv.heads[0].Get("Anthropic-Version")
			if (version == "2023-06-01") != (c.dialect == Anthropic) || s.Error != "not ***" {
				t.Errorf("%s by %q: version %q, error %q", c.dialect, c.auth, version, s.Error)
			}
		})
	}
	// A header of the user wins.
	bubble(t, func(t *testing.T) {
		srv := serve(t, base)
		srv.client(t, func(c *Config) {
			c.Dialect, c.APIKey, c.Headers = Anthropic, "k", http.Header{"anthropic-version": {"2099-01-01"}, "x-api-key": {"mine"}}
		}).Send(t.Context(), question)
		if h := srv.heads[0]; h.Get("Anthropic-Version") != "2099-01-01" || len(h.Values("X-Api-Key")) != 1 || h.Get("X-Api-Key") != "mine" {
			t.Errorf("headers %v", h)
		}
	})
}

func TestExtra(t *testing.T) {
	for want, cfg := range map[string]Config{
		"":                                 {},
		`{"ignore_eos":true}`:              {IgnoreEOS: true},
		`{"min_tokens":7,"x":"***","y":1}`: {MinTokens: 7, Body: `{"x": "topsecret", "y": 1}`, Secrets: []string{"topsecret"}},
		`{"temperature":0}`:                {Body: `{"temperature": 0}`, IgnoreEOS: true, OmitFields: []string{"ignore_eos"}},
	} {
		cfg.URL = "h"
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Extra(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c.Close()
	}
}

// fuzzDialect reads any answer to the end: nothing panics, no count is negative, and a
// sample that succeeded has what a success needs.
func fuzzDialect(f *testing.F, dialect Dialect) {
	a := answers[dialect]
	for _, stream := range []string{a.begin + a.a + a.b + a.c + a.end, a.begin + a.a, a.end, a.a + "data: {\"error\":{\"message\":\"x\"}}\n\n"} {
		f.Add([]byte(stream))
	}
	for _, body := range []string{responseWhole, `{"type":"message","content":[{"text":["a"]}],"usage":{"input_tokens":-1,"output_tokens":1e300}}`,
		`{"choices":[{"text":{}}],"usage":{"completion_tokens":"7"}}`, `{"response":{"output":[{"arguments":{}}],"usage":{"output_tokens":null}},"type":"response.done"}`} {
		f.Add([]byte("data: " + body + "\n\n"))
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := &Client{cfg: Config{TimeoutIdle: time.Hour, KeepText: true}, now: func() time.Duration { return 0 }, life: t.Context()}
		x := &exchange{c: c, wire: dialect.wire(), p: &load.Prompt{}, s: &load.Sample{Status: http.StatusOK}, parent: t.Context()}
		x.stencil.off = !x.wire.quick
		x.watch.now, x.watch.cancel = c.now, func() {}
		defer x.watch.stop()
		var d delta
		if err := x.wire.decode(&d, nil, stream); err == nil && d.failed && d.failure == "" {
			t.Error("an error without words")
		}
		x.reader = sse.NewReader(bytes.NewReader(stream), c.now)
		if x.understand("text/event-stream") {
			x.stream()
		}
		x.finish()
		s := x.s
		if s.OutputTokens < 0 || s.HiddenTokens < 0 || s.Streamed() < 0 || s.PromptTokens.V < 0 || s.CachedTokens.V < 0 || s.ReasoningTokens.V < 0 {
			t.Errorf("negative: %+v", s)
		}
		for _, c := range s.Chunks {
			if c.Tokens < 0 {
				t.Errorf("a chunk of %d tokens", c.Tokens)
			}
		}
		if !s.Failed() && (s.OutputTokens == 0 || s.TokenSource == "" || s.Error != "" || s.Streaming && (len(s.Chunks) == 0 || !x.done && s.FinishReason == "")) {
			t.Errorf("a success without what it needs: %+v", s)
		}
	})
}

func FuzzChat(f *testing.F)        { fuzzDialect(f, Chat) }
func FuzzCompletions(f *testing.F) { fuzzDialect(f, Completions) }
func FuzzResponses(f *testing.F)   { fuzzDialect(f, Responses) }
func FuzzAnthropic(f *testing.F)   { fuzzDialect(f, Anthropic) }

// BenchmarkEvent is the cost of one token-bearing event in each dialect, from the bytes
// of the body to the sample.
func BenchmarkEvent(b *testing.B) {
	for _, dialect := range Dialects() {
		b.Run(string(dialect), func(b *testing.B) {
			x, _ := steadyExchange()
			x.wire = dialect.wire()
			x.stencil.off = !x.wire.quick
			defer x.watch.stop()
			r := sse.NewReader(&steady{frame: []byte(answers[dialect].a)}, x.c.now)
			b.ReportAllocs()
			for b.Loop() {
				ev, _ := r.Next()
				x.event(ev)
				if len(x.s.Chunks) == cap(x.s.Chunks) {
					x.s.Chunks = x.s.Chunks[:1]
				}
			}
		})
	}
}
