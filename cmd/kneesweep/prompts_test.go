package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// received keeps the bodies of the requests for completions.
type received struct {
	mu     sync.Mutex
	bodies []body
}

type body struct {
	Messages []struct{ Role, Content string }
	Limit    int `json:"max_tokens"`
}

// keep is an endpoint that keeps what it is asked.
func (r *received) keep(next served) served {
	return func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		var b body
		if json.Unmarshal(raw, &b) == nil && len(b.Messages) > 0 {
			r.mu.Lock()
			r.bodies = append(r.bodies, b)
			r.mu.Unlock()
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
		next(w, req)
	}
}

// all returns what was kept.
func (r *received) all() []body {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bodies)
}

// questions is a file of n prompts; one of them has turns and a limit.
func questions(n int) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, "{\"prompt\":\"Question %d?\"}\n", i)
	}
	return b.String() + `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}],"max_tokens":3,"temperature":1}` + "\n"
}

func TestPromptsOfAFile(t *testing.T) {
	t.Parallel()
	var got received
	url := endpoint(t, got.keep)
	content := questions(20)
	path := write(t, "mine.jsonl", content)
	r := command(quick("--url", url, "--model", "sim", "--json", "--prompts", path, "--out", filepath.Join(t.TempDir(), "run"))...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	sum := sha256.Sum256([]byte(content))
	if h := at(t, doc, "run.dataset_hash"); h != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("hash %v", h)
	}
	request := at(t, doc, "run.request")
	undefined(t, request, "input_tokens_asked output_tokens_asked")
	if at(t, request, "source") != "mine.jsonl: 20 prompts, answers of at most 3 to 8 tokens" || at(t, request, "input_tokens_got_mean") == nil {
		t.Errorf("request %v", request)
	}
	if cache := fmt.Sprint(at(t, request, "cache")); !strings.Contains(cache, "18 lines to measure and 2 lines for warm-ups alone") {
		t.Errorf("cache: %s", cache)
	}
	turns := 0
	for _, b := range got.all() {
		last := b.Messages[len(b.Messages)-1].Content
		switch {
		case len(b.Messages) == 2 && last == "Why?" && b.Limit == 3:
			turns++
		case len(b.Messages) != 1 || b.Messages[0].Role != "user" || !strings.HasPrefix(last, "Question ") || b.Limit != 8:
			t.Errorf("asked %+v", b)
		}
	}
	if turns == 0 || turns == len(got.all()) {
		t.Errorf("%d of %d requests had turns", turns, len(got.all()))
	}
}

// TestPromptsElsewhere pings with a file, plans with one, and asks the embedded
// endpoint.
func TestPromptsElsewhere(t *testing.T) {
	t.Parallel()
	path := write(t, "one.jsonl", `{"prompt":"Why is the sky blue?"}`)
	if doc := object(t, command("ping", "--json", "--prompts", path, "--output-tokens", "3").out); doc["prompt_tokens"] != 5.0 || doc["output_tokens"] != 3.0 {
		t.Errorf("%v prompt tokens, %v output tokens", doc["prompt_tokens"], doc["output_tokens"])
	}
	r := command("sweep", "--dry-run", "--levels", "4", "--prompts", path, "--token-budget", "450")
	if r.code != 0 || !strings.Contains(r.out, "requests at most  455 (about 45 tokens each") || !strings.Contains(r.out, "tokens at most    630 ") {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
	r = command(quick("--prompts", path, "--json", "--out", filepath.Join(t.TempDir(), "run"))...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if at(t, doc, "run.truth.knee") != 24.0 || at(t, doc, "run.request.output_tokens_asked") != 8.0 || at(t, doc, "run.request.input_tokens_asked") != nil {
		t.Errorf("run %v", doc["run"])
	}
	if cache := fmt.Sprint(at(t, doc, "run.request.cache")); !strings.Contains(cache, "one prompt") {
		t.Errorf("cache: %s", cache)
	}
}

// TestPromptsStartDifferently looks at what reaches a server: no two requests of a
// sweep begin alike, the preflight and warm-ups included.
func TestPromptsStartDifferently(t *testing.T) {
	t.Parallel()
	for _, tokens := range []string{"1", "64"} {
		var got received
		url := endpoint(t, got.keep)
		r := command(quick("--url", url, "--model", "sim", "--input-tokens", tokens, "--out", filepath.Join(t.TempDir(), "run"))...)
		if !swept(r) || len(got.all()) < 30 {
			t.Fatalf("exit %d, %d requests: %s", r.code, len(got.all()), r.err)
		}
		seen := map[string]bool{}
		for _, b := range got.all() {
			start := b.Messages[0].Content
			start = start[:min(32, len(start))]
			if seen[start] {
				t.Errorf("--input-tokens %s: two prompts start with %q", tokens, start)
			}
			seen[start] = true
		}
	}
}

// TestCachedPromptsAreSaid sweeps a server that takes 900 of 1000 prompt tokens from its
// cache.
func TestCachedPromptsAreSaid(t *testing.T) {
	t.Parallel()
	const answer = `data: {"model":"sim","choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n" +
		`data: {"model":"sim","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"model":"sim","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":900}}}` + "\n\ndata: [DONE]\n\n"
	url := endpoint(t, func(served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Millisecond)
			says(http.StatusOK, "text/event-stream", answer)(w, r)
		}
	})
	r := command(quick("--token-budget", "1000000000", "--url", url, "--model", "sim", "--json", "--out", filepath.Join(t.TempDir(), "run"))...)
	doc := object(t, r.out)
	if len(doc["steps"].([]any)) != 4 {
		t.Fatalf("exit %d: %s%s", r.code, r.err, r.out)
	}
	for _, step := range doc["steps"].([]any) {
		if at(t, step, "cached_share") != 0.9 {
			t.Errorf("cached share %v", at(t, step, "cached_share"))
		}
		if !slices.ContainsFunc(at(t, step, "warnings").([]any), func(w any) bool {
			return at(t, w, "code") == "high_cache_share" && strings.HasPrefix(fmt.Sprint(at(t, w, "text")), "90 % of the prompt tokens")
		}) {
			t.Errorf("warnings %v", at(t, step, "warnings"))
		}
	}
}
