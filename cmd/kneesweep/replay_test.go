package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReplay replays a small trace twice as fast.
func TestReplay(t *testing.T) {
	t.Parallel()
	rows := "timestamp,input_tokens,output_tokens\n"
	for i := range 40 {
		rows += strings.Join([]string{[]string{"0", "0.5", "1", "1.2"}[i/10], "10", "20"}, ",") + "\n"
	}
	file := write(t, "trace.csv", rows)
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", "", "--replay", file, "--replay-speed", "2", "--measurements", "2", "--json", "--quiet", "--out", dir)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	checkRun(t, r, dir)
	doc := object(t, r.out)
	step := at(t, doc, "rates.steps").([]any)[0]
	if at(t, step, "arrivals") != 40.0 || at(t, step, "rate_requests_per_second") != 65.0 || at(t, doc, "rates.replay") != true || at(t, doc, "rates.knee.verdict") != nil {
		t.Errorf("%v", step)
	}
	if table := command("analyze", dir); !strings.Contains(strings.Join(strings.Fields(table.out), " "), "40 requests of the trace came") {
		t.Errorf("no word of the trace in\n%s", table.out)
	}
}

// TestReplayUsage names flag, file and line.
func TestReplayUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, "good.csv", "timestamp,input,output\n0,1,2\n1,1,2\n")
	bad := write(t, "bad.csv", "timestamp,input,output\n0,1,2\nsoon,1,2\n")
	still := write(t, "still.csv", "timestamp,input,output\n3,1,2\n3,1,2\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--replay", bad}, "--replay: " + bad + ": line 3: timestamp: "},
		{[]string{"--replay", still}, "--replay: still.csv: all requests came at one time"},
		{[]string{"--replay", filepath.Join(dir, "none.csv")}, "--replay: "},
		{[]string{"--replay", good, "--rates", "1,2"}, "--replay and --rates: "},
		{[]string{"--replay", good, "--levels", "1,2"}, "--replay and --levels: "},
		{[]string{"--replay", good, "--trace", good}, "--replay and --trace: "},
		{[]string{"--replay", good, "--replay-speed", "0"}, "--replay-speed: 0, need more than 0"},
		{[]string{"--replay", good, "--replay-speed", "NaN"}, "--replay-speed: "},
		{[]string{"--replay-speed", "2"}, "--replay-speed: works with --replay"},
	} {
		r := command(append([]string{"sweep", "--url", "", "--out", filepath.Join(dir, "run")}, c.args...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: "+c.want) || strings.Count(r.err, "\n") != 2 || r.out != "" {
			t.Errorf("%q: exit %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
}
