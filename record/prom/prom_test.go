package prom

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

var run = load.Run{Target: "http://llm:8000/v1", Model: "m", Started: time.Unix(1000, 5e8)}

func finished() *Metrics {
	m := New(run)
	m.Level(8)
	m.Sample(&load.Sample{OutputTokens: 40})
	m.Sample(&load.Sample{Cause: load.CauseReset})
	m.Sample(&load.Sample{Cause: load.CauseCanceled, OutputTokens: 3})
	m.Finish(Result{
		Verdict: "knee", Status: load.StatusComplete, Usable: true, Ended: time.Unix(1060, 0), Plateau: load.Some(2400.0), Recommended: load.Some(24),
		Knee: load.Some(load.Estimate{Value: 24.5, Lo: 23, Hi: 26}), Regression: load.Some(true),
		Steps: []load.Step{
			{Concurrency: 8, Valid: true, Throughput: load.Some(load.Estimate{Value: 800}), TTFT: load.Dist{P50: 0.05, P95: 0.09, P99: 0.1, Count: 9}, ErrorRate: load.Some(0.25)},
			{Concurrency: 16, Throughput: load.Some(load.Estimate{Value: 999})},
		},
	})
	return m
}

// wanted are lines that the metrics must have.
var wanted = []string{
	`kneesweep_requests_total{label="",model="m",outcome="ok",target="http://llm:8000/v1"} 1`,
	`kneesweep_requests_total{label="",model="m",outcome="stopped",target="http://llm:8000/v1"} 1`,
	`kneesweep_failures_total{cause="reset",label="",model="m",target="http://llm:8000/v1"} 1`,
	`kneesweep_output_tokens_total{label="",model="m",target="http://llm:8000/v1"} 43`,
	`kneesweep_start_timestamp_seconds{label="",model="m",target="http://llm:8000/v1"} 1000.5`,
	`kneesweep_end_timestamp_seconds{label="",model="m",target="http://llm:8000/v1"} 1060`,
	`kneesweep_success{label="",model="m",target="http://llm:8000/v1"} 1`,
	`kneesweep_regression{label="",model="m",target="http://llm:8000/v1"} 1`,
	`kneesweep_verdict_info{label="",model="m",status="complete",target="http://llm:8000/v1",verdict="knee"} 1`,
	`kneesweep_knee_streams{label="",model="m",target="http://llm:8000/v1"} 24.5`,
	`kneesweep_knee_streams_upper{label="",model="m",target="http://llm:8000/v1"} 26`,
	`kneesweep_plateau_tokens_per_second{label="",model="m",target="http://llm:8000/v1"} 2400`,
	`kneesweep_recommended_streams{label="",model="m",target="http://llm:8000/v1"} 24`,
	`kneesweep_level_output_tokens_per_second{concurrency="8",label="",model="m",target="http://llm:8000/v1"} 800`,
	`kneesweep_level_ttft_seconds{concurrency="8",label="",model="m",quantile="0.95",target="http://llm:8000/v1"} 0.09`,
	`kneesweep_level_error_ratio{concurrency="8",label="",model="m",target="http://llm:8000/v1"} 0.25`,
	`kneesweep_level_valid{concurrency="16",label="",model="m",target="http://llm:8000/v1"} 0`,
}

func checkText(t *testing.T, text string) {
	t.Helper()
	for _, line := range wanted {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, `rate_tokens_per_second{concurrency="16"`) || strings.Contains(text, "999") {
		t.Error("a level that is not valid has figures")
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.prom")
	for range 2 { // over an older one
		if err := finished().WriteFile(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, string(b))
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
	if err := finished().WriteFile(filepath.Join(path, "x.prom")); err == nil {
		t.Error("written below a file")
	}
}

func TestHandler(t *testing.T) {
	w := httptest.NewRecorder()
	finished().Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	checkText(t, w.Body.String())
	w = httptest.NewRecorder()
	New(run).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if text := w.Body.String(); strings.Contains(text, "knee_streams") || !strings.Contains(text, `kneesweep_requests_total{label="",model="m",outcome="ok"`) {
		t.Errorf("before the end: %s", text)
	}
}

// A set serves the last metrics of each target, in one document.
func TestSet(t *testing.T) {
	var s Set
	get := func() string {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusOK {
			t.Errorf("HTTP %d", w.Code)
		}
		return w.Body.String()
	}
	if text := get(); text != "" {
		t.Errorf("of nothing: %s", text)
	}
	other := run
	other.Target = "http://other/v1"
	s.Put(New(other))
	s.Put(New(run))
	s.Put(finished())
	text := get()
	checkText(t, text)
	if strings.Count(text, "# TYPE kneesweep_requests_total") != 1 || !strings.Contains(text, `kneesweep_streams{label="",model="m",target="http://other/v1"} 0`) {
		t.Error(text)
	}
}

// A gateway gets the metrics of a target in one group, by its own way to ask for a
// password, and no error shows the address.
func TestPush(t *testing.T) {
	var method, path, user, password string
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path = r.Method, r.URL.Path
		user, password, _ = r.BasicAuth()
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "echo s3cret-pw")
	}))
	defer s.Close()
	address := strings.Replace(s.URL, "http://", "http://bob:s3cret-pw@", 1)
	if err := finished().Push(context.Background(), address, http.DefaultClient); err != nil {
		t.Fatal(err)
	}
	if method != http.MethodPut || !strings.HasPrefix(path, "/metrics/job/kneesweep/") || !strings.Contains(path, "/model/m") || user != "bob" || password != "s3cret-pw" {
		t.Errorf("%s %s as %s:%s", method, path, user, password)
	}
	status = http.StatusBadRequest
	for _, a := range []string{address, "http://bob:s3cret-pw@127.0.0.1:1", "::s3cret-pw"} {
		if err := finished().Push(context.Background(), a, http.DefaultClient); err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "bob") {
			t.Errorf("%s: %v", a, err)
		}
	}
}
