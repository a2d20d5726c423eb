package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"kneesweep/load"
)

// The words of a server that fails are kept, whatever form they come in.
func TestErrorForms(t *testing.T) {
	choice := func(rest string) string { return `data: {"choices":[{"index":0,"delta":{},` + rest + `}]}` + "\n\n" }
	cases := []struct{ name, frames, text string }{
		{"in the choice", tok("a") + choice(`"finish_reason":"error","error":{"message":"upstream","code":502}`) + done, "upstream"},
		{"in the choice, no reason", tok("a") + choice(`"finish_reason":null,"error":{"message":"upstream"}`) + done, "upstream"},
		{"beside the choice", `data: {"error":{"message":"gone"},"choices":[{"delta":{},"finish_reason":"error"}]}` + "\n\n", "gone"},
		{"reason error", tok("a") + fin("error") + use(1, 1) + done, "the server ended the generation with finish_reason error"},
		{"reason abort", tok("a") + fin("abort") + use(1, 1) + done, "the server ended the generation with finish_reason abort"},
		{"reason aborted", tok("a") + fin("aborted"), "the server ended the generation with finish_reason aborted"},
		{"reason cancelled", tok("a") + fin("cancelled"), "the server ended the generation with finish_reason cancelled"},
		{"line error", tok("a") + `error: {"code":500,"message":"ctx"}` + "\n\n", "ctx"},
		{"line error, then the end mark", tok("a") + `error: {"code":500,"message":"ctx"}` + "\n" + done, "ctx"},
		{"line error first", `error: {"code":500,"message":"ctx"}` + "\n\n", "ctx"},
		{"line error in words", tok("a") + "Error: out of memory\n\n", "out of memory"},
		{"bare object", tok("a") + `{"error":{"message":"late"}}` + "\n\n" + done, "late"},
		{"bare object without line end", tok("a") + `{"error":{"message":"late"}}`, "late"},
		{"bare object over lines", tok("a") + "{\n  \"error\": {\n    \"message\": \"late\"\n  }\n}\n\n", "late"},
		{"bare object first", `{"error":{"message":"late"}}` + "\n\n" + done, "late"},
		{"bare detail", tok("a") + `{"detail":"late"}` + "\n\n", "late"},
		{"event error, bare text", tok("a") + "event: error\nboom\n\n", "boom"},
		{"detail", `data: {"detail":"model not found"}` + "\n\n", "model not found"},
		{"detail, then the end mark", `data: {"detail":"model not found"}` + "\n\n" + done, "model not found"},
		{"detail of a validation", `data: {"detail":[{"loc":["body","n"],"msg":"too large"}]}` + "\n\n", "n: too large"},
		{"code and message", tok("a") + `data: {"code":500,"message":"oops"}` + "\n\n" + done, "oops"},
		{"code as text", `data: {"code":"503","message":"oops","choices":null}` + "\n\n" + done, "oops"},
		{"code and message, after the reason", tok("a") + fin("stop") + `data: {"status":500,"message":"oops"}` + "\n\n" + done, "oops"},
		{"no success", tok("a") + `data: {"success":false,"message":"oops"}` + "\n\n" + fin("stop") + done, "oops"},
		{"message", tok("a") + `data: {"message":"Endpoint request timed out"}` + "\n\n", "Endpoint request timed out"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := ask(t, says(role, c.frames), nil)
			if strings.HasSuffix(c.name, "first") {
				s = ask(t, says(c.frames), nil)
			}
			if s.Cause != load.CauseStreamError || s.Error != c.text {
				t.Errorf("cause %q, error %q", s.Cause, s.Error)
			}
			if s.Malformed != 0 || len(s.Chunks) != strings.Count(c.frames, `"content":"a"`) {
				t.Errorf("malformed %d, chunks %d", s.Malformed, len(s.Chunks))
			}
		})
	}
	t.Run("the last piece comes with it", func(t *testing.T) {
		s := ask(t, says(tok("a"), `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"abort"}]}`+"\n\n"), nil)
		checkTokens(t, s, want{cause: load.CauseStreamError, tokens: 2, source: load.SourceEstimated, chunks: 2, finish: "abort", text: "ab"})
	})
	t.Run("in a whole answer", func(t *testing.T) {
		for body, text := range map[string]string{
			`{"choices":[{"message":{"content":"a"},"finish_reason":"error","error":{"message":"up"}}]}`: "up",
			`{"detail":"model not found"}`:           "model not found",
			`{"code":500,"message":"oops"}`:          "oops",
			"{\"error\":\"x\"}\n{\"error\":\"y\"}\n": "x",
		} {
			if s := ask(t, says(body), nil); s.Cause != load.CauseStreamError || s.Error != text {
				t.Errorf("%s: cause %q, error %q", body, s.Cause, s.Error)
			}
		}
	})
	t.Run("secrets and length", func(t *testing.T) {
		for _, form := range []string{"error: %s\n\n", "data: {\"detail\":\"%s\"}\n\n", "%s\n\n"} {
			text := fmt.Sprintf(form, "bad sk-secret-12345 "+strings.Repeat("é", 200))
			s := ask(t, says(tok("a"), text), func(c *Config) { c.APIKey = "sk-secret-12345" })
			if strings.Contains(s.Error, "secret") || len(s.Error) > 200 || !strings.Contains(s.Error, "bad ***") {
				t.Errorf("error %q", s.Error)
			}
		}
	})
}

