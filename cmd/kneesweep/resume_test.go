package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// resumable are the flags of a sweep that is interrupted and resumed.
func resumable(url string, more ...string) []string {
	return append([]string{"sweep", "--url", url, "--model", "sim", "--output-tokens", "5", "--levels", "1,2,4,8,16", "--measurements", "4", "--window", "60ms", "--quiet", "--json"}, more...)
}

// TestResume interrupts a sweep at several moments, twice over, and lets it go on: the result
// is one run with every level of the plan, its figures are those of its journal, and no
// measured prompt was asked twice.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, after := range []int64{8, 90, 250} {
		var n, until atomic.Int64
		until.Store(after)
		var stop atomic.Pointer[context.CancelCauseFunc]
		var got received
		url := endpoint(t, func(next served) served {
			if n.Add(1) == until.Load() {
				(*stop.Load())(interrupted{syscall.SIGINT})
			}
			return got.keep(next)
		})
		dir := filepath.Join(t.TempDir(), "run")
		db := filepath.Join(t.TempDir(), "h.db")
		sweepOnce := func(more ...string) result {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			stop.Store(&cancel)
			return commandContext(ctx, resumable(url, append(more, "--history", db)...)...)
		}
		if r := sweepOnce("--out", dir); r.code != exitSIGINT {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		until.Store(n.Load() + 60)
		if r := sweepOnce("--resume", dir); r.code != exitSIGINT {
			t.Fatalf("resumed and interrupted: exit %d: %s", r.code, r.err)
		}
		until.Store(-1)
		r := sweepOnce("--resume", dir)
		if !swept(r) {
			t.Fatalf("resumed: exit %d: %s", r.code, r.err)
		}
		for _, path := range []string{filepath.Join(dir, journalFile), filepath.Join(dir, curveFile), dir} {
			if again := command("analyze", "--json", path); again.out != r.out {
				t.Errorf("after %d: analyze %s gives another document: %s", after, filepath.Base(path), again.err)
			}
		}
		if old, _ := filepath.Glob(filepath.Join(dir, "journal-before-*.jsonl")); len(old) != 2 {
			t.Errorf("after %d: set aside are %v", after, old)
		}
		doc := object(t, r.out)
		if at(t, doc, "run.status") != "complete" || len(at(t, doc, "run.pauses").([]any)) != 2 || !strings.Contains(r.out, "interrupted and resumed 2 times, for ") {
			t.Errorf("after %d: status %v, pauses %v", after, at(t, doc, "run.status"), at(t, doc, "run.pauses"))
		}
		for _, s := range at(t, doc, "steps").([]any) {
			if w := at(t, s, "measurements"); at(t, s, "valid") == true && len(w.([]any)) != 4 {
				t.Errorf("after %d: level %v has %v", after, at(t, s, "concurrency"), w)
			}
		}
		if steps := at(t, doc, "steps").([]any); len(steps) != 5 {
			t.Errorf("after %d: %d levels", after, len(steps))
		}
		seen := map[string]bool{}
		for _, b := range got.all() {
			text := b.Messages[0].Content
			if seen[text] && !strings.HasPrefix(text, "-1w0p0 ") { // the preflight
				t.Errorf("after %d: asked twice: %.40s", after, text)
			}
			seen[text] = true
		}
		if runs := runsOf(t, db); len(runs) != 1 || at(t, runs[0], "status") != "complete" {
			t.Errorf("after %d: the history has %v", after, runs)
		}
		if again := sweepOnce("--resume", dir); again.code != exitUsage || !strings.Contains(again.err, "has ended (complete); nothing is left to do") {
			t.Errorf("a finished sweep: exit %d: %s", again.code, again.err)
		}
		if _, err := os.Stat(filepath.Join(dir, lockFile)); err == nil {
			t.Error("the lock is left")
		}
	}
}

// TestResumeRefused: what is no interrupted sweep, or would be another one.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	var n atomic.Int64
	url := endpoint(t, func(next served) served {
		if n.Add(1) == 60 {
			cancel(interrupted{syscall.SIGINT})
		}
		return next
	})
	dir := filepath.Join(t.TempDir(), "run")
	if r := commandContext(ctx, resumable(url, "--out", dir)...); r.code != exitSIGINT {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	before := read(t, filepath.Join(dir, journalFile))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--resume", t.TempDir()}, exitUsage, "journal.jsonl: no such file or directory; give the folder of a sweep"},
		{[]string{"--resume", dir, "--out", "x"}, exitUsage, "--resume and --out: give one of them"},
		{[]string{"--resume", dir, "--rates", "1"}, exitUsage, "--resume and --rates: "},
		{[]string{"--resume", dir, "--journal", "none"}, exitUsage, "--resume and --journal none: "},
		{[]string{"--resume", dir, "--window", "70ms"}, exitUsage, "was another one: Settings.Window was 6e+07 and is 7e+07"},
		{[]string{"--resume", dir, "--output-tokens", "6"}, exitUsage, "was another one: DatasetHash was"},
		{[]string{"--resume", dir, "--levels", "1,3,9"}, exitUsage, "--resume: visit 2 was 2 streams in pass 1, and would now be 3 streams in pass 1"},
		{[]string{"--resume", dir, "--budget", "1ms"}, exitUsage, "and --budget is no longer than that; give more"},
	} {
		if r := command(resumable(url, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit %d, %s", c.args, r.code, r.err)
		}
	}
	lock := filepath.Join(dir, lockFile)
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(resumable(url, "--resume", dir)...); r.code != exitFailed || !strings.Contains(r.err, "another process resumes the sweep in "+dir) {
		t.Errorf("with a lock: exit %d: %s", r.code, r.err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if read(t, filepath.Join(dir, journalFile)) != before {
		t.Error("the journal was touched")
	}
	// A sweep that goes on elsewhere has a journal without an end, written a moment ago.
	cut := before[:strings.LastIndex(strings.TrimSpace(before), "\n")+1]
	write := func(age time.Duration) {
		path := filepath.Join(dir, journalFile)
		if err := os.WriteFile(path, []byte(cut[:len(cut)-20]), 0o600); err != nil { // cut in a line, as kill -9 does
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	if r := command(resumable(url, "--resume", dir)...); r.code != exitUsage || !strings.Contains(r.err, "seems to go on") {
		t.Errorf("a running sweep: exit %d: %s", r.code, r.err)
	}
	write(time.Minute)
	if r := command(resumable(url, "--resume", dir)...); !swept(r) || at(t, object(t, r.out), "run.status") != "complete" {
		t.Errorf("a killed sweep: exit %d: %s", r.code, r.err)
	}
}
