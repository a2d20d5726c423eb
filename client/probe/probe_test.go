package probe

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

func TestParse(t *testing.T) {
	some := load.Some[float64]
	for file, want := range map[string]load.Server{
		"vllm.txt": {
			Engine: "vllm", Running: some(40), Waiting: some(8), KVUse: some(0.75), Preemptions: some(2),
			PrefixHits: some(900), PrefixQueries: some(1000),
		},
		"vllm-v0.txt":  {Engine: "vllm", Running: some(7), Waiting: some(0), KVUse: some(0.5), PrefixHits: some(1), PrefixQueries: some(10)},
		"sglang.txt":   {Engine: "sglang", Running: some(8), Waiting: some(4), KVUse: some(0.52)},
		"tgi.txt":      {Engine: "tgi", Running: some(4), Waiting: some(7)},
		"llamacpp.txt": {Engine: "llama.cpp", Running: some(4), Waiting: some(46)},
	} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(bytes.NewReader(text))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", file, got, err, want)
		}
		// Lines of another kind, and the end of a cut answer, take nothing away.
		got, err = Parse(strings.NewReader("# TYPE go_threads gauge\ngo_threads 12\n" + string(text) + "# TYPE x counter\nx{a=\"b"))
		if err != nil || got != want {
			t.Errorf("%s with more: %+v, %v", file, got, err)
		}
	}
	for _, text := range []string{"", "<html>", "# TYPE go_threads gauge\ngo_threads 12\n", "vllm:num_requests_running NaN\n", "{\"running\": 3}"} {
		if s, err := Parse(strings.NewReader(text)); err == nil {
			t.Errorf("%q gives %+v", text, s)
		}
	}
}

func TestAddress(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://h:8000/v1/chat/completions":              "http://h:8000/metrics",
		"https://bob:secret@h/openai/v1?key=very-secret": "https://h/metrics",
	} {
		if got, err := Address(endpoint); err != nil || got != want {
			t.Errorf("%s: %q, %v", endpoint, got, err)
		}
	}
	if _, err := Address("/v1"); err == nil {
		t.Error("an address without a host has metrics")
	}
}

// TestRead sends no key, and an answer that is none is an error.
func TestRead(t *testing.T) {
	answer := http.HandlerFunc(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		answer(w, r)
	}))
	defer s.Close()
	epoch := time.Now().Add(-time.Minute)
	p := New(s.URL+"/metrics", s.Client().Transport, epoch)
	answer = func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/tgi.txt") }
	if got, err := p.Read(t.Context()); err != nil || got.Running.V != 4 || got.At < time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
	answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	if _, err := p.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("401: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Read(ctx); err == nil {
		t.Error("an ended context is asked")
	}
}

// FuzzParse: whatever a server sends, there is an answer or an error.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"vllm.txt", "sglang.txt", "tgi.txt", "llamacpp.txt"} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(bytes.NewReader(text))
		if (err == nil) != s.Running.OK {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