// What only looks like an error does not fail a good answer.
func TestHarmlessFrames(t *testing.T) {
	for _, odd := range []string{
		`data: {"type":"ping"}`, `data: {"type":"ping","message":"alive"}`, `data: {"status":"processing","message":"queued"}`,
		`data: {"message":"working on it"}`, `data: {"code":0,"message":"ok"}`, `data: {"code":200,"message":"success","choices":null}`,
		"event: heartbeat\ndata: {\"message\":\"x\"}", `data: {"error":null}`, `data: {"choices":[{"delta":{},"error":null}]}`,
		`data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}],"message":"x"}`, `data: {"usage":{"prompt_tokens":7},"message":"x"}`,
		"error: null", "error:", "retry: 500\nid: 4", `{"type":"ping"}`, "ping", `data: {"object":"chat.completion.chunk","message":"x","code":500}`, `data: {}`,
	} {
		t.Run(odd, func(t *testing.T) {
			s := ask(t, func(w *writer, _ int) {
				if odd[0] != '{' { // which would be a whole answer
					w.send(odd, "\n\n")
				}
				timed(w, func(s string) string { return s + odd + "\n\n" })
			}, nil)
			check(t, s, good)
			if s.Malformed != 0 {
				t.Errorf("malformed %d", s.Malformed)
			}
		})
	}
}

// A stream that ends too early quotes what was not understood last.
func TestQuotes(t *testing.T) {
	for frames, w := range map[string]struct {
		cause load.Cause
		text  string
	}{
		tok("a"):                                       {load.CauseTruncated, "the stream ended without finish_reason or [DONE]"},
		tok("a") + "data: oops\n\n" + tok("b"):         {load.CauseTruncated, "the stream ended without finish_reason or [DONE]; not understood: oops"},
		tok("a") + "upstream timed out\n":              {load.CauseTruncated, "the stream ended without finish_reason or [DONE]; not understood: upstream timed out"},
		tok("a") + "data: {\"choi":                     {load.CauseTruncated, `the stream ended without finish_reason or [DONE]; not understood: {"choi`},
		tok("a") + "data: {\"weird\":1}\n\n":           {load.CauseTruncated, `the stream ended without finish_reason or [DONE]; not understood: {"weird":1}`},
		tok("a") + "data: {\"type\":\"ping\"}\n\n":     {load.CauseTruncated, "the stream ended without finish_reason or [DONE]"},
		"data: one\n\ndata: two\n\n" + done:            {load.CauseMalformed, "no frame of the stream could be understood; not understood: two"},
		"data: x\n\n" + tok("a") + tok("b") + ": ok\n": {load.CauseTruncated, "the stream ended without finish_reason or [DONE]; not understood: x"},
	} {
		if s := ask(t, says(frames), nil); s.Cause != w.cause || s.Error != w.text {
			t.Errorf("%s\ncause %q, error %q", frames, s.Cause, s.Error)
		}
	}
}

// The words count too if the connection ends without the end of the body.
func TestErrorThenCut(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, last := range []string{`{"error":{"message":"late"}}`, "error: late\n", "data: {\"detail\":\"late\"}\n\n", `data: {"error":"late"}`} {
		bubble(t, func(t *testing.T) {
			body := tok("a") + last
			s := raw(t, func(c net.Conn, r *bufio.Reader, _ int) {
				if readRequest(r) {
					fmt.Fprintf(c, "%s%x\r\n%s\r\n", head, len(body), body)
				}
			}).client(t, nil).Send(t.Context(), question)
			if s.Cause != load.CauseStreamError || s.Error != "late" {
				t.Errorf("%s: cause %q, error %q", last, s.Cause, s.Error)
			}
		})
	}
}

