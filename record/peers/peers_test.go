package peers_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/record/peers"
)

const fixtures = "../../testdata/peers"

// join reads the fixtures that match a pattern as one curve.
func join(t *testing.T, pattern string) peers.Result {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	var files []peers.File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, known, err := peers.Read(path, data)
		if err != nil || !known {
			t.Fatalf("%s: known %v, %v", path, known, err)
		}
		files = append(files, f)
	}
	r, err := peers.Join(files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// level is what a fixture says of a level, worked out by hand. Times are seconds;
// NaN is what the file does not tell.
type level struct {
	n              int
	rates          []float64
	requests       float64
	finished       int
	failed         int // −1 = not told
	valid          bool
	ttft, tpot     load.Dist
	icl, e2e       load.Dist
	decode         float64 // median
	prompt, output float64
}

var nan = math.NaN()

func dist(p50, p90, p95, p99, mean float64, count int) load.Dist {
	return load.Dist{P50: p50, P90: p90, P95: p95, P99: p99, Mean: mean, Count: count}
}

func TestLevelsOfEachTool(t *testing.T) {
	none := load.Dist{}
	for _, c := range []struct {
		pattern, tool string
		levels        []level
	}{
		// 8 streams: 160 requests of 100 tokens at 400 tokens/s take 40 s, 4 requests/s.
		{"vllm-8.json", "vLLM bench serve (vllm-8.json)", []level{{
			8, []float64{400}, 4, 160, 0, true, dist(.046, nan, nan, .098, .048, 160), dist(.020, nan, nan, .025, .019, 160),
			dist(.0185, nan, nan, .044, .0195, 160), none, 50, 128, 100,
		}}},
		// Two runs at 8: medians 410 of 400 and 420, requests 6.25 and 6.5625. A TPOT of 0 is none.
		{"sglang.jsonl", "sglang.bench_serving (sglang.jsonl)", []level{
			{1, []float64{50}, .78125, 10, -1, true, dist(.055, nan, nan, .08, .06, 10), none, dist(.0172, nan, .021, nan, .0182, 10), dist(1.19, nan, nan, 1.3, 1.2, 10), 0, 256, 64},
			{2, []float64{100}, 1.5625, 20, -1, true, dist(.055, nan, nan, .08, .06, 20), dist(.017, nan, nan, .022, .018, 20), dist(.0172, nan, .021, nan, .0182, 20), dist(1.19, nan, nan, 1.3, 1.2, 20), 1 / .017, 256, 64},
			{4, []float64{200}, 3.125, 40, -1, true, dist(.055, nan, nan, .08, .06, 40), dist(.017, nan, nan, .022, .018, 40), dist(.0172, nan, .021, nan, .0182, 40), dist(1.19, nan, nan, 1.3, 1.2, 40), 1 / .017, 256, 64},
			{8, []float64{400, 420}, 6.40625, 160, -1, true, dist(.055, nan, nan, .08, .06, 160), dist(.017, nan, nan, .022, .018, 160), dist(.0172, nan, .021, nan, .0182, 160), dist(1.19, nan, nan, 1.3, 1.2, 160), 1 / .017, 256, 64},
			{16, []float64{415}, 6.484375, 160, -1, true, dist(.055, nan, nan, .08, .06, 160), dist(.017, nan, nan, .022, .018, 160), dist(.0172, nan, .021, nan, .0182, 160), dist(1.19, nan, nan, 1.3, 1.2, 160), 1 / .017, 256, 64},
		}},
		// Throughput of all requests, not of the successful ones (6 less); latencies of the
		// successful ones; 30 of 130 failed at 16; the benchmark at a rate is left out.
		{"guidellm.json", "GuideLLM (guidellm.json)", []level{
			{1, []float64{48}, .5, 100, 0, true, dist(.1, .14, .15, .18, .11, 100), dist(.02, .022, .023, .025, .0205, 100), none, dist(2, 2.4, 2.6, 2.9, 2.1, 100), 50, 512, 96},
			{2, []float64{96}, 1, 100, 0, true, none, dist(.02, .022, .023, .025, .0205, 100), none, dist(2, 2.4, 2.6, 2.9, 2.1, 100), 50, 512, 96},
			{4, []float64{192}, 2, 100, 2, true, dist(.1, .14, .15, .18, .11, 100), dist(.02, .022, .023, .025, .0205, 100), none, dist(2, 2.4, 2.6, 2.9, 2.1, 100), 50, 512, 96},
			{8, []float64{384}, 4, 100, 0, true, dist(.1, .14, .15, .18, .11, 100), dist(.02, .022, .023, .025, .0205, 100), none, dist(2, 2.4, 2.6, 2.9, 2.1, 100), 50, 512, 96},
			{16, []float64{390}, 4.0625, 100, 30, false, dist(.1, .14, .15, .18, .11, 100), dist(.02, .022, .023, .025, .0205, 100), none, dist(2, 2.4, 2.6, 2.9, 2.1, 100), 50, 512, 96},
		}},
		// The level under loadgen, phases and stimulus; chunk gaps in µs; 10 of 90 failed at 8.
		{"aiperf-*.json", "AIPerf / GenAI-Perf (aiperf-16.json, aiperf-2.json, aiperf-4.json and 1 more)", []level{
			{2, []float64{90}, 1.8, 20, 0, true, dist(.075, .095, .099, .12, .08, 20), dist(.018, .02, .021, .024, .0188, 20), dist(.0181, nan, nan, .03, .0189, 20), dist(.99, 1.1, 1.15, 1.2, 1, 20), 55, 300, 50},
			{4, []float64{180}, 3.6, 40, 1, true, dist(.075, .095, .099, .12, .08, 40), dist(.018, .02, .021, .024, .0188, 40), dist(.0181, nan, nan, .03, .0189, 40), dist(.99, 1.1, 1.15, 1.2, 1, 40), 55, 300, 50},
			{8, []float64{360}, 7.2, 80, 10, false, dist(.075, .095, .099, .12, .08, 80), dist(.018, .02, .021, .024, .0188, 80), dist(.0181, nan, nan, .03, .0189, 80), dist(.99, 1.1, 1.15, 1.2, 1, 80), 55, 300, 50},
			{16, []float64{365}, 7.3, 160, -1, true, dist(.075, .095, .099, .12, .08, 160), dist(.018, .02, .021, .024, .0188, 160), dist(.0181, nan, nan, .03, .0189, 160), dist(.99, 1.1, 1.15, 1.2, 1, 160), 55, 300, 50},
		}},
		// Commas between thousands; the level from the folder.
		{"tiny-*8/*.csv", "AIPerf / GenAI-Perf (profile_export_genai_perf.csv)", []level{
			{8, []float64{2100}, 1.2, 40, -1, true, dist(.64007, 3.21506, 3.34956, 3.45797, 1.14631, 40), dist(.03013, .03253, .03388, .03523, .03035, 40), none, dist(2.9, 3.1, 3.2, 3.3, 3, 40), 1 / .03013, 0, 174.45},
		}},
		// T_TG/TG: 8·128 tokens at 300 tokens/s take 3.413 s, a step 26.66 ms.
		{"batched.txt", "llama-batched-bench (batched.txt)", batchedLevels()},
		{"batched.jsonl", "llama-batched-bench (batched.jsonl)", batchedLevels()},
		// Seconds, milliseconds, seconds; 4 of 20 failed at 4.
		{"genai-bench-*.json", "genai-bench (genai-bench-1.json, genai-bench-2.json, genai-bench-4.json and 1 more)", []level{
			{1, []float64{70}, .7, 4, 0, true, dist(.25, .275, .3, .325, .25, 4), dist(.01, .011, .012, .013, .01, 4), none, dist(1.25, 1.375, 1.5, 1.625, 1.25, 4), 100, 106, 100},
			{2, []float64{105}, 1.4, 8, 0, true, dist(.25, .275, .3, .325, .25, 8), dist(.01, .011, .012, .013, .01, 8), none, dist(1.25, 1.375, 1.5, 1.625, 1.25, 8), 100, 106, 100},
			{4, []float64{280}, 2.8, 16, 4, false, dist(.25, .275, .3, .325, .25, 16), dist(.01, .011, .012, .013, .01, 16), none, dist(1.25, 1.375, 1.5, 1.625, 1.25, 16), 100, 106, 100},
		}},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			r := join(t, c.pattern)
			if r.Run.Tool != c.tool || r.Run.Status != load.StatusComplete {
				t.Errorf("tool %q, status %q", r.Run.Tool, r.Run.Status)
			}
			if len(r.Steps) != len(c.levels) {
				t.Fatalf("%d levels, want %d", len(r.Steps), len(c.levels))
			}
			for i, want := range c.levels {
				want.check(t, r.Steps[i])
			}
		})
	}
}

