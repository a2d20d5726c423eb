package main

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// TestSweepEmbedded checks what one sweep leaves behind. It has the machine for
// itself.
func TestSweepEmbedded(t *testing.T) {
	s := shared()
	if s.code != 0 {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	if !strings.HasSuffix(s.err, "written to "+s.dir+"\n") {
		t.Errorf("stderr does not end with the folder: %s", s.err)
	}
	checkRun(t, s.result, s.dir)
	doc := object(t, s.out)
	if at(t, doc, "run.status") != "complete" || len(doc["steps"].([]any)) != 4 || at(t, doc, "run.truth.knee") != 24.0 {
		t.Errorf("status %v, %d steps, truth %v", at(t, doc, "run.status"), len(doc["steps"].([]any)), at(t, doc, "run.truth"))
	}
	report := read(t, filepath.Join(s.dir, reportFile))
	for _, want := range []string{figureFile, "24"} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is not in the report", want)
		}
	}
}

// checkRun wants the five files of a run, and the same document on stdout, in
// curve.json and from the journal.
func checkRun(t *testing.T, r result, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "curve.json curve.png journal.jsonl report.html report.md" {
		t.Errorf("the folder holds %s", got)
	}
	object(t, r.out)
	if r.out != read(t, filepath.Join(dir, curveFile)) {
		t.Error("stdout is not curve.json")
	}
	for _, path := range []string{filepath.Join(dir, journalFile), filepath.Join(dir, curveFile), dir} {
		again := command("analyze", "--json", path)
		if again.code != 0 || again.out != r.out || again.err != "" {
			t.Errorf("analyze %s: exit %d, stderr %q, the same document: %v", filepath.Base(path), again.code, again.err, again.out == r.out)
		}
	}
	img, err := png.Decode(bytes.NewReader([]byte(read(t, filepath.Join(dir, figureFile)))))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 400 || b.Dy() < 300 {
		t.Errorf("the figure is %v", b)
	}
}

// TestSweepAgainstAnEndpoint sweeps by address and writes a table.
func TestSweepAgainstAnEndpoint(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "er")
	r := command(quick("--url", endpoint(t, func(next served) served { return next }), "--model", "sim", "--output-tokens", "5", "--label", "mine", "--out", dir)...)
	if !swept(r) || strings.Contains(r.out, "{") || !strings.Contains(r.out, "loop") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	doc := object(t, command("analyze", "--json", dir).out)
	if at(t, doc, "run.label") != "mine" || at(t, doc, "run.model") != "sim" || at(t, doc, "run.truth") != nil {
		t.Errorf("run is %v", doc["run"])
	}
}

// TestInterrupted ends a sweep by signal at several moments: nothing measured is
// lost, the files are there, and the exit code names the signal.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		after  int64 // requests, the preflight included
		signal syscall.Signal
		code   int
		reason string
	}{
		{"during the warm-up", 2, syscall.SIGINT, exitSIGINT, "SIGINT (Ctrl-C)"},
		{"in the middle", 60, syscall.SIGTERM, exitSIGTERM, "SIGTERM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			var n atomic.Int64
			url := endpoint(t, func(next served) served {
				if n.Add(1) == c.after {
					cancel(interrupted{c.signal})
				}
				return next
			})
			dir := filepath.Join(t.TempDir(), "run")
			r := commandContext(ctx, quick("--url", url, "--model", "sim", "--output-tokens", "5", "--json", "--out", dir)...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d: %s", r.code, c.code, r.err)
			}
			checkRun(t, r, dir)
			doc := object(t, r.out)
			if at(t, doc, "run.status") != "interrupted" || at(t, doc, "run.stop_reason") != c.reason {
				t.Errorf("status %v, reason %v", at(t, doc, "run.status"), at(t, doc, "run.stop_reason"))
			}
		})
	}
}

