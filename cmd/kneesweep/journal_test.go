package main

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestJournalLevels: what the journal keeps changes no figure of the run, and what
// cannot be drawn or judged from it is said.
func TestJournalLevels(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{"requests", "none"} {
		dir := filepath.Join(t.TempDir(), "run")
		r := command(quick("--url", endpoint(t, func(next served) served { return next }), "--model", "sim", "--output-tokens", "5",
			"--journal", keep, "--json", "--out", dir)...)
		if !swept(r) {
			t.Fatalf("%s: exit %d: %s", keep, r.code, r.err)
		}
		checkRun(t, r, dir)
		if at(t, object(t, r.out), "run.settings.journal") != keep {
			t.Errorf("the run does not say that its journal keeps %s", keep)
		}
		drawn := command("plot", dir, "--figure", "timeline", "-o", filepath.Join(t.TempDir(), "x.png"))
		if drawn.code != exitFailed || !strings.Contains(drawn.err, "--journal chunks") && !strings.Contains(drawn.err, "no single requests") {
			t.Errorf("%s: a timeline: exit %d: %s", keep, drawn.code, drawn.err)
		}
		judged := command("analyze", dir, "--slo", "ttft_p95<=10s")
		if keep == "requests" && judged.code != 0 && judged.code != exitMissed {
			t.Errorf("other limits: exit %d: %s", judged.code, judged.err)
		}
		if keep == "none" && (judged.code != exitFailed || !strings.Contains(judged.err, "--journal requests")) {
			t.Errorf("other limits without requests: exit %d: %s", judged.code, judged.err)
		}
		if gaps := command("analyze", dir, "--slo", "itl_p95<=10s"); gaps.code != exitFailed || !strings.Contains(gaps.err, "--journal") {
			t.Errorf("%s: limits of gaps: exit %d: %s", keep, gaps.code, gaps.err)
		}
	}
}

// TestLargeJournal: a journal whose requests stay in its file gives the same curve.
func TestLargeJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shared().dir, journalFile)
	want, err := readSource(path, io.Discard, "", false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	got, err := readLargeJournal(f, info.Size(), path, io.Discard, "")
	if err != nil || len(got.data.Samples) > 0 {
		t.Fatalf("%v, %d requests in memory", err, len(got.data.Samples))
	}
	if !reflect.DeepEqual(got.curve, want.curve) {
		t.Errorf("from the file %+v\nfrom memory %+v", got.curve, want.curve)
	}
}
