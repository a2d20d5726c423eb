package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"kneesweep/load"
	"kneesweep/report"
)

// cellsIn reads the index of a matrix: the status of each folder, "" when it was not
// swept.
func cellsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	var doc struct {
		Schema string
		Cells  []struct {
			Folder string
			Status load.Opt[string]
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, matrixFile))), &doc); err != nil || doc.Schema != report.MatrixSchema {
		t.Fatalf("%s: %v, schema %s", dir, err, doc.Schema)
	}
	all := map[string]string{}
	for _, x := range doc.Cells {
		all[x.Folder] = x.Status.V
	}
	return all
}

// TestMatrix sweeps four cells, one of them interrupted; the same command goes on
// where it was, and once more has nothing to do.
func TestMatrix(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	var stop atomic.Pointer[context.CancelCauseFunc]
	var sent atomic.Int64
	url := endpoint(t, func(next served) served {
		if n := sent.Add(1); n > 150 {
			if f := stop.Swap(nil); f != nil {
				(*f)(interrupted{syscall.SIGINT})
			}
		}
		return next
	})
	config := write(t, "m.yaml", "url: "+url+"\nmodel: sim\nquiet: true\nmatrix:\n  input-tokens: [16, 64]\n  no-stream: [false, true]\n")
	args := append([]string{"sweep", "--config", config, "--out", dir}, short...)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop.Store(&cancel)
	if r := commandContext(ctx, args...); r.code != exitSIGINT {
		t.Fatalf("interrupted: exit %d: %s", r.code, r.err)
	}
	before := cellsIn(t, dir)
	if len(before) != 4 || before["input-tokens=64_no-stream=true"] != "" {
		t.Fatalf("interrupted: cells %v", before)
	}
	r := command(args...)
	if !swept(r) {
		t.Fatalf("resumed: exit %d: %s", r.code, r.err)
	}
	done := 0
	for folder, status := range cellsIn(t, dir) {
		if status != "complete" {
			t.Errorf("%s is %q", folder, status)
		}
		if before[folder] == "complete" {
			done++
		}
		checkSwept(t, filepath.Join(dir, folder))
	}
	if got := strings.Count(r.err, "finished before"); got != done {
		t.Errorf("%d cells were finished, %d are skipped: %s", done, got, r.err)
	}
	for _, name := range []string{figureFile, heatFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	count := sent.Load()
	if again := command(append(args, "--json")...); again.code != 0 || strings.Count(again.err, "finished before") != 4 || sent.Load() != count || again.out != read(t, filepath.Join(dir, matrixFile)) {
		t.Errorf("once more: exit %d, %d requests: %s", again.code, sent.Load()-count, again.err)
	}
	if other := command(append(args, "--warmup", "3")...); other.code != exitUsage || !strings.Contains(other.err, "with another --warmup") {
		t.Errorf("other settings: exit %d: %s", other.code, other.err)
	}
}

func checkSwept(t *testing.T, dir string) {
	t.Helper()
	for _, name := range runFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestMatrixRefused(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"input-tokens", "is not FLAG=VALUE"},
		{"no-such=1", "sweep has no flag --no-such"},
		{"levels=1,2", "--levels cannot differ"},
		{"header=A", "--header cannot differ"},
		{"out=a,b", "--out cannot differ"},
		{"seed=1,1", "has the value 1 twice"},
		{"seed=1,", "an empty value"},
		{"no-stream=maybe", `"maybe" is not true or false`},
		{"passes=2,0", "--passes: 0"},
		{"label=a/b,a-b", "--label cannot differ"},
	} {
		dir := filepath.Join(t.TempDir(), "m")
		r := command("sweep", "--matrix", c.value, "--out", dir)
		if _, err := os.Stat(dir); r.code != exitUsage || !strings.Contains(r.err, c.want) || err == nil {
			t.Errorf("%q: exit %d: %s", c.value, r.code, r.err)
		}
	}
	if r := command("sweep", "--matrix", "seed=1,2", "--matrix", "seed=3", "--target", "a=http://h", "--dry-run"); r.code != exitUsage || !strings.Contains(r.err, "seed is given twice") || !strings.Contains(r.err, "--matrix and --target") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
