package main

import (
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// peerFiles are the fixtures that match a pattern.
func peerFiles(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "peers", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return paths
}

// TestPeersMakeOneCurve analyses the files of each tool and wants its curve, from
// one file as from several. Those of vLLM gain 50 tokens/s a stream up to 400 and
// then have 410 and 405, so that the lines meet at 407.5/50 = 8.15 streams.
func TestPeersMakeOneCurve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, tool, verdict string
		levels                 []float64
		lo, hi                 float64 // of the knee; 0 = there is none
	}{
		{"vllm-*.json", "vLLM bench serve (vllm-1.json, vllm-16.json, vllm-2.json and 3 more)", "knee", []float64{1, 2, 4, 8, 16, 32}, 8.14, 8.16},
		{"sglang.jsonl", "sglang.bench_serving (sglang.jsonl)", "knee", []float64{1, 2, 4, 8, 16}, 8, 8.3},
		{"guidellm.json", "GuideLLM (guidellm.json)", "not_located", []float64{1, 2, 4, 8, 16}, 0, 0},
		{"aiperf-*.json", "AIPerf / GenAI-Perf (aiperf-16.json, aiperf-2.json, aiperf-4.json and 1 more)", "too_few_levels", []float64{2, 4, 8, 16}, 0, 0},
		{"tiny-*/*.csv", "AIPerf / GenAI-Perf (tiny-openai-chat-concurrency4/profile_export_genai_perf.csv, tiny-openai-chat-concurrency8/profile_export_genai_perf.csv)", "too_few_levels", []float64{4, 8}, 0, 0},
		{"batched.txt", "llama-batched-bench (batched.txt)", "knee", []float64{1, 2, 4, 8, 16}, 6.5, 7.5},
		{"batched.jsonl", "llama-batched-bench (batched.jsonl)", "knee", []float64{1, 2, 4, 8, 16}, 6.5, 7.5},
		{"genai-bench-*.json", "genai-bench (genai-bench-1.json, genai-bench-2.json, genai-bench-4.json and 1 more)", "too_few_levels", []float64{1, 2, 4}, 0, 0},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			t.Parallel()
			files := peerFiles(t, c.pattern)
			r := command(append([]string{"analyze", "--json"}, files...)...)
			if r.code != 0 || r.err != "" {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			doc := object(t, r.out)
			if at(t, doc, "run.tool") != c.tool || at(t, doc, "knee.verdict") != c.verdict {
				t.Errorf("tool %v, verdict %v", at(t, doc, "run.tool"), at(t, doc, "knee.verdict"))
			}
			var levels []float64
			for _, s := range doc["steps"].([]any) {
				stepKeys.check(t, "step", s)
				undefined(t, s, "started in_flight_at_end steady connections_opened replayed token_source itl_ms.p50 in_flight.mean client.cpu")
				levels = append(levels, at(t, s, "concurrency").(float64))
			}
			if !slices.Equal(levels, c.levels) {
				t.Errorf("levels %v", levels)
			}
			knee, _ := at(t, doc, "knee.concurrency").(map[string]any)
			if v, _ := knee["value"].(float64); c.lo == 0 && knee != nil || v < c.lo || v > c.hi {
				t.Errorf("knee %v, want %g to %g", knee, c.lo, c.hi)
			}
			if !strings.Contains(r.out, `"code": "peer_bias"`) || strings.Contains(r.out, "sk-fixture") || strings.Contains(r.out, "hunter2") {
				t.Error("no bias is said, or what was a secret is shown")
			}
			slices.Reverse(files)
			if again := object(t, command(append([]string{"analyze", "--json"}, files...)...).out); at(t, again, "knee.verdict") != c.verdict || len(again["steps"].([]any)) != len(levels) {
				t.Error("another order of files gives another curve")
			}
		})
	}
}

// TestPeersSayNoMoreThanTheirFiles compares single figures: milliseconds stay
// what they were, and what is not told is null.
func TestPeersSayNoMoreThanTheirFiles(t *testing.T) {
	t.Parallel()
	step := func(pattern string, i int) any {
		return object(t, command(append([]string{"analyze", "--json"}, peerFiles(t, pattern)...)...).out)["steps"].([]any)[i]
	}
	for _, c := range []struct {
		pattern string
		step    int
		want    map[string]any
	}{
		{"vllm-*.json", 3, map[string]any{
			"output_tokens_per_second.value": 400.0, "requests_per_second": 4.0, "finished": 160.0, "failed": 0.0, "error_rate": 0.0, "waves": 20.0,
			"ttft_ms.p50": 46.0, "ttft_ms.p90": nil, "ttft_ms.p99": 98.0, "ttft_ms.mean": 48.0, "tpot_ms.p50": 20.0, "icl_ms.p50": 18.5, "e2e_ms.p50": nil,
			"decode_tokens_per_second.p50": 50.0, "decode_tokens_per_second.p95": nil, "output_length_mean": 100.0,
		}},
		{"sglang.jsonl", 0, map[string]any{"tpot_ms.p50": nil, "decode_tokens_per_second.p50": nil, "failed": nil, "error_rate": nil, "finished": 10.0, "icl_ms.p99": nil}},
		{"sglang.jsonl", 3, map[string]any{"output_tokens_per_second.value": 410.0, "finished": 160.0, "waves": 10.0}},
		{"guidellm.json", 1, map[string]any{"ttft_ms.p50": nil, "ttft_ms.count": 0.0, "e2e_ms.p50": 2000.0}},
		{"guidellm.json", 4, map[string]any{"valid": false, "failed": 30.0, "invalid_reason": "error rate 23.1 % over the limit of 5.0 %"}},
		{"aiperf-*.json", 2, map[string]any{"valid": false, "failures.http_429": 10.0, "icl_ms.p50": 18.1, "decode_tokens_per_second.p95": 59.0}},
		{"batched.txt", 3, map[string]any{"output_tokens_per_second.value": 300.0, "requests_per_second": nil, "finished": nil, "waves": nil, "ttft_ms.p50": nil}},
		{"genai-bench-*.json", 1, map[string]any{"ttft_ms.p50": 250.0, "tpot_ms.p99": 13.0, "e2e_ms.mean": 1250.0}},
	} {
		s := step(c.pattern, c.step)
		for path, want := range c.want {
			if got := at(t, s, path); got != want {
				t.Errorf("%s, step %d: %s is %v, want %v", c.pattern, c.step, path, got, want)
			}
		}
	}
}

