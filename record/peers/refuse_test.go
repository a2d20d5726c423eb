package peers_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/record/peers"
)

// vllmFile is a result of vLLM with more fields, or other ones.
func vllmFile(n int, more string) string {
	return fmt.Sprintf(`{"model_id":"m","max_concurrency":%d,"completed":%d,"failed":0,"output_throughput":%d,"duration":10%s}`, n, 20*n, 10*n, more)
}

// Files that cannot be a level are refused: in one line that says what it is,
// where, and what to do.
func TestFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a", vllmFile(4, `,"request_rate":2.5`), `vLLM bench serve: line 1: "request_rate" is 2.5: arrivals at a rate (open loop) hold no number of streams, so the file has no level; run vllm bench serve with --max-concurrency N`},
		{"a", vllmFile(4, `,"request_rate":"inf","ramp_up_strategy":"linear"`), `"ramp_up_strategy" is linear: arrivals at a rate`},
		{"a", `{"model_id":"m","request_rate":"inf","max_concurrency":null,"output_throughput":5}`, `line 1: no "max_concurrency": the number of streams was not held, or is not written; run vllm bench serve`},
		{"a", vllmFile(4, "") + "\n" + `{"model_id":"m","max_concurrency":-4}`, `line 2: no "max_concurrency"`},
		{"a", vllmFile(4, "")[:60], "line 1: the JSON is cut off at byte 60; copy the file again"},
		{"a", "\n\n" + vllmFile(4, ",x"), "line 3: not JSON at byte 102; copy the file again"},
		{"a", vllmFile(4, "") + "\n" + vllmFile(8, ",x"), "line 2: not JSON at byte 201; copy the file again"},
		{"a", `[` + vllmFile(4, "") + `,7]`, "line 1: \"7\" where an object is expected; remove it"},
		{"a", `{"dataset_name":"trace","request_rate":"trace","max_concurrency":null}`, `sglang.bench_serving: line 1: "request_rate" is trace: arrivals at a rate`},
		{"a", `{"benchmarks":[]}`, `GuideLLM: "benchmarks" is empty; run guidellm with the profile concurrent`},
		{"a", `{"benchmarks":[{"config":{"strategy":{"type_":"poisson","rate":3}}}]}`, `benchmarks[0] is "poisson", which holds no number of streams (open loop, or as many as there are); run guidellm`},
		{"a", `{"benchmarks":[{"config":{"strategy":{"type_":"concurrent"}}}]}`, `benchmarks[0]: no "streams" in its strategy`},
		{"a", `{"benchmarks":[{}]}`, `benchmarks[0]: no "strategy" with its "type_"`},
		{"a", `{"benchmarks":{"a":1}}`, "line 1: benchmarks holds a JSON object, which is not how the tool writes it; give the file as it was written"},
		{"a", `{"output_token_throughput":{"avg":5},"input_config":{"loadgen":{"request_rate":3}}}`, "AIPerf / GenAI-Perf: the request rate is 3: arrivals at a rate"},
		{"a", `{"output_token_throughput":{"avg":5}}`, "no concurrency in input_config: the number of streams was not held"},
		{"a", `{"request_throughput":{"avg":1},"request_latency":{"avg":5}}`, `no "output_token_throughput": the endpoint answered without tokens`},
		{"x-concurrency4/a", `{"output_token_throughput":{"avg":5},"time_to_first_token":{"unit":"parsec","avg":1}}`, `time_to_first_token is in "parsec", where a unit of time is expected`},
		{"x/a", "Metric,avg\nOutput Token Throughput (per sec),5\n", "no concurrency in the table, and none in the name of its folder"},
		{"x/a", "Metric,avg\nRequest Latency (ms),5\n", `no row "Output Token Throughput"`},
		{"x/a", "Metric,avg\n\"a,5\n", "line 2: a quote is not closed"},
		{"a", "| PP | TG | B | S_TG t/s |\n|--|--|--|--|\n", "llama-batched-bench: no rows; run llama-batched-bench with -npl"},
		{"a", "| PP | TG | B | S_TG t/s |\n| 1 | 2 | x | 5 |\n", "line 2: no number of sequences (B, pl); copy the line again"},
		{"a", "log\n{\"pl\":1,\"speed_tg\":5\n", "line 2: not one JSON object"},
		{"a", `{"aggregated_metrics":{"iteration_type":"request_rate","request_rate":2}}`, `genai-bench: "request_rate" is 2: arrivals at a rate`},
		{"a", `{"aggregated_metrics":{}}`, `no "num_concurrency"`},
		{"a", `{"aggregated_metrics":{"num_concurrency":2},"_time_unit":"h"}`, `"_time_unit" is "h", want s or ms`},
	} {
		f, known, err := peers.Read(c.path, []byte(c.text))
		if !known || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: known %v, %+v\n got %v\nwant %s", c.text, known, f, err, c.want)
		}
	}
}

