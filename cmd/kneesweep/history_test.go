package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runsOf are the runs that history list shows, the newest first.
func runsOf(t *testing.T, history string) []any {
	t.Helper()
	r := command("history", "list", "--json", "--history", history)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	return at(t, object(t, r.out), "runs").([]any)
}

// TestSweepIntoHistory: a sweep lands in its history, is shown as it was printed,
// and comes out as the curve.json that it wrote.
func TestSweepIntoHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, out := filepath.Join(dir, "new", "h.db"), filepath.Join(dir, "r")
	if r := command(quick("--quiet", "--label", "tuesday", "--out", out, "--history", db)...); !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	runs := runsOf(t, db)
	if len(runs) != 1 || at(t, runs[0], "label") != "tuesday" || at(t, runs[0], "model") != embeddedModel {
		t.Fatalf("%v", runs)
	}
	id := at(t, runs[0], "id").(string)
	want := read(t, filepath.Join(out, curveFile))
	if r := command("history", "show", id, "--json", "--history", db); r.code != 0 || r.out != want {
		t.Errorf("exit %d, %d bytes, want %d: %s", r.code, len(r.out), len(want), r.err)
	}
	if r := command("history", "show", "latest", "--history", db); r.code != 0 || r.out != command("analyze", filepath.Join(out, curveFile)).out {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
	if r := command("history", "export", "latest", "-o", dir, "--history", db); r.code != 0 || read(t, filepath.Join(dir, id+".json")) != want {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("history", "import", out, "--history", db); r.code != 0 || !strings.Contains(r.err, "in the history already") || len(runsOf(t, db)) != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestHistoryAway: a sweep whose history cannot be reached keeps its result and its
// exit code, says how to import it, and shows no password.
func TestHistoryAway(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, where := range []string{"postgres://bob:s3cret-pw@127.0.0.1:1/sweeps", folder} {
		out := filepath.Join(t.TempDir(), "r")
		r := command(quick("--quiet", "--out", out, "--history", where)...)
		if !swept(r) || !exists(filepath.Join(out, curveFile)) {
			t.Errorf("%s: exit %d", where, r.code)
		}
		if !strings.Contains(r.err, "warning: the run is not in the history") || !strings.Contains(r.err, "kneesweep history import "+out) {
			t.Errorf("%s: %s", where, r.err)
		}
		for _, name := range append([]string{""}, runFiles...) {
			text := r.err + r.out
			if name != "" {
				text = read(t, filepath.Join(out, name))
			}
			if strings.Contains(text, "s3cret") {
				t.Errorf("%s shows the password", name)
			}
		}
		db := filepath.Join(t.TempDir(), "h.db")
		if r := command("history", "import", out, "--history", db); r.code != 0 || len(runsOf(t, db)) != 1 {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
}

// TestHistoryAddressIsChecked: an address that cannot be is a usage error before
// anything is sent, and none of them shows a password.
func TestHistoryAddressIsChecked(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "history: postgres://bob:${"+keyVariable+"}@db/sweeps\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sweep", "--dry-run", "--history", "postgres://bob:s3cret/x@db/sweeps"}, exitUsage, "--history: not a URL"},
		{[]string{"sweep", "--dry-run", "--history", "mysql://bob:s3cret@db"}, exitUsage, "--history: a URL that does not begin with postgres://"},
		{[]string{"sweep", "--dry-run", "--history", ""}, exitUsage, "--history: the name is empty"},
		{[]string{"history", "list"}, exitUsage, "--history: needed"},
		{[]string{"history", "nope"}, exitUsage, "no such command"},
		{[]string{"history", "list", "--history", filepath.Join(t.TempDir(), "none.db")}, exitFailed, "no such file"},
		{[]string{"history", "list", "--history", "postgres://bob:s3cret-pw@127.0.0.1:1/sweeps"}, exitFailed, "history postgres://127.0.0.1:1/sweeps"},
		{[]string{"history", "prune", "--older", "yesterday", "--history", "postgres://h"}, exitFailed, "history postgres://h"},
	} {
		r := command(c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "s3cret") {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
	r := command("sweep", "--dry-run", "--json", "--config", file)
	if r.code != 0 || strings.Contains(r.out+r.err, testKey) || !strings.Contains(r.out, "set (masked)") {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
}

// TestNoZeroInTheHistory: a sweep of which everything failed is kept as failed and
// leaves no point at 0 tokens/s (SeraphimSerapis/tool-eval-bench#152).
func TestNoZeroInTheHistory(t *testing.T) {
	t.Parallel()
	url := endpoint(t, func(served) served { return says(503, "text/plain", "go away") })
	db := filepath.Join(t.TempDir(), "h.db")
	r := command(quick("--quiet", "--url", url, "--model", "m", "--api-key-env", keyVariable, "--out", filepath.Join(t.TempDir(), "r"), "--history", db)...)
	runs := runsOf(t, db)
	if r.code == 0 || len(runs) != 1 || at(t, runs[0], "failure") == nil || at(t, runs[0], "knee") != nil || at(t, runs[0], "plateau_tokens_per_second") != nil {
		t.Errorf("exit %d, %v", r.code, runs)
	}
	if r := command("history", "trend", "--json", "--history", db); r.code != 0 || len(at(t, object(t, r.out), "runs").([]any)) != 0 {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
	// A key stands in no history (NVIDIA-NeMo/Guardrails#1501).
	files, err := filepath.Glob(db + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil || strings.Contains(string(b), testKey) {
			t.Errorf("%s holds the key, or cannot be read: %v", name, err)
		}
	}
}

// TestHistoryOfTime: what trend, baseline and prune print.
func TestHistoryOfTime(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	const curve = `{"schema":"kneesweep/curve/v1","run":{"id":"ID","started":"NIGHTT02:30:00Z","target":"t","model":"m","status":"complete","settings":{"passes":2}},
		"steps":[{"concurrency":1,"valid":true},{"concurrency":2,"valid":true}],"knee":{"verdict":"knee","plateau_tokens_per_second":PLATEAU}}`
	var files []string
	for i, night := range []string{"2020-11-01", "2020-11-02", "2020-11-03"} {
		text := strings.NewReplacer("ID", "night-"+night, "NIGHT", night, "PLATEAU", []string{"1000", "1010", "900"}[i]).Replace(curve)
		files = append(files, write(t, night+".json", text))
	}
	if r := command(append([]string{"history", "import", "--history", db}, files...)...); r.code != 0 || !strings.Contains(r.err, "3 of 3 runs added") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if r := command("history", "trend", "--history", db); !strings.Contains(r.out, "-10.0 %") || !strings.Contains(r.out, "against first") {
		t.Errorf("%s%s", r.out, r.err)
	}
	if r := command("history", "baseline", "night-2020-11-02", "--history", db); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("history", "trend", "--history", db); !strings.Contains(r.out, "-10.9 %") || !strings.Contains(r.out, "against baseline") {
		t.Errorf("%s%s", r.out, r.err)
	}
	png := filepath.Join(t.TempDir(), "trend.png")
	if r := command("history", "trend", "-o", png, "--history", db); r.code != 0 || !strings.HasPrefix(read(t, png), "\x89PNG") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("history", "trend", "-o", "trend.gif", "--history", db); r.code != exitUsage {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("history", "prune", "--older", "1h", "--history", db); r.code != 0 || !strings.Contains(r.err, "2 runs removed") || len(runsOf(t, db)) != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
