package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

func sampleDoc(t *testing.T, s load.Sample) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := SampleJSON(&b, s); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	checkKeys(t, "sample", doc, `schema outcome cause status error retry_after_ms output_tokens token_source prompt_tokens cached_tokens
		reasoning_tokens hidden_tokens finish_reason model fingerprint text connect_ms ttft_ms ttfc_ms tpot_ms itl_mean_ms
		icl_mean_ms last_token_ms e2e_ms chunks malformed_frames reused replayed retries protocol clock warnings`)
	return doc
}

func check(t *testing.T, doc map[string]any, want map[string]any) {
	t.Helper()
	for name, w := range want {
		if doc[name] != w {
			t.Errorf("%s is %v, want %v", name, doc[name], w)
		}
	}
}

const ms = time.Millisecond

func TestSampleOfThreeTokens(t *testing.T) {
	doc := sampleDoc(t, load.Sample{
		Sent: 1000 * ms, End: 1401 * ms, Dialled: true, Connect: 300 * time.Microsecond, Streaming: true, ContentAt: 1,
		Chunks: []load.Chunk{{At: 1200 * ms}, {At: 1300 * ms}, {At: 1400 * ms}},
		Status: 200, OutputTokens: 3, TokenSource: load.SourceServer, PromptTokens: load.Some(7), FinishReason: "stop", Model: "m", Text: "a<b",
		Clock: "kernel", Protocol: "HTTP/1.1",
	})
	check(t, doc, map[string]any{
		"schema": "kneesweep/sample/v1", "outcome": "ok", "cause": nil, "status": 200.0, "error": nil, "output_tokens": 3.0,
		"token_source": "server", "prompt_tokens": 7.0, "cached_tokens": nil, "hidden_tokens": nil, "connect_ms": 0.3,
		"ttft_ms": 200.0, "ttfc_ms": 200.0, "tpot_ms": 100.0, "itl_mean_ms": 100.0, "icl_mean_ms": 100.0, "last_token_ms": 400.0,
		"e2e_ms": 401.0, "chunks": 3.0, "text": "a<b", "fingerprint": nil, "clock": "kernel",
	})
}

func TestSampleGapsByTokens(t *testing.T) {
	chunks := func(tokens ...int32) []load.Chunk {
		var all []load.Chunk
		for i, n := range tokens {
			all = append(all, load.Chunk{At: time.Duration(i+1) * 60 * ms, Tokens: n})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		sample   load.Sample
		itl, icl any
	}{
		{"increments", load.Sample{OutputTokens: 9, Chunks: chunks(4, 3, 2)}, 24.0, 60.0},
		{"spread evenly", load.Sample{OutputTokens: 9, Chunks: chunks(0, 0, 0)}, 20.0, 60.0},
		{"hidden tokens left out", load.Sample{OutputTokens: 109, HiddenTokens: 100, Chunks: chunks(0, 0, 0)}, 20.0, 60.0},
		{"one token", load.Sample{OutputTokens: 1, Chunks: chunks(0, 0)}, nil, 60.0},
		{"one chunk", load.Sample{OutputTokens: 9, Chunks: chunks(9)}, nil, nil},
		{"none", load.Sample{}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, sampleDoc(t, c.sample), map[string]any{"itl_mean_ms": c.itl, "icl_mean_ms": c.icl})
		})
	}
}

func TestSampleThatFailed(t *testing.T) {
	doc := sampleDoc(t, load.Sample{
		Cause: load.HTTPCause(429), Status: 429, Error: strings.Repeat("é", 150), RetryAfter: load.Some(2 * time.Second), End: 5 * ms,
	})
	check(t, doc, map[string]any{
		"outcome": "failed", "cause": "http_429", "status": 429.0, "retry_after_ms": 2000.0, "output_tokens": 0.0, "token_source": nil,
		"error": strings.Repeat("é", 100), "ttft_ms": nil, "tpot_ms": nil, "last_token_ms": nil, "connect_ms": nil, "e2e_ms": 5.0,
	})
	if doc["warnings"] == nil {
		t.Error("warnings is null, want a list")
	}
	check(t, sampleDoc(t, load.Sample{Cause: load.CauseConnect}), map[string]any{"status": nil})
}
