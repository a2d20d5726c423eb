package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"kneesweep/load"
)

// TestJ1 (FerroxLabs/wayland#1178, AISBench/benchmark#311): every form of an
// address leads to the same place.
func TestJ1URLForms(t *testing.T) {
	for in, w := range map[string]string{
		"http://h:8000":                      "http://h:8000/v1/chat/completions",
		"http://h:8000/":                     "http://h:8000/v1/chat/completions",
		"http://h:8000/v1":                   "http://h:8000/v1/chat/completions",
		"http://h:8000/v1/":                  "http://h:8000/v1/chat/completions",
		"http://h:8000/v1/chat/completions":  "http://h:8000/v1/chat/completions",
		"http://h:8000/v1/chat/completions/": "http://h:8000/v1/chat/completions",
		"http://h/openai/v1":                 "http://h/openai/v1/chat/completions",
		"http://h/a/b":                       "http://h/a/b/v1/chat/completions",
		"http://h/v10":                       "http://h/v10/v1/chat/completions",
		"https://h/v4/chat/completions?api-version=2024-08-01": "https://h/v4/chat/completions?api-version=2024-08-01",
		"127.0.0.1:8000":       "http://127.0.0.1:8000/v1/chat/completions",
		"localhost":            "http://localhost/v1/chat/completions",
		" http://[::1]:80/v1 ": "http://[::1]:80/v1/chat/completions",
		"http://h/a%2Fb/v1":    "http://h/a%2Fb/v1/chat/completions",
		"http://h/v1?x=1#frag": "http://h/v1/chat/completions?x=1",
	} {
		c, err := New(Config{URL: in})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := c.Endpoint(); got != w {
			t.Errorf("%s: %s, want %s", in, got, w)
		}
		c.Close()
	}
	for _, in := range []string{"", "ftp://h/v1", "http://", "http:///v1", "http://h:port/v1", "http://us er:topsecret@h/", "http://a:topsecret/x@h"} {
		err := Config{URL: in}.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "--url: ") || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestValidateNamesEveryFlag(t *testing.T) {
	err := Config{
		URL: "ftp://h", TimeoutConnect: -1, TimeoutFirstToken: -1, TimeoutIdle: -1, Retries: -1, Connections: -1,
		MaxTokensField: `"`, OmitFields: []string{"temperature"}, APIKey: "a\nsecret", Headers: http.Header{"a b": {"x"}, "Ok": {"secret\n"}},
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{"--url", "--timeout-connect", "--timeout-first-token", "--timeout-idle", "--retries",
		"--max-concurrency", "--max-tokens-field", "--omit-field", "--api-key-env", "--header: \"a b\"", "--header: the value of Ok"} {
		if !strings.Contains("\n"+err.Error(), "\n"+flag) {
			t.Errorf("%s is not named in:\n%v", flag, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("a secret is shown: %v", err)
	}
	if err := (Config{URL: "h", OmitFields: []string{"stream_options", "max_completion_tokens"}, MaxTokensField: "max_completion_tokens"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateKey(t *testing.T) {
	for key, ok := range map[string]bool{
		"": true, "sk-A_~/+= 1": true, "topsecret\n": false, "topsecret\x00": false, "top\tsecret": false, "topsecret\x7f": false,
		"topsecret\u00e9": false, "topsecret\xe9": false, "\u200btopsecret": false,
	} {
		err := Config{URL: "h", APIKey: key}.Validate()
		if (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "--api-key-env: ") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// TestJ2 (BerriAI/litellm#9583, eca#231): no field is sent that was not asked for.
func TestJ2RequestBody(t *testing.T) {
	one := load.Prompt{Messages: []load.Message{{Role: "user", Content: "a \"b\""}}, OutputTokens: 9}
	const messages = `"messages":[{"role":"user","content":"a \"b\""}]`
	const stream = `"stream":true,"stream_options":{"include_usage":true}`
	for name, c := range map[string]struct {
		cfg    Config
		prompt load.Prompt
		want   string
	}{
		"usual":        {Config{Model: "m"}, one, `{"model":"m",` + messages + `,"max_tokens":9,` + stream + `}`},
		"no model":     {Config{}, one, `{` + messages + `,"max_tokens":9,` + stream + `}`},
		"no limit":     {Config{Model: "m"}, load.Prompt{}, `{"model":"m","messages":[],` + stream + `}`},
		"no stream":    {Config{NoStream: true}, one, `{` + messages + `,"max_tokens":9}`},
		"other limit":  {Config{MaxTokensField: "max_completion_tokens"}, one, `{` + messages + `,"max_completion_tokens":9,` + stream + `}`},
		"fields left":  {Config{OmitFields: []string{"stream_options", "max_tokens"}}, one, `{` + messages + `,"stream":true}`},
		"to the limit": {Config{IgnoreEOS: true}, one, `{` + messages + `,"max_tokens":9,` + stream + `,"ignore_eos":true}`},
		"odd model":    {Config{Model: "a/\"b\""}, load.Prompt{}, `{"model":"a/\"b\"","messages":[],` + stream + `}`},
	} {
		got, err := c.cfg.withDefaults().body(c.prompt)
		if err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
	refusal := `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`
	s := ask(t, func(w *writer, _ int) { w.WriteHeader(422); w.send(refusal) }, nil)
	if s.Cause != "http_422" || s.Error != "stream_options: Extra inputs are not permitted" {
		t.Errorf("cause %q, error %q", s.Cause, s.Error)
	}
}

func TestHeaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv := serve(t, base)
		srv.client(t, func(c *Config) {
			c.APIKey = "key-1234"
			c.Headers = http.Header{"X-Extra": {"a", "b"}, "user-agent": {"mine"}, "Host": {"other"}}
		}).Send(t.Context(), question)
		srv.client(t, func(c *Config) { c.URL = "http://user:pass%20word@h/v1" }).Send(t.Context(), question)
		first, second := srv.heads[0], srv.heads[1]
		if first.Get("Authorization") != "Bearer key-1234" || len(first["X-Extra"]) != 2 || first.Get("User-Agent") != "mine" ||
			first.Get("Content-Type") != "application/json" || first["Idempotency-Key"] != nil || first["Accept-Encoding"] != nil {
			t.Errorf("headers %v", first)
		}
		if user, pass, ok := (&http.Request{Header: second}).BasicAuth(); !ok || user != "user" || pass != "pass word" {
			t.Errorf("headers %v", second)
		}
	})
}

// TestL3 (IQSS/dataverse#4954, benchflow-ai/benchflow#537): a secret that the server
// sends back is masked by value, in every place where text is kept.
func TestL3EchoedSecrets(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	edit := func(c *Config) {
		c.URL = "http://bob:hunter2secret@h/v1?api-key=query-secret-7&version=3"
		c.APIKey = key
		c.Headers = http.Header{"Api-Key": {"hdr-secret-42"}}
	}
	long := strings.Repeat("é", 90) // puts the key across the end of what is kept
	for name, answer := range map[string]reply{
		"refusal": func(w *writer, _ int) {
			w.WriteHeader(401)
			w.send(`{"error":{"message":"Incorrect API key provided: ` + key + `"}}`)
		},
		"everything": func(w *writer, _ int) {
			w.WriteHeader(401)
			w.send(key + " hdr-secret-42 query-secret-7 hunter2secret Ym9iOmh1bnRlcjJzZWNyZXQ=")
		},
		"across the cut": func(w *writer, _ int) { w.WriteHeader(500); w.send(long, key) },
		"in the stream":  says(`data: {"error":{"message":"bad ` + key + `"}}` + "\n\n"),
		"login page":     func(w *writer, _ int) { w.Header().Set("Content-Type", "text/html"); w.send("<p>" + key) },
		"redirect":       func(w *writer, _ int) { w.Header().Set("Location", "http://h/?k="+key); w.WriteHeader(307) },
	} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, answer, edit)
			if s.Cause == "" || s.Error == "" || len(s.Error) > 200 {
				t.Errorf("cause %q, error %q", s.Cause, s.Error)
			}
			for _, secret := range []string{key, key[:12], "hdr-secret", "query-secret", "hunter2", "Ym9iOm"} {
				if strings.Contains(s.Error, secret) {
					t.Errorf("%q is in %q", secret, s.Error)
				}
			}
			if name == "refusal" && (s.Error != "Incorrect API key provided: ***" || s.Cause != "http_401") {
				t.Errorf("error %q", s.Error)
			}
		})
	}
	cfg := Config{}
	edit(&cfg)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Endpoint(); got != "http://h/v1/chat/completions?api-key=***&version=3" {
		t.Errorf("endpoint %s", got)
	}
}
