//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// restartSettings is a sweep of half a minute.
var restartSettings = []string{"--levels", "1,2,4,6,8", "--window", "500ms", "--measurements", "8", "--output-tokens", "64", "--timeout-idle", "10s"}

// restart kills the real server in the middle of a sweep and starts it again two
// seconds later. The sweep ends by itself, and says what happened. The server that
// is started again is ended with t.
func (k kneesweep) restart(t *testing.T, s *server, target []string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	args := slices.Concat([]string{"sweep"}, target, restartSettings, []string{"--out", out})
	cmd := exec.CommandContext(k.ctx, k.binary, args...)
	cmd.Dir, cmd.Env = k.home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var err error
	go func() { defer close(ended); err = cmd.Wait() }()

	waitForVisit(t, filepath.Join(out, "journal.jsonl"), 6, ended)
	time.Sleep(700 * time.Millisecond)
	s.kill()
	time.Sleep(2 * time.Second)
	s.serve(k.ctx, t)
	<-ended
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("the sweep ended after %.0f s with exit code %d", time.Since(began).Seconds(), cmd.ProcessState.ExitCode())
	checkRestart(t, out, stdout.Bytes(), stderr.String(), cmd.ProcessState.ExitCode())
}

// waitForVisit waits until the journal tells of a visit to a level.
func waitForVisit(t *testing.T, path string, level int, ended <-chan struct{}) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		content, _ := os.ReadFile(path)
		if bytes.Contains(content, fmt.Appendf(nil, `"Concurrency":%d,`, level)) {
			return
		}
		select {
		case <-ended:
			t.Fatalf("the sweep ended before it was at %d streams", level)
		case <-poll.C:
		}
	}
}

func checkRestart(t *testing.T, out string, live []byte, stderr string, code int) {
	t.Helper()
	var c curve
	decode(t, live, &c)
	t.Logf("killed and restarted%s", c.table())
	_, file := readOutput(t, out, "curve.json")
	sameJSON(t, "curve.json against standard output", file, live)
	checkFigure(t, out, "curve.png")
	_, page := readOutput(t, out, "report.md")
	valid, failed := 0, 0
	for _, s := range c.Steps {
		if s.Valid {
			valid++
		}
		failed += s.Failed
		for cause, n := range s.Failures {
			t.Logf("N = %d: %d %s", s.Concurrency, n, cause)
			if !slices.Contains([]string{"connect", "reset", "truncated"}, cause) && !strings.HasPrefix(cause, "http_5") {
				t.Errorf("N = %d: %d requests failed with %s", s.Concurrency, n, cause)
			}
			if row := fmt.Sprintf("| %d | %s | %d |", s.Concurrency, strings.ReplaceAll(cause, "_", `\_`), n); !bytes.Contains(page, []byte(row)) {
				t.Errorf("report.md has no row %q", row)
			}
		}
	}
	if failed == 0 {
		t.Error("no request failed")
	}
	want := 0
	if valid == 0 || valid < 4 && c.Run.Status == "stopped" {
		want = 4
	}
	if code != want || strings.Contains(stderr, "panic") {
		t.Errorf("exit %d with %d valid levels and status %s, want %d\n%s", code, valid, c.Run.Status, want, stderr)
	}
}

// TestEverythingFails is about exit codes and files when a server fails always, and
// when it dies after the second of four levels.
func TestEverythingFails(t *testing.T) {
	k := buildKneesweep(testContext(t), t)
	t.Run("always", func(t *testing.T) {
		url := failing(t, 0)
		dir := filepath.Join(t.TempDir(), "run")
		code, out, text := k.try(t, "sweep", "--url", url, "--model", "m", "--out", dir)
		if code != 1 || out != "" || !strings.Contains(text, "(http_500): simulated") {
			t.Errorf("exit %d, stdout %q\n%s", code, out, text)
		}
		_, page := readOutput(t, dir, "report.md")
		if !bytes.Contains(page, []byte(`| preflight | http\_500 | 1 |`)) {
			t.Errorf("no failure by cause in report.md:\n%s", page)
		}
	})
	for name, streams := range map[string]int64{"once the preflight is over": 1, "after two levels": 4} {
		t.Run(name, func(t *testing.T) {
			url := failing(t, streams)
			dir := filepath.Join(t.TempDir(), "run")
			code, out, text := k.try(t, "sweep", "--url", url, "--model", "m", "--out", dir, "--levels", "2,3,4,8",
				"--window", "300ms", "--measurements", "4", "--warmup", "2", "--output-tokens", "8")
			if code != 4 || !strings.Contains(text, "kneesweep: ") || !strings.Contains(out, "Failures\n  level ") || !strings.Contains(out, " http_500") {
				t.Errorf("exit %d\n%s%s", code, out, text)
			}
			_, page := readOutput(t, dir, "report.md")
			if !bytes.Contains(page, []byte("## Failures")) || !bytes.Contains(page, []byte(`http\_500`)) {
				t.Errorf("no failures by cause in report.md:\n%s", page)
			}
			checkFigure(t, dir, "curve.png")
			_, file := readOutput(t, dir, "curve.json")
			var c curve
			decode(t, file, &c)
			if regexp.MustCompile(`"output_tokens_per_second":\s*\{\s*"value":\s*0[,.\s]`).Match(file) {
				t.Errorf("a level has 0 tokens/s:\n%s", file)
			}
			failures := 0
			for _, s := range c.Steps {
				failures += s.Failures["http_500"]
			}
			if failures == 0 || c.Run.Status != "stopped" || c.Knee.Concurrency != nil {
				t.Errorf("%d failures, status %s, knee %v", failures, c.Run.Status, c.Knee.Concurrency)
			}
		})
	}
}

// failing serves short answers until so many requests were in flight at once, and
// 500 from then on.
func failing(t *testing.T, streams int64) (url string) {
	t.Helper()
	var inFlight, served atomic.Int64
	var dead atomic.Bool
	dead.Store(streams == 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		defer inFlight.Add(-1)
		if n := inFlight.Add(1); n >= streams && (streams > 1 || served.Load() > 0) {
			dead.Store(true)
		}
		served.Add(1)
		if dead.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":{"message":"simulated"}}`)
			return
		}
		stream(w)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// stream writes eight tokens, one each 5 ms.
func stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range 8 {
		time.Sleep(5 * time.Millisecond)
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.WriteString(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":8}}`+"\n\ndata: [DONE]\n\n")
}
