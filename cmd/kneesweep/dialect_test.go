package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked keeps the paths and the fields of what reaches an endpoint.
type asked struct {
	mu    sync.Mutex
	calls []call
}

type call struct {
	address string // path and query
	fields  []string
}

// keep is an endpoint that refuses by its own rules and keeps what it is asked.
func (a *asked) keep(refuse func(fields []string) served) func(served) served {
	return func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				next(w, r)
				return
			}
			raw, _ := io.ReadAll(r.Body)
			var body map[string]json.RawMessage
			_ = json.Unmarshal(raw, &body)
			c := call{address: r.URL.RequestURI()}
			for name := range body {
				c.fields = append(c.fields, name)
			}
			slices.Sort(c.fields)
			a.mu.Lock()
			a.calls = append(a.calls, c)
			a.mu.Unlock()
			if no := refuse(c.fields); no != nil {
				no(w, r)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(raw))
			next(w, r)
		}
	}
}

func (a *asked) all() []call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// refusing refuses a field.
func refusing(field string, no served) func([]string) served {
	return func(fields []string) served {
		if slices.Contains(fields, field) {
			return no
		}
		return nil
	}
}

// TestDialects sweeps servers that refuse a field: the preflight stops after one
// request, says the status, the server's words and the flag, and with that flag the
// sweep runs. Nothing is sent that was not asked for (eca#231, BerriAI/litellm#9583).
func TestDialects(t *testing.T) {
	t.Parallel()
	extra := func(field string) served {
		return says(422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","`+field+`"],"msg":"Extra inputs are not permitted"}]}`)
	}
	newer := says(400, "application/json", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`)
	older := says(400, "application/json", `{"error":{"message":"unknown field: max_completion_tokens"}}`)
	const usual = "max_tokens messages model stream stream_options"
	for _, c := range []struct {
		name     string
		field    string
		no       served
		first    []string // flags of the sweep that is refused
		sent     string   // its fields
		want     []string
		mended   []string
		accepted string // fields of the sweep that runs
	}{
		{"no stream options", "stream_options", extra("stream_options"), nil, usual,
			[]string{"(http_422): stream_options: Extra inputs are not permitted", "try --omit-field stream_options"},
			[]string{"--omit-field", "stream_options"}, "max_tokens messages model stream"},
		{"the newer limit", "max_tokens", newer, nil, usual,
			[]string{"(http_400): Unsupported parameter: 'max_tokens'", "try --max-tokens-field max_completion_tokens"},
			[]string{"--max-tokens-field", "max_completion_tokens"}, "max_completion_tokens messages model stream stream_options"},
		{"the older limit", "max_completion_tokens", older, []string{"--max-tokens-field", "max_completion_tokens"}, "max_completion_tokens messages model stream stream_options",
			[]string{"(http_400): unknown field: max_completion_tokens", "max_tokens, if that is what was sent"}, nil, usual},
		{"no end to ignore", "ignore_eos", extra("ignore_eos"), []string{"--ignore-eos"}, "ignore_eos " + usual,
			[]string{"(http_422): ignore_eos: Extra inputs are not permitted", "try without --ignore-eos"}, nil, usual},
		{"no limit at all", "max_tokens", extra("max_tokens"), nil, usual,
			[]string{"(http_422): max_tokens: Extra inputs are not permitted", "--omit-field max_tokens"},
			[]string{"--omit-field", "max_tokens"}, "messages model stream stream_options"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got asked
			url := endpoint(t, got.keep(refusing(c.field, c.no)))
			dir := filepath.Join(t.TempDir(), "run")
			sweep := func(flags []string) result {
				return command(append(quick("--levels", "2", "--url", url, "--model", "sim", "--out", dir), flags...)...)
			}
			r := sweep(c.first)
			if r.code != exitFailed || r.out != "" || strings.Count(r.err, "\n") != 3 {
				t.Errorf("exit %d, stdout %q, stderr\n%s", r.code, r.out, r.err)
			}
			for _, w := range c.want {
				if !strings.Contains(r.err, w) {
					t.Errorf("no %q in\n%s", w, r.err)
				}
			}
			if calls := got.all(); len(calls) != 1 || calls[0].address != "/v1/chat/completions" || strings.Join(calls[0].fields, " ") != c.sent {
				t.Errorf("sent %v, want one request with %s", calls, c.sent)
			}
			if r = sweep(c.mended); !swept(r) || !exists(filepath.Join(dir, curveFile)) {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			calls := got.all()[1:]
			for _, sent := range calls {
				if strings.Join(sent.fields, " ") != c.accepted {
					t.Fatalf("sent %v, want %s", sent.fields, c.accepted)
				}
			}
			if len(calls) < 5 {
				t.Errorf("%d requests with %v", len(calls), c.mended)
			}
		})
	}
}

// TestAddresses asks one server by every form of its address.
func TestAddresses(t *testing.T) {
	t.Parallel()
	var got asked
	url := endpoint(t, got.keep(func([]string) served { return says(401, "text/plain", "no") }))
	host := strings.TrimSuffix(url, "/v1")
	for _, c := range []struct{ given, want string }{
		{host, "/v1/chat/completions"},
		{host + "/", "/v1/chat/completions"},
		{host + "/v1", "/v1/chat/completions"},
		{host + "/v1/", "/v1/chat/completions"},
		{host + "/v1/chat/completions", "/v1/chat/completions"},
		{host + "/openai/v1", "/openai/v1/chat/completions"},
		{host + "/a/b", "/a/b/v1/chat/completions"},
		{host + "/v10", "/v10/v1/chat/completions"},
		{host + "/v4/chat/completions?api-version=2024-08-01", "/v4/chat/completions?api-version=2024-08-01"},
		{strings.TrimPrefix(host, "http://"), "/v1/chat/completions"},
	} {
		before := len(got.all())
		r := command("sweep", "--url", c.given, "--model", "m", "--out", filepath.Join(t.TempDir(), "run"))
		calls := got.all()[before:]
		if r.code != exitFailed || len(calls) != 1 || calls[0].address != c.want || !strings.Contains(r.err, "check the key") {
			t.Errorf("%s: exit %d, asked for %v, want one %s\n%s", c.given, r.code, calls, c.want, r.err)
		}
	}
}

// TestWrongModel names what the server serves.
func TestWrongModel(t *testing.T) {
	t.Parallel()
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"model-%02d"}`, i)
	}
	missing := says(404, "application/json", `{"error":{"message":"The model gpt-0 does not exist"}}`)
	for _, c := range []struct {
		name   string
		refuse served
		models served
		want   string
	}{
		{"the simulation's own", nil, nil, "check --model: the server has sim\n"},
		{"several", missing, says(200, "application/json", `{"data":[{"id":"qwen"},{"id":"llama"}]}`), "check --model: the server has llama, qwen\n"},
		{"refused with 400", says(400, "text/plain", "Model gpt-0 not found"), says(200, "application/json", `{"data":[{"id":"qwen"}]}`), "check --model: the server has qwen\n"},
		{"more than can be read", missing, says(200, "application/json", `{"data":[`+strings.Join(many, ",")+`]}`), "model-10, model-11 and 3 more\n"},
		{"none", missing, says(200, "application/json", `{"data":[]}`), "the server lists no models\n"},
		{"no list", missing, says(404, "text/plain", "no"), "check the path in --url and the name in --model ("},
		{"the one asked for", missing, says(200, "application/json", `{"data":[{"id":"gpt-0"}]}`), `the server has a model "gpt-0": check the path in --url`},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := endpoint(t, func(next served) served {
				return func(w http.ResponseWriter, r *http.Request) {
					switch models := strings.HasSuffix(r.URL.Path, "/models"); {
					case models && c.models != nil:
						c.models(w, r)
					case !models && c.refuse != nil:
						c.refuse(w, r)
					default:
						next(w, r)
					}
				}
			})
			checkPreflight(t, url, "gpt-0", []string{"gpt-0", c.want})
		})
	}
}