func batchedLevels() (all []level) {
	for _, x := range [][2]float64{{1, 50}, {2, 98}, {4, 180}, {8, 300}, {16, 310}} {
		step := math.Round(x[0]*128/x[1]*1000) / 1000 / 128 // printed in ms
		all = append(all, level{n: int(x[0]), rates: []float64{x[1]}, failed: -1, valid: true, tpot: dist(step, nan, nan, nan, step, int(x[0])), decode: 1 / step})
	}
	return all
}

func (l level) check(t *testing.T, s load.Step) {
	t.Helper()
	if s.Concurrency != l.n || !slices.Equal(s.Measurements, l.rates) || s.Valid != l.valid || !s.Imported || s.Valid != (s.InvalidReason == "") {
		t.Errorf("level %d: windows %v, valid %v (%s); want level %d, %v, %v", s.Concurrency, s.Measurements, s.Valid, s.InvalidReason, l.n, l.rates, l.valid)
	}
	failed := s.Failed
	if !s.ErrorRate.OK {
		failed = -1
	}
	if s.Finished != l.finished || failed != l.failed {
		t.Errorf("level %d: %d finished, %d failed; want %d and %d", l.n, s.Finished, failed, l.finished, l.failed)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"requests/s", s.Requests, l.requests}, {"decode rate", s.Decode.P50, l.decode},
		{"prompt tokens", s.PromptTokensMean.V, l.prompt}, {"output tokens", s.OutputLengthMean.V, l.output},
	} {
		if !near(f.got, f.want) {
			t.Errorf("level %d: %s %v, want %v", l.n, f.name, f.got, f.want)
		}
	}
	for _, d := range []struct {
		name      string
		got, want load.Dist
	}{{"TTFT", s.TTFT, l.ttft}, {"TPOT", s.TPOT, l.tpot}, {"ICL", s.ICL, l.icl}, {"E2E", s.E2E, l.e2e}, {"ITL", s.ITL, load.Dist{}}} {
		a, b := d.got, d.want
		if a.Count != b.Count || !near(a.P50, b.P50) || !near(a.P90, b.P90) || !near(a.P95, b.P95) || !near(a.P99, b.P99) || !near(a.Mean, b.Mean) {
			t.Errorf("level %d: %s %+v, want %+v", l.n, d.name, a, b)
		}
	}
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// What a run asked, of whom, and when; keys and passwords stay behind.
func TestAccountOfARun(t *testing.T) {
	for _, c := range []struct {
		pattern, model, target, dialect, source string
		in, out                                 int
		got                                     float64
	}{
		{"vllm-*.json", "org/tiny", "vllm-1.json, vllm-16.json, vllm-2.json and 3 more", "chat", "", 0, 0, 128},
		{"sglang.jsonl", "org/tiny", "sglang.jsonl", "completions", "random", 256, 64, 256},
		{"guidellm.json", "org/tiny", "http://127.0.0.1:8000", "", "", 512, 96, 512},
		{"aiperf-*.json", "org/tiny", "localhost:8000", "chat", "", 300, 50, 300},
		{"tiny-*/*.csv", "", "tiny-openai-chat-concurrency4/profile_export_genai_perf.csv, tiny-openai-chat-concurrency8/profile_export_genai_perf.csv", "", "", 0, 0, 0},
		{"batched.txt", "", "batched.txt", "", "", 256, 128, 0},
		{"genai-bench-*.json", "org/tiny", "genai-bench-1.json, genai-bench-2.json, genai-bench-4.json and 1 more", "", "scenario D(100,100)", 100, 100, 106},
	} {
		r := join(t, c.pattern)
		q := r.Run.Request
		if r.Run.Model != c.model || r.Run.Target != c.target || q.Dialect != c.dialect || q.Source != c.source ||
			q.InputTokensAsked != c.in || q.OutputTokensAsked != c.out || q.InputTokensGot.V != c.got || q.InputTokensGot.OK != (c.got > 0) {
			t.Errorf("%s: %+v", c.pattern, r.Run)
		}
	}
	if at := join(t, "guidellm.json").Run.Started; at.Unix() != 1767225600 {
		t.Errorf("started %v, want the first benchmark's start", at)
	}
}