// TestPeersInOtherCommands draws and checks them, keeps them, and puts them beside
// a curve of ours.
func TestPeersInOtherCommands(t *testing.T) {
	t.Parallel()
	files := peerFiles(t, "vllm-*.json")
	dir := filepath.Join(t.TempDir(), "run")
	first := command(append([]string{"analyze", "--json", "--out", dir}, files...)...)
	if again := command("analyze", "--json", dir); first.code != 0 || again.out != first.out {
		t.Errorf("exit %d, and kept it reads otherwise: %s", first.code, again.err)
	}
	if page := read(t, filepath.Join(dir, reportFile)); !strings.Contains(page, "peer_drain") || strings.Contains(page, "0 / 0") {
		t.Errorf("the report does not say the bias, or tells counts that nobody made:\n%s", page)
	}
	if r := command(append([]string{"check", "--require", "knee.concurrency >= 8"}, files...)...); r.code != 0 {
		t.Errorf("check: exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := command(append([]string{"check", "--require", "knee.concurrency >= 9"}, files...)...); r.code != exitMissed {
		t.Errorf("check: exit %d, %s%s", r.code, r.out, r.err)
	}
	table := filepath.Join("..", "..", "testdata", "curves", "example.csv")
	if r := command(append([]string{"check", "--require", "knee.concurrency >= 9", table}, files...)...); r.code != exitUsage || !strings.Contains(r.err, "these make 2") {
		t.Errorf("check of two curves: exit %d, %s", r.code, r.err)
	}
	both := command(append([]string{"analyze", table}, files...)...)
	if both.code != 0 || !strings.Contains(both.out, "vllm-1.json and 5 more\n") || !strings.Contains(both.out, table+"\n") {
		t.Errorf("exit %d, %s\n%.300s", both.code, both.err, both.out)
	}
	for _, figure := range []string{"capacity", "latency", "pareto", "ttft-distribution"} {
		out := filepath.Join(t.TempDir(), figure+".png")
		if r := command(append([]string{"plot", "--figure", figure, "-o", out}, files...)...); r.code != 0 {
			t.Errorf("%s: exit %d, %s", figure, r.code, r.err)
			continue
		}
		if _, err := png.Decode(strings.NewReader(read(t, out))); err != nil {
			t.Error(err)
		}
	}
	out := filepath.Join(t.TempDir(), "both.svg")
	if r := command(append([]string{"plot", table, "-o", out}, files...)...); r.code != 0 {
		t.Errorf("overlay: exit %d, %s", r.code, r.err)
	}
}

// TestPeersThatCannotBeRead wants one line that names the file, or the files that
// do not go together.
func TestPeersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	whole := read(t, peerFiles(t, "vllm-8.json")[0])
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	checkUnreadable(t, put("cut.json", whole[:len(whole)/2]), "the JSON is cut off at byte")
	checkUnreadable(t, put("rate.json", strings.Replace(whole, `"inf"`, "4.5", 1)), `"request_rate" is 4.5: arrivals at a rate (open loop)`)
	checkUnreadable(t, put("burst.json", strings.Replace(whole, `"max_concurrency": 8`, `"max_concurrency": null`, 1)), `no "max_concurrency"`)
	big, err := os.Create(filepath.Join(dir, "big.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	if err := big.Truncate(1 << 40); err != nil { // a hole; it takes no space
		t.Skip(err)
	}
	checkUnreadable(t, big.Name(), "larger than 256 MiB; save the result without its single requests")
	r := command("analyze", peerFiles(t, "vllm-8.json")[0], peerFiles(t, "guidellm.json")[0])
	if want := "kneesweep: vllm-8.json is of vLLM bench serve and guidellm.json of GuideLLM"; r.code != exitFailed || r.out != "" || !strings.HasPrefix(r.err, want) || strings.Count(r.err, "\n") != 1 {
		t.Errorf("exit %d, %q; want %q", r.code, r.err, want)
	}
}

// TestPeersPage runs every command of docs/peers.md.
func TestPeersPage(t *testing.T) {
	t.Parallel()
	lines := readmeCommands(t, filepath.Join("..", "..", "docs", "peers.md"))
	if len(lines) < 2 {
		t.Fatalf("%d commands", len(lines))
	}
	for _, line := range lines {
		if r := command(documented(t, line, "")...); r.code != 0 {
			t.Errorf("%s: exit %d, %s", line, r.code, r.err)
		}
	}
}
