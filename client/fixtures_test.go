package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kneesweep/load"
)

const streams = "../testdata/streams"

// recorded serves one recorded answer: its status line and headers as they were,
// and the exact bytes of its body, in writes of size bytes.
func recorded(t *testing.T, name string, size int) func(c net.Conn, r *bufio.Reader, n int) {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(streams, strings.TrimSuffix(name, ".txt")+".hdr"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join(streams, name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(string(head)), "\r\n", "\n"), "\n")
	chunked := strings.Contains(strings.ToLower(string(head)), "transfer-encoding: chunked")
	return func(c net.Conn, r *bufio.Reader, _ int) {
		for readRequest(r) {
			io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n\r\n")
			for part := range slices.Chunk(body, size) {
				if chunked {
					part = fmt.Appendf(nil, "%x\r\n%s\r\n", len(part), part)
				}
				c.Write(part)
			}
			if chunked {
				io.WriteString(c, "0\r\n\r\n")
			}
		}
	}
}

// TestRecordedAnswers reads answers of real servers and gateways. The figures were
// counted from the bytes by hand and not by this package.
func TestRecordedAnswers(t *testing.T) {
	const gateway = "Either x-portkey-config or x-portkey-provider header is required"
	server, estimated := load.SourceServer, load.SourceEstimated
	cases := map[string]struct {
		cause          load.Cause
		status         int
		tokens, chunks int
		source         load.TokenSource
		prompt         int
		finish, model  string
		text           int // bytes
		error          string
	}{
		"aimock-chat.sse":                  {"", 200, 247, 198, server, 7, "stop", "gpt-4o", 987, ""},
		"portkey-aimock-chat.sse":          {"", 200, 247, 198, server, 7, "stop", "gpt-4o", 987, ""},
		"portkey-groq-aimock-chat.sse":     {"", 200, 247, 198, server, 7, "stop", "gpt-4o", 987, ""},
		"ollama-chat.sse":                  {"", 200, 200, 200, server, 21, "length", "tiny", 828, ""},
		"ollama-chat-nousage.sse":          {"", 200, 200, 200, estimated, 0, "length", "tiny", 885, ""},
		"ollama-completions.sse":           {"", 200, 10, 10, server, 15, "length", "tiny", 53, ""},
		"ollama-ignoreeos-extra.sse":       {"", 200, 5, 5, server, 21, "length", "tiny", 18, ""},
		"ollama-longprompt.sse":            {"", 200, 20, 20, server, 1024, "length", "tiny", 81, ""},
		"ollama-maxcompletiontokens.sse":   {"", 200, 200, 200, server, 15, "length", "tiny", 850, ""},
		"ollama065-chat.sse":               {"", 200, 200, 199, server, 21, "length", "tiny", 890, ""},
		"portkey-ollama-chat.sse":          {"", 200, 200, 200, server, 21, "length", "tiny", 836, ""},
		"aimock-nonstream.json":            {"", 200, 247, 0, server, 7, "stop", "gpt-4o", 987, ""},
		"portkey-aimock-nonstream.json":    {"", 200, 247, 0, server, 7, "stop", "gpt-4o", 987, ""},
		"ollama-nonstream.json":            {"", 200, 200, 0, server, 21, "length", "tiny", -1, ""},
		"portkey-ollama-nonstream.json":    {"", 200, 200, 0, server, 21, "length", "tiny", -1, ""},
		"aimock-badjson.json":              {"http_400", 400, 0, 0, "", 0, "", "", 0, "Malformed JSON: Unexpected end of JSON input"},
		"aimock-nomatch.json":              {"http_404", 404, 0, 0, "", 0, "", "", 0, "No fixture matched"},
		"portkey-aimock-nomatch.json":      {"http_404", 404, 0, 0, "", 0, "", "", 0, "openai error: No fixture matched"},
		"portkey-badjson.json":             {"http_500", 500, 0, 0, "", 0, "", "", 0, "Something went wrong"},
		"portkey-noheaders.json":           {"http_400", 400, 0, 0, "", 0, "", "", 0, gateway},
		"portkey-ollama-err-badmodel.json": {"http_404", 404, 0, 0, "", 0, "", "", 0, "openai error: model 'nope' not found"},
		"ollama-404.txt":                   {"http_404", 404, 0, 0, "", 0, "", "", 0, "404 page not found"},
		"ollama-err-badjson.json":          {"http_400", 400, 0, 0, "", 0, "", "", 0, "unexpected EOF"},
		"ollama-err-badmodel.json":         {"http_404", 404, 0, 0, "", 0, "", "", 0, "model 'nope' not found"},
		"ollama-err-nomessages.json":       {"http_400", 400, 0, 0, "", 0, "", "", 0, "[] is too short - 'messages'"},
		"ollama-err-queuefull.json":        {"http_503", 503, 0, 0, "", 0, "", "", 0, "server busy, please try again. maximum pending requests exceeded"},
		"ollama-models.json":               {load.CauseNotAStream, 200, 0, 0, "", 0, "", "", 0, "-"},
	}
	for name, w := range cases {
		for _, size := range []int{1 << 20, 97} {
			t.Run(fmt.Sprintf("%s in parts of %d", name, size), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					srv := raw(t, recorded(t, name, size))
					var edit func(*Config)
					if strings.Contains(name, "completions.sse") {
						edit = func(c *Config) { c.Dialect = Completions }
					}
					s := srv.client(t, edit).Send(t.Context(), question)
					if s.Cause != w.cause || s.Status != w.status || s.OutputTokens != w.tokens || len(s.Chunks) != w.chunks ||
						s.TokenSource != w.source || s.PromptTokens.V != w.prompt || s.FinishReason != w.finish ||
						s.Malformed != 0 || s.Streaming != (w.chunks > 0) {
						t.Errorf("sample %+v", s)
					}
					if w.text >= 0 && len(s.Text) != w.text || w.cause == "" && s.Model != w.model {
						t.Errorf("text of %d bytes, model %q", len(s.Text), s.Model)
					}
					if w.error != "-" && s.Error != w.error {
						t.Errorf("error %q, want %q", s.Error, w.error)
					}
					if again := srv.client(t, edit).Send(t.Context(), question); again.OutputTokens != s.OutputTokens {
						t.Errorf("second answer has %d tokens", again.OutputTokens)
					}
				})
			})
		}
	}
	files, err := filepath.Glob(filepath.Join(streams, "*.hdr"))
	if err != nil || len(files) != len(cases) {
		t.Errorf("%d recorded answers, %d tested", len(files), len(cases))
	}
}
