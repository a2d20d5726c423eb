package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestExport writes every table in every format, and says what cannot be written.
func TestExport(t *testing.T) {
	t.Parallel()
	s := shared()
	table := write(t, "table.csv", csvOf("1,2,4,8", "40,80,160,170"))
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		begin string
	}{
		{[]string{s.dir, "-o", "steps.csv"}, "run_id,concurrency,"},
		{[]string{s.dir, "-o", "requests.csv", "--table", "requests"}, "run_id,request_id,"},
		{[]string{s.dir, "-o", "chunks.csv", "--table", "chunks"}, "run_id,request_id,"},
		{[]string{s.dir, "-o", "chunks.parquet", "--table", "chunks"}, "PAR1"},
		{[]string{table, "-o", "table.parquet"}, "PAR1"},
	} {
		out := filepath.Join(dir, c.args[2])
		c.args[2] = out
		if r := command(append([]string{"export"}, c.args...)...); r.code != 0 || r.out+r.err != "" || !strings.HasPrefix(read(t, out), c.begin) {
			t.Errorf("%v: exit %d, %s", c.args, r.code, r.err)
		}
	}
	// A table of levels can be read again.
	again := command("analyze", "--json", filepath.Join(dir, "steps.csv"))
	if doc := object(t, again.out); len(doc["steps"].([]any)) != 4 {
		t.Errorf("the exported levels are read as %v", doc["steps"])
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "needs a FILE"},
		{[]string{table}, exitUsage, "-o: needed"},
		{[]string{table, "-o", "x.xlsx"}, exitUsage, "must end in .csv or .parquet"},
		{[]string{table, "-o", "x.csv", "--table", "prompts"}, exitUsage, "none of steps, requests, chunks"},
		{[]string{table, "-o", "x.csv", "--table", "requests"}, exitFailed, "holds no single requests"},
		{[]string{table, "-o", filepath.Join(dir, "none", "x.csv")}, exitFailed, "no such file or directory"},
	} {
		if r := command(append([]string{"export"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, r.code, c.code, c.want, r.err)
		}
	}
}

// A figure names its run.
func TestFigureNamesItsRun(t *testing.T) {
	t.Parallel()
	s := shared()
	id := at(t, object(t, s.out), "run.id").(string)
	drawn := filepath.Join(t.TempDir(), "x.png")
	if r := command("plot", s.dir, "-o", drawn, "--figure", "latency"); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, file := range []string{filepath.Join(s.dir, figureFile), drawn} {
		if picture := read(t, file); !strings.Contains(picture, "iTXtkneesweep run\x00\x00\x00\x00\x00"+id) {
			t.Errorf("%s does not name the run %s", file, id)
		}
	}
}