// TestInterruptedBeforeTheFirstMeasurement leaves no folder behind.
func TestInterruptedBeforeTheFirstMeasurement(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	url := endpoint(t, func(served) served {
		return func(_ http.ResponseWriter, r *http.Request) {
			cancel(interrupted{syscall.SIGINT})
			<-r.Context().Done()
		}
	})
	dir := filepath.Join(t.TempDir(), "run")
	r := commandContext(ctx, quick("--url", url, "--model", "sim", "--json", "--out", dir)...)
	if r.code != exitSIGINT || r.out != "" || r.err != "kneesweep: interrupted before the first measurement\n" {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
}

// TestNothingValid is exit code 4: the preflight succeeds, then every request
// fails. The account is written all the same.
func TestNothingValid(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	url := endpoint(t, func(next served) served {
		if n.Add(1) == 1 {
			return next
		}
		return says(500, "application/json", `{"error":{"message":"out of memory"}}`)
	})
	dir := filepath.Join(t.TempDir(), "run")
	r := command(quick("--url", url, "--model", "sim", "--levels", "8,16", "--json", "-v", "--out", dir)...)
	if r.code != exitNoCurve || !strings.HasSuffix(r.err, "; the causes are in the table\n") || !strings.Contains(r.err, "kneesweep: no level could be measured, since levels from 8 streams on ended as failing") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if !strings.Contains(r.err, "failed: http_500 out of memory") {
		t.Errorf("-v does not say the failures: %s", r.err)
	}
	checkRun(t, r, dir)
	doc := object(t, r.out)
	step := doc["steps"].([]any)[0]
	failures := at(t, step, "failures").(map[string]any)
	if at(t, step, "valid") != false || at(t, step, "output_tokens_per_second.value") != nil || failures["http_500"] == nil {
		t.Errorf("valid %v, failures %v", at(t, step, "valid"), failures)
	}
	if at(t, doc, "knee.concurrency") != nil || at(t, doc, "recommended.concurrency") != nil || at(t, doc, "run.status") != "stopped" {
		t.Errorf("knee %v, recommended %v, status %v", doc["knee"], doc["recommended"], at(t, doc, "run.status"))
	}
}

// TestStoppedByFailures is exit code 4 as well: beyond eight requests in flight the endpoint
// refuses, so that fewer than four levels are valid.
func TestStoppedByFailures(t *testing.T) {
	t.Parallel()
	var inFlight atomic.Int64
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			defer inFlight.Add(-1)
			if inFlight.Add(1) > 8 {
				next = says(503, "text/plain", "busy")
			}
			next(w, r)
		}
	})
	r := command(quick("--url", url, "--model", "sim", "--output-tokens", "5", "--levels", "1,2,32,64", "--json", "--out", filepath.Join(t.TempDir(), "run"))...)
	none := strings.Contains(r.err, "kneesweep: no level could be measured, since levels from") // on a busy machine
	if r.code != exitNoCurve || !strings.Contains(r.err, "kneesweep: stopped with ") && !none {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if at(t, doc, "run.status") != "stopped" || at(t, doc["steps"].([]any)[2], "valid") != false {
		t.Errorf("status %v, %d steps", at(t, doc, "run.status"), len(doc["steps"].([]any)))
	}
}

// TestSweepExit maps outcomes to exit codes.
func TestSweepExit(t *testing.T) {
	t.Parallel()
	signalled, cancel := context.WithCancelCause(context.Background())
	cancel(interrupted{syscall.SIGTERM})
	for _, c := range []struct {
		name   string
		ctx    context.Context
		valid  int
		status load.Status
		ended  string
		code   int
	}{
		{"all well", t.Context(), 8, load.StatusComplete, "", 0},
		{"few levels asked for", t.Context(), 1, load.StatusComplete, "", 0},
		{"nothing valid", t.Context(), 0, load.StatusComplete, "", exitNoCurve},
		{"failures before four levels", t.Context(), 3, load.StatusStopped, load.EndedFailing, exitNoCurve},
		{"throttled before four levels", t.Context(), 3, load.StatusStopped, load.EndedThrottled, exitNoCurve},
		{"failures after four levels", t.Context(), 4, load.StatusStopped, load.EndedFailing, 0},
		{"out of budget", t.Context(), 3, load.StatusStopped, load.EndedInterrupted, 0},
		{"out of budget at once", t.Context(), 0, load.StatusStopped, load.EndedInterrupted, exitNoCurve},
		{"by signal", signalled, 4, load.StatusInterrupted, load.EndedInterrupted, exitSIGTERM},
		{"by signal at once", signalled, 0, load.StatusInterrupted, load.EndedInterrupted, exitSIGTERM},
	} {
		curve := analysis.Curve{Run: load.Run{Status: c.status}, Steps: []load.Step{{Concurrency: 1}}}
		for n := range c.valid {
			curve.Steps = append(curve.Steps, load.Step{Concurrency: n + 2, Valid: true})
		}
		code := 0
		var e exitError
		if err := sweepExit(c.ctx, analysis.Data{Visits: []load.Visit{{}, {Ended: c.ended}}}, curve); errors.As(err, &e) {
			code = e.code
		}
		if code != c.code {
			t.Errorf("%s: exit %d, want %d", c.name, code, c.code)
		}
	}
}

