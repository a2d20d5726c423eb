package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// keys lists what an object must hold: names separated by spaces, an object in
// an object as name{…}.
type keys string

const (
	interval     = "{value lo hi}"
	distribution = "{p50 p90 p95 p99 mean}"
)

// curveKeys are the names in the curve that scripts rely on.
var curveKeys = keys(`schema
	run{id started tool target model label seed dataset_hash status stop_reason
		request{input_tokens_asked input_tokens_got_mean output_tokens_asked stream dialect cache source extra insecure}
		settings{window_ms measurements passes think_ms warmup slo} truth{knee admission_limit}}
	steps
	knee{verdict concurrency lower_bound plateau_tokens_per_second slope_tokens_per_second_per_stream retrograde soft n95 method warnings}
	estimates admission_limit cause recommended{concurrency limited_by reason} warnings`)

var stepKeys = keys(strings.NewReplacer("(i)", interval, "(d)", distribution).Replace(`concurrency valid invalid_reason steady measurements
	output_tokens_per_second(i) requests_per_second goodput_requests_per_second slo decode_tokens_per_second(d)
	ttft_ms(d) ttfc_ms(d) connect_ms(d) tpot_ms(d) itl_ms(d) icl_ms(d) e2e_ms(d)
	in_flight{mean peak} decode_concurrency{mean mode p90 peak} littles_law waves
	started finished failed in_flight_at_end failures error_rate backoff_ms
	token_source hidden_share cached_share output_length_mean models connections_opened connections_reused
	replayed retries dispatch_delay_ms{p50 p99} client{cpu lag_p99_ms bound} warnings`))

var sampleKeys = keys(`schema outcome cause status error retry_after_ms output_tokens token_source prompt_tokens cached_tokens
	reasoning_tokens hidden_tokens finish_reason model fingerprint text connect_ms ttft_ms ttfc_ms tpot_ms itl_mean_ms icl_mean_ms
	last_token_ms e2e_ms chunks malformed_frames reused replayed retries protocol clock warnings`)

// check reports every name that object lacks, below the path where.
func (k keys) check(t *testing.T, where string, object any) {
	t.Helper()
	k.walk(t, where, object, strings.Fields(strings.NewReplacer("{", " { ", "}", " } ").Replace(string(k))))
}

func (k keys) walk(t *testing.T, where string, object any, words []string) []string {
	t.Helper()
	m, ok := object.(map[string]any)
	if !ok {
		t.Errorf("%s is %T, want an object", where, object)
	}
	for len(words) > 0 {
		name := words[0]
		words = words[1:]
		if name == "}" {
			return words
		}
		v, there := m[name]
		if ok && !there {
			t.Errorf("%s lacks %q", where, name)
		}
		if len(words) > 0 && words[0] == "{" {
			words = k.walk(t, where+"."+name, v, words[1:])
		}
	}
	return nil
}

// undefined wants null under each path.
func undefined(t *testing.T, object any, paths string) {
	t.Helper()
	for _, path := range strings.Fields(paths) {
		if v := at(t, object, path); v != nil {
			t.Errorf("%s is %v, want null", path, v)
		}
	}
}

func TestCurveKeepsTheContract(t *testing.T) {
	t.Parallel()
	doc := object(t, shared().out)
	curveKeys.check(t, "curve", doc)
	if doc["schema"] != "kneesweep/curve/v1" {
		t.Errorf("schema %v", doc["schema"])
	}
	for i, step := range doc["steps"].([]any) {
		where := fmt.Sprintf("steps[%d]", i)
		stepKeys.check(t, where, step)
		number := func(path string) float64 { v, _ := at(t, step, path).(float64); return v }
		if number("started") != number("finished")+number("failed")+number("in_flight_at_end") {
			t.Errorf("%s: started %v is not finished %v + failed %v + in flight %v", where,
				number("started"), number("finished"), number("failed"), number("in_flight_at_end"))
		}
		if !strings.HasPrefix(fmt.Sprint(at(t, step, "token_source")), "server") || number("output_tokens_per_second.value") <= 0 {
			t.Errorf("%s: %v tokens/s from %v", where, number("output_tokens_per_second.value"), at(t, step, "token_source"))
		}
		undefined(t, step, "slo goodput_requests_per_second cached_share littles_law")
		if (at(t, step, "invalid_reason") == nil) != (at(t, step, "valid") == true) {
			t.Errorf("%s: valid %v, reason %v", where, at(t, step, "valid"), at(t, step, "invalid_reason"))
		}
	}
	undefined(t, doc, "run.request.extra run.settings.slo run.label run.stop_reason knee.concurrency knee.retrograde knee.n95 admission_limit recommended.concurrency recommended.limited_by")
	if doc["warnings"] == nil || at(t, doc, "knee.warnings") == nil {
		t.Error("lists without elements are null")
	}
}

func TestSampleKeepsTheContract(t *testing.T) {
	t.Parallel()
	r := command("ping", "--json", "--output-tokens", "3")
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	sampleKeys.check(t, "sample", doc)
	undefined(t, doc, "cause error retry_after_ms cached_tokens reasoning_tokens fingerprint")
	if doc["schema"] != "kneesweep/sample/v1" || doc["outcome"] != "ok" || doc["output_tokens"] != 3.0 || doc["chunks"] != 3.0 {
		t.Errorf("sample %v", doc)
	}

	r = command("ping", "--json", "--url", "http://127.0.0.1:1", "--model", "m")
	doc = object(t, r.out)
	sampleKeys.check(t, "failed sample", doc)
	undefined(t, doc, "ttft_ms ttfc_ms tpot_ms itl_mean_ms icl_mean_ms last_token_ms finish_reason token_source prompt_tokens")
	if r.code != exitFailed || doc["outcome"] != "failed" || doc["cause"] != "connect" {
		t.Errorf("exit %d, sample %v", r.code, doc)
	}
}

// TestPingSaysWhatHappened prints for people.
func TestPingSaysWhatHappened(t *testing.T) {
	t.Parallel()
	r := command("ping", "--output-tokens", "3")
	for _, want := range []string{"outcome        ok", "output tokens  3 (server)", "finish reason  length", "TTFT", "prompt tokens  64"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	r = command("ping", "--url", "http://127.0.0.1:1", "--model", "m")
	if r.code != exitFailed || !strings.Contains(r.out, "failed: connect") || !strings.Contains(r.out, "connect        –") {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// TestCurvesOfSeveralFiles are one document, a list.
func TestCurvesOfSeveralFiles(t *testing.T) {
	t.Parallel()
	csv := write(t, "a.csv", "concurrency,output_tokens_per_second\n1,10\n2,20\n")
	r := command("analyze", filepath.Join(shared().dir, journalFile), csv, "--json")
	doc := object(t, `{"list":`+r.out+`}`)
	list, ok := doc["list"].([]any)
	if r.code != 0 || !ok || len(list) != 2 {
		t.Fatalf("exit %d, %s", r.code, r.err)
	}
	for _, c := range list {
		keys(strings.Replace(string(curveKeys), "truth{knee admission_limit}", "truth", 1)).check(t, "curve", c)
	}
	undefined(t, list[1], "run.truth run.model")
}
