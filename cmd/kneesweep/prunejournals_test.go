package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPruneJournals removes by age and by size, the oldest first, and never a baseline's, one
// that is written, or what only has the name.
func TestPruneJournals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, _, _ := season(t)
	if r := command("history", "baseline", "night-7", "--history", db); r.code != 0 {
		t.Fatal(r.err)
	}
	age := func(path string, days int) {
		old := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name, file, content string, days int, curve bool) {
		folder := filepath.Join(dir, "runs", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, file)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if curve {
			if err := os.WriteFile(filepath.Join(folder, curveFile), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		age(path, days)
	}
	journalText := func(id string) string {
		return fmt.Sprintf("{\"run\":{\"schema\":\"kneesweep/journal/v1\",\"ID\":%q}}\n%s\n", id, strings.Repeat(" ", 1000))
	}
	put("base", journalFile, journalText("night-7"), 100, true)
	for i := 1; i <= 5; i++ {
		put(fmt.Sprintf("r%d", i), journalFile, journalText(fmt.Sprint("r", i)), 10*i, true)
	}
	put("new", journalFile, journalText("new"), 0, true)
	put("running", journalFile, journalText("running"), 60, false)
	put("other", journalFile, "{\"not\":1}\n", 60, true)
	put("r5", "journal-before-1.jsonl", journalText("r5"), 51, true)
	left := func() string {
		var names []string
		for _, name := range []string{"base", "r1", "r2", "r3", "r4", "r5", "new", "running", "other"} {
			if exists(filepath.Join(dir, "runs", name, journalFile)) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	prune := func(args ...string) result {
		return command(append([]string{"history", "prune", "--history", db, "--journals", filepath.Join(dir, "runs")}, args...)...)
	}
	all := "base r1 r2 r3 r4 r5 new running other"
	if r := prune("--older", "35d", "--dry-run"); r.code != 0 || strings.Count(r.out, "\n") != 3 || left() != all || !strings.Contains(r.err, "3 of 8 journals would be removed") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := prune("--older", "35d"); r.code != 0 || left() != "base r1 r2 r3 new running other" || exists(filepath.Join(dir, "runs", "r5", "journal-before-1.jsonl")) {
		t.Errorf("exit %d: %s, left %s", r.code, r.err, left())
	}
	info, err := os.Stat(filepath.Join(dir, "runs", "base", journalFile))
	if err != nil {
		t.Fatal(err)
	}
	if r := prune("--to", fmt.Sprintf("%dB", info.Size()+2*1100+1100)); r.code != 0 || left() != "base r1 r2 new running other" && left() != "base r1 new running other" {
		t.Errorf("exit %d: %s, left %s", r.code, r.err, left())
	}
	if r := prune("--to", "0B"); r.code != 0 || left() != "base new running other" {
		t.Errorf("exit %d: %s, left %s", r.code, r.err, left())
	}
	for _, c := range []struct{ args, want string }{
		{"--journals x", "--journals: give --older 90d, or --to 10GB"},
		{"--journals " + filepath.Join(dir, "none") + " --to 1GB", "none is no folder"},
		{"--journals " + dir + " --to much", "--to: \"much\" is no size; write 10GB"},
		{"--to 1GB", "--to: works with --journals"},
	} {
		if r := command(append([]string{"history", "prune", "--history", db}, strings.Fields(c.args)...)...); r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