// Bodies that are no text in UTF-8 are named, not taken apart.
func TestUnreadableBodies(t *testing.T) {
	utf16 := func(s string, low int) string {
		b := make([]byte, 2*len(s))
		for i := range len(s) {
			b[2*i+low] = s[i]
		}
		return string(b)
	}
	stream := tok("a") + done
	for name, c := range map[string]struct {
		encoding, kind, body string
		cause                load.Cause
		text                 string
	}{
		"gzip":              {"gzip", "text/event-stream", "\x1f\x8b\x08\x00", load.CauseNotAStream, "Content-Encoding gzip"},
		"br, JSON":          {"br", "application/json", "\x0b\x02\x80", load.CauseNotAStream, "Content-Encoding br"},
		"zstd":              {"ZSTD", "text/event-stream", "data: x\n\n", load.CauseNotAStream, "Content-Encoding zstd"},
		"list":              {"identity, deflate", "text/event-stream", stream, load.CauseNotAStream, "Content-Encoding deflate"},
		"none":              {"none", "text/event-stream", stream, "", ""},
		"identity":          {"identity", "text/event-stream", stream, "", ""},
		"gzip, not told":    {"", "text/event-stream", "\x1f\x8b\x08\x00", load.CauseNotAStream, "compressed"},
		"zstd, not told":    {"", "text/event-stream", "\x28\xb5\x2f\xfd\x00", load.CauseNotAStream, "compressed"},
		"UTF-16 with mark":  {"", "text/event-stream", "\xff\xfe" + utf16(stream, 0), load.CauseNotAStream, "UTF-16"},
		"UTF-16 big end":    {"", "text/event-stream", "\xfe\xff" + utf16(stream, 1), load.CauseNotAStream, "UTF-16"},
		"UTF-16 little end": {"", "text/event-stream", utf16(stream, 0), load.CauseNotAStream, "UTF-16"},
		"UTF-16 JSON":       {"", "application/json", utf16(`{"choices":[]}`, 0), load.CauseNotAStream, "UTF-16"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, func(w *writer, _ int) {
				w.Header().Set("Content-Type", c.kind)
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				w.send(c.body)
			}, nil)
			if s.Cause != c.cause || !strings.Contains(s.Error, c.text) {
				t.Errorf("cause %q, error %q", s.Cause, s.Error)
			}
		})
	}
	t.Run("UTF-16 byte by byte", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) {
			for i, text := 0, utf16(stream, 0); i < len(text); i++ {
				w.send(text[i : i+1])
			}
		}, nil)
		if s.Cause != load.CauseNotAStream {
			t.Errorf("cause %q, error %q", s.Cause, s.Error)
		}
	})
	t.Run("refusal", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(503)
			w.send("\x1f\x8b\x08\x00")
		}, nil)
		if s.Cause != "http_503" || !strings.Contains(s.Error, "Content-Encoding gzip") {
			t.Errorf("cause %q, error %q", s.Cause, s.Error)
		}
	})
	t.Run("204", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) { w.WriteHeader(http.StatusNoContent) }, nil)
		if s.Cause != load.CauseEmpty || !strings.Contains(s.Error, "204") || s.Streaming {
			t.Errorf("sample %+v", s)
		}
	})
}

// A JSON body that ends in the middle is truncated, however its end was told.
func TestCutJSON(t *testing.T) {
	const cut = `{"object":"chat.completion","choices":[{"message":{"content":"abc`
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(cut), cut)
	for name, answer := range map[string]string{
		"chunked, with its end":    chunked + "0\r\n\r\n",
		"chunked, without its end": chunked,
		"length":                   fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(cut), cut),
		"length not reached":       fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(cut)+9, cut),
		"end of the connection":    "Connection: close\r\n\r\n" + cut,
	} {
		bubble(t, func(t *testing.T) {
			s := raw(t, func(c net.Conn, r *bufio.Reader, _ int) {
				if readRequest(r) {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+answer)
				}
			}).client(t, nil).Send(t.Context(), question)
			if s.Cause != load.CauseTruncated || s.Error == "" {
				t.Errorf("%s: cause %q, error %q", name, s.Cause, s.Error)
			}
		})
	}
	if s := ask(t, says(`{login}`), nil); s.Cause != load.CauseNotAStream {
		t.Errorf("no JSON: cause %q", s.Cause)
	}
}
