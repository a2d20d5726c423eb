package main

import (
	"image/png"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlotEveryFigure draws each figure of a run from its folder, and those that
// need no single requests from its curve.json.
func TestPlotEveryFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many pictures")
	}
	t.Parallel()
	dir := shared().dir
	for _, f := range figures {
		for _, file := range []string{dir, filepath.Join(dir, journalFile), filepath.Join(dir, curveFile)} {
			if f.name == "timeline" && filepath.Base(file) == curveFile {
				continue
			}
			out := filepath.Join(t.TempDir(), "x.png")
			args := []string{"plot", file, "-o", out, "--figure", f.name}
			if f.name == "cost" {
				args = append(args, "--price-hour", "2")
			}
			r := command(args...)
			if r.code != 0 || r.out+r.err != "" {
				t.Errorf("%s of %s: exit %d, %s%s", f.name, filepath.Base(file), r.code, r.out, r.err)
				continue
			}
			if _, err := png.Decode(strings.NewReader(read(t, out))); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPlotFromRequests wants another picture of a distribution from a journal
// than from the percentiles of its curve, and another timeline for another level.
func TestPlotFromRequests(t *testing.T) {
	t.Parallel()
	dir := shared().dir
	draw := func(args ...string) string {
		out := filepath.Join(t.TempDir(), "x.svg")
		if r := command(append([]string{"plot", "-o", out}, args...)...); r.code != 0 {
			t.Fatalf("%v: exit %d, %s", args, r.code, r.err)
		}
		return read(t, out)
	}
	if draw(dir, "--figure", "ttft-distribution") == draw(filepath.Join(dir, curveFile), "--figure", "ttft-distribution") {
		t.Error("single requests of the folder are not used")
	}
	if p := draw(dir, "--figure", "timeline", "--level", "4"); !strings.Contains(p, "4 parallel streams over time") {
		t.Error("not the level that was asked for")
	}
}

// TestPlotAxis wants the axis that was asked for, for several files too.
func TestPlotAxis(t *testing.T) {
	t.Parallel()
	a, b := write(t, "a.csv", csvOf("1,2,3,4,6", "10,20,30,40,41")), write(t, "b.csv", csvOf("1,4,16,64,128", "10,40,160,170,171"))
	for _, files := range [][]string{{a}, {b}, {a, b}} {
		for _, x := range []string{"linear", "log"} {
			out := filepath.Join(t.TempDir(), "x.svg")
			r := command(append([]string{"plot", "-o", out, "--x", x}, files...)...)
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			if got := strings.Contains(read(t, out), "in flight), logarithmic"); got != (x == "log") {
				t.Errorf("%d files, --x %s: the axis is logarithmic: %v", len(files), x, got)
			}
		}
	}
}

// TestFiguresThatAFileLacks wants one line that names the file and the flag and
// says what to do, and no picture.
func TestFiguresThatAFileLacks(t *testing.T) {
	t.Parallel()
	csv, none := write(t, "a.csv", csvOf("1,2,4,8", "10,20,40,41")), write(t, "none.csv", csvOf("1,2", "0,NaN"))
	curve := filepath.Join(shared().dir, curveFile)
	for _, c := range []struct {
		file, figure, want string
	}{
		{csv, "latency", "it holds no latencies; give the journal or the curve.json"},
		{csv, "ttft-distribution", "it holds no times to first token; give"},
		{csv, "itl-distribution", "it holds no inter-token latencies; give"},
		{none, "pareto", "it holds no throughput; give"},
		{csv, "timeline", "it holds no single requests; give the run's journal.jsonl or its folder"},
		{curve, "timeline", "it holds no single requests; give the run's journal.jsonl or its folder"},
	} {
		out := filepath.Join(t.TempDir(), "x.png")
		r := command("plot", c.file, "-o", out, "--figure", c.figure)
		want := "kneesweep: " + c.file + ": --figure " + c.figure + ": " + c.want
		if r.code != exitFailed || !strings.HasPrefix(r.err, want) || strings.Count(r.err, "\n") != 1 || exists(out) {
			t.Errorf("exit %d, want 1 and %q\n%s", r.code, want, r.err)
		}
	}
	r := command("plot", shared().dir, "-o", filepath.Join(t.TempDir(), "x.png"), "--figure", "timeline", "--level", "5")
	if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: --level: 5 was not measured; the levels of ") || !strings.Contains(r.err, "1, 2, 4, 8\n") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
