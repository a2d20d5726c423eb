package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromptsPage runs every command of the page about prompts, as it stands there
// but for the levels, on the embedded endpoint.
func TestPromptsPage(t *testing.T) {
	t.Parallel()
	lines := readmeCommands(t, filepath.Join("..", "..", "docs", "prompts.md"))
	if len(lines) != 15 {
		t.Fatalf("the page shows %d commands", len(lines))
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := words(strings.ReplaceAll(line, "testdata/", filepath.Join("..", "..", "testdata")+"/"))
			if args[0] == "sweep" {
				args = append(args, "--levels", "1,2", "--measurements", "2", "--window", "50ms", "--warmup", "1", "--out", filepath.Join(t.TempDir(), "run"))
			}
			if r := command(args...); r.code != 0 && !(args[0] == "sweep" && swept(r)) {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
		})
	}
}

// TestShapesInTheResult sweeps with drawn lengths, shared beginnings and turns, and
// looks at what the server was asked and at what the result says of it.
func TestShapesInTheResult(t *testing.T) {
	t.Parallel()
	var got received
	url := endpoint(t, got.keep)
	r := command("sweep", "--levels", "2,4", "--measurements", "2", "--window", "100ms", "--warmup", "1", "--out", filepath.Join(t.TempDir(), "run"), "--json",
		"--url", url, "--model", "sim", "--input-tokens", "uniform:5:15", "--output-tokens", "uniform:2:6", "--shared-prefix", "20", "--prefix-hit", "50%", "--turns", "2")
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	request := at(t, object(t, r.out), "run.request")
	undefined(t, request, "input_tokens_asked output_tokens_asked lines_left_out")
	if at(t, request, "input_lengths.asked") != "20 + uniform:5:15 in each of up to 2 turns" || at(t, request, "input_lengths.mean") != 37.0 ||
		at(t, request, "output_lengths.asked") != "uniform:2:6" || at(t, request, "output_lengths.mean") != 4.0 {
		t.Errorf("request %v", request)
	}
	if cache := fmt.Sprint(at(t, request, "cache")); !strings.Contains(cache, "50 % of the conversations, drawn by the seed, begin with one of 4 common prefixes of 20 tokens") {
		t.Errorf("cache: %s", cache)
	}
	common, grown := 0, 0
	for _, b := range got.all() {
		if strings.HasPrefix(b.Messages[0].Content, "common") {
			common++
		}
		if len(b.Messages) == 3 && b.Messages[1].Role == "assistant" {
			grown++
		}
		if b.Limit < 2 || b.Limit > 6 {
			t.Errorf("limit %d", b.Limit)
		}
	}
	if n := len(got.all()); min(common, n-common) < n/10 || min(grown, n-grown) < n/4 {
		t.Errorf("of %d requests %d begin with a common text, %d are second turns", n, common, grown)
	}
}

func TestSkippedLinesAreKept(t *testing.T) {
	t.Parallel()
	path := write(t, "p.jsonl", questions(5)+"rubbish\n{\"prompt\":3}\n")
	r := command(quick("--prompts", path, "--skip-bad-lines", "--json", "--out", filepath.Join(t.TempDir(), "run"))...)
	if !swept(r) || !strings.Contains(r.err, "hint: --skip-bad-lines leaves out 2, the first of them is "+path+": line 6: not a JSON object") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if request := at(t, object(t, r.out), "run.request"); at(t, request, "lines_left_out") != 2.0 {
		t.Errorf("request %v", request)
	}
}

// TestTraceGivesLevelAndLengths plans sweeps with a trace.
func TestTraceGivesLevelAndLengths(t *testing.T) {
	t.Parallel()
	log := filepath.Join("..", "..", "testdata", "prompts", "access.csv")
	levels := func(args ...string) string {
		r := command(append([]string{"sweep", "--dry-run", "--json", "--trace"}, args...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		return fmt.Sprint(at(t, object(t, r.out), "levels"))
	}
	if got := levels(log, "--levels", "1,2,8"); got != "[1 2 6 8]" {
		t.Errorf("levels %s", got)
	}
	if got := levels(filepath.Join("..", "..", "testdata", "prompts", "mooncake.jsonl"), "--levels", "1,2,8"); got != "[1 2 8]" {
		t.Errorf("without durations: levels %s", got)
	}
	times := write(t, "times.csv", "start,duration\n0,9\n1,9\n")
	if got := levels(times, "--levels", "1", "--input-tokens", "5", "--output-tokens", "5"); got != "[1 2]" {
		t.Errorf("levels %s", got)
	}
	for args, want := range map[string]string{
		times: "--trace: times.csv: no column with the length of the input",
		filepath.Join("..", "..", "testdata", "prompts", "lengths.csv") + " --input-tokens 5 --output-tokens 5 --prompts x": "--trace: every length is given by other flags",
	} {
		if r := command(append([]string{"sweep", "--dry-run", "--trace"}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
}