// texts are the warnings of a code, of the curve and of a level.
func texts(list []load.Warning, code string) (all string) {
	for _, w := range list {
		if w.Code == code {
			all += w.Text + "\n"
		}
	}
	return all
}

// Every tool's way of counting is said with the direction in which it pulls.
func TestBiasIsSaid(t *testing.T) {
	for _, c := range []struct{ pattern, curve, step string }{
		{"vllm-8.json", "throughput is too low: vLLM|TTFT and gaps are too high|output tokens may be too low|TTFT is too low where", "throughput is too low: 20 answers per stream (at the knee"},
		{"sglang.jsonl", "throughput is too low: bench_serving|throughput is too high where the server sends no usage|TTFT is too high: every request opens", "throughput may be too high by up to 5 %|on average 0.9 of 1 streams"},
		{"guidellm.json", "throughput is too low: GuideLLM|counts what is missing as 0|lean towards long answers|left out: guidellm.json: benchmarks[5] is \"constant\"", ""},
		{"aiperf-2.json", "throughput is too low: AIPerf|tokenizer unless the server's count", "10 answers per stream|on average 1.8 of 2 streams"},
		{"tiny-*8/*.csv", "throughput is too low: AIPerf", "name of its folder"},
		{"batched.txt", "throughput is too high for a server|no TTFT and no queue", "with it these are 48.12 output tokens/s"}, // 128 / (2.56 + 0.1) s
		{"genai-bench-2.json", "a flat plateau can look like a decline|TPOT is a little too high", "too low by about 25 % more"},
	} {
		r := join(t, c.pattern)
		curve := texts(r.Warnings, load.WarnPeerBias)
		for _, want := range strings.Split(c.curve, "|") {
			if !strings.Contains(curve, want) {
				t.Errorf("%s: the curve does not say %q:\n%s", c.pattern, want, curve)
			}
		}
		step := texts(r.Steps[0].Warnings, load.WarnPeerBias) + texts(r.Steps[0].Warnings, load.WarnPeerDrain)
		for _, want := range strings.Split(c.step, "|") {
			if !strings.Contains(step, want) {
				t.Errorf("%s: the first level does not say %q:\n%s", c.pattern, want, step)
			}
		}
	}
	f, _, err := peers.Read("a", []byte(`{"output_token_throughput":{"avg":5},"input_config":{"endpoint":{"use_server_token_count":true},"loadgen":{"concurrency":2}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := peers.Join([]peers.File{f}); err != nil || strings.Contains(texts(r.Warnings, load.WarnPeerBias), "tokenizer") {
		t.Errorf("tokens that the server counted are doubted: %+v, %v", r.Warnings, err)
	}
	// Streams that were busy for 99 % of the time lost nothing worth saying.
	for _, s := range join(t, "guidellm.json").Steps {
		if text := texts(s.Warnings, load.WarnPeerDrain); text != "" {
			t.Errorf("level %d: %s", s.Concurrency, text)
		}
	}
}