// What no tool wrote is left to other readers.
func TestFilesOfNobody(t *testing.T) {
	for _, text := range []string{
		"", " ", "{}", "[]", "[1]", "{", `{"schema":"kneesweep/curve/v1","benchmarks":[]}`, "concurrency,output_tokens_per_second\n1,5\n",
		`{"run":{"schema":"kneesweep/journal/v1"}}`, "metric,avg\n", "S_TG t/s\n", `{"request_throughput":5}`, "\x00\x01", `"text"`,
	} {
		if f, known, err := peers.Read("a", []byte(text)); known || err != nil {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

// Files that make no common curve are refused by name.
func TestFilesThatDoNotJoin(t *testing.T) {
	sglang := `{"dataset_name":"random","max_concurrency":4,"random_input_len":%d,"random_output_len":8,"request_rate":Infinity,"completed":9,"total_output_tokens":%d}`
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{vllmFile(4, ""), `{"benchmarks":[{"config":{"strategy":{"type_":"synchronous"}}}]}`}, "0.json is of vLLM bench serve and 1.json of GuideLLM, which count differently: they make no common curve; analyze each tool's files with --out"},
		{[]string{vllmFile(4, ""), strings.Replace(vllmFile(8, ""), `"m"`, `"other"`, 1)}, `the model is "m" in 0.json and "other" in 1.json: a curve is of one model and one request shape; give the files of one`},
		{[]string{vllmFile(4, `,"backend":"vllm"`), vllmFile(8, `,"backend":"openai-chat"`)}, `the API is "completions" in 0.json and "chat" in 1.json`},
		{[]string{vllmFile(4, ""), vllmFile(8, ""), vllmFile(4, "")}, "0.json and 2.json hold the same bytes: one measurement is not two; give it once"},
		{[]string{fmt.Sprintf(sglang, 100, 9), fmt.Sprintf(sglang, 200, 9)}, `input tokens asked for is "100" in 0.json and "200" in 1.json`},
		{[]string{fmt.Sprintf(sglang, 100, 90) + "\n" + fmt.Sprintf(sglang, 100, 900)}, "answers have 10 tokens on average at one level and 100 at another"},
		{[]string{"| PP | TG | B | S_TG t/s |\n| 1 | 2 | 1 | 5 |\n| 1 | 4 | 1 | 5 |\n"}, `output tokens asked for is "2" in 0.json and "4" in 0.json: a curve is of one model and one request shape; keep the runs of one in the file`},
		{[]string{`{"traffic_scenario":["D(1,1)"],"benchmark_version":"1"}`}, "0.json: genai-bench: it describes an experiment and holds no measurement"},
		{[]string{`{"output_token_throughput":{"avg":5},"input_config":{"concurrency":[4]}}`, "Metric,Value\nOutput Token Throughput (per sec),5\n"}, "0.json and 1.json: JSON and CSV of AIPerf / GenAI-Perf hold the same figures; give the JSON files alone"},
	} {
		var files []peers.File
		for i, text := range c.files {
			f, known, err := peers.Read(fmt.Sprintf("a/concurrency4/%d.json", i), []byte(text))
			if !known || err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			files = append(files, f)
		}
		if r, err := peers.Join(files); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, %+v\nwant %s", err, r.Run, c.want)
		}
	}
}

// one is the only level of a file.
func one(t *testing.T, text string) load.Step {
	t.Helper()
	f, _, err := peers.Read("a", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := peers.Join([]peers.File{f})
	if err != nil || len(r.Steps) != 1 {
		t.Fatal(r.Steps, err)
	}
	return r.Steps[0]
}

// A level that is none is shown and not fitted, with the reason.
func TestLevelsThatAreNotValid(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Replace(vllmFile(4, ""), `"output_throughput":40`, `"output_throughput":0`, 1), "no tokens"},
		{strings.Replace(vllmFile(4, ""), `"output_throughput":40`, `"output_throughput":NaN`, 1), "no tokens"},
		{vllmFile(4, `,"failed":5`), "error rate 5.9 % over the limit of 5.0 %"},
		{`{"model_id":"m","max_concurrency":4,"completed":95,"num_prompts":101,"output_throughput":9}`, "error rate 5.9 % over the limit of 5.0 %"},
		{`{"model_id":"m","max_concurrency":64,"completed":40,"failed":0,"output_throughput":9}`, "40 requests cannot keep 64 streams busy"},
		{vllmFile(4, `,"mean_e2el_ms":900`), "7.2 requests were in flight on average, more than the streams it says"}, // 80 · 0.9 s / 10 s
	} {
		s := one(t, c.text)
		if s.Valid || !strings.HasPrefix(s.InvalidReason, c.want) {
			t.Errorf("%s: valid %v, %q; want %q", c.text, s.Valid, s.InvalidReason, c.want)
		}
	}
	for _, text := range []string{vllmFile(4, `,"failed":4`), vllmFile(4, `,"mean_e2el_ms":500`), `{"model_id":"m","max_concurrency":4,"output_throughput":9}`} {
		if s := one(t, text); !s.Valid {
			t.Errorf("%s: %s", text, s.InvalidReason)
		}
	}
	if s := one(t, `{"model_id":"m","max_concurrency":4,"output_throughput":9}`); s.ErrorRate.OK || s.Finished != 0 || s.TTFT.Count != 0 || s.Decode.Count != 0 {
		t.Errorf("what is not told: %+v", s)
	}
}

// Whatever a file holds, it is refused or gives levels of finite figures.
func FuzzRead(f *testing.F) {
	_ = filepath.WalkDir(fixtures, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, _ := os.ReadFile(path)
			f.Add(data)
		}
		return nil
	})
	f.Add([]byte(`{"dataset_name":"a","max_concurrency":"4","request_rate":-Infinity,"x":"\"NaN","duration":NaN}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := string(data)
		file, known, err := peers.Read("a-concurrency4/b", data)
		if string(data) != before {
			t.Fatal("the data was changed")
		}
		if !known || err != nil {
			return
		}
		r, err := peers.Join([]peers.File{file})
		if err != nil {
			return
		}
		last := 0
		for _, s := range r.Steps {
			if s.Concurrency <= last || s.Valid && !s.Throughput.OK || s.Valid != (s.InvalidReason == "") || s.Finished < 0 || s.Failed < 0 {
				t.Fatalf("%+v", s)
			}
			last = s.Concurrency
			for _, m := range s.Measurements {
				if !(m > 0) || math.IsInf(m, 0) {
					t.Fatalf("a window of %g", m)
				}
			}
		}
	})
}