// TestSweepExitBySLO wants 3 when no valid level is shown to meet the limits.
func TestSweepExitBySLO(t *testing.T) {
	t.Parallel()
	met := func(ok, yes bool) load.Opt[load.SLO] { return load.Some(load.SLO{Met: load.Opt[bool]{V: yes, OK: ok}}) }
	for _, c := range []struct {
		slo    string
		first  load.Opt[load.SLO]
		second load.Opt[load.SLO]
		code   int
	}{
		{"x", met(true, true), met(true, false), 0},
		{"x", met(false, false), met(true, true), 0},
		{"x", met(true, false), met(true, false), exitMissed},
		{"x", met(false, false), met(true, false), exitMissed},
		{"x", met(false, false), met(false, false), exitMissed},
		{"", load.Opt[load.SLO]{}, load.Opt[load.SLO]{}, 0},
	} {
		curve := analysis.Curve{Run: load.Run{Settings: load.Settings{SLO: c.slo}}, Steps: []load.Step{
			{Concurrency: 1, Valid: true, SLO: c.first}, {Concurrency: 2, Valid: true, SLO: c.second}}}
		code := 0
		var e exitError
		if err := sweepExit(t.Context(), analysis.Data{}, curve); errors.As(err, &e) {
			code = e.code
		}
		if code != c.code {
			t.Errorf("%+v: exit %d", c, code)
		}
	}
}

// TestBudgetStops says which budget ended the sweep.
func TestBudgetStops(t *testing.T) {
	t.Parallel()
	url := endpoint(t, func(next served) served { return next })
	r := command(quick("--url", url, "--model", "sim", "--output-tokens", "5", "--passes", "1", "--token-budget", "8000", "--measurements", "3",
		"--json", "--out", filepath.Join(t.TempDir(), "run"))...)
	doc := object(t, r.out)
	if !swept(r) || at(t, doc, "run.status") != "stopped" || at(t, doc, "run.stop_reason") != errTokenBudget.Error() {
		t.Errorf("exit %d, status %v, reason %v", r.code, at(t, doc, "run.status"), at(t, doc, "run.stop_reason"))
	}
}

// TestSimServes asks the served simulation once and ends it by signal.
func TestSimServes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	var out lockedBuffer
	code := make(chan int)
	go func() {
		code <- run(ctx, strings.Fields("kneesweep sim --listen 127.0.0.1:0 --slots 8 --step 1ms --output-tokens 5"), &out, &out)
	}()
	line := ""
	for range 500 {
		if line = out.String(); strings.HasSuffix(line, "\n") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	url, rest, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(rest, "model sim truth: knee 8, admission limit 8 ") {
		t.Errorf("the first line is %q", line)
	}
	r := command("ping", "--url", url, "--model", "sim", "--output-tokens", "3", "--json")
	if doc := object(t, r.out); r.code != 0 || doc["output_tokens"] != 3.0 {
		t.Errorf("exit %d, sample %v", r.code, doc)
	}
	cancel(interrupted{syscall.SIGINT})
	if got := <-code; got != exitSIGINT {
		t.Errorf("exit %d", got)
	}
}
