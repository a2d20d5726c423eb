package peers

import (
	"fmt"
	"strings"

	"kneesweep/load"
)

// vllm reads the JSON that `vllm bench serve` writes with --save-result, one run
// a file, or one after the other with --append-result. TPOT is (tL − tF)/(n − 1)
// of each request; what it calls ITL are the gaps between chunks.
var vllm = tool{
	name: "vLLM bench serve", read: readVLLM, doubts: vllmDoubts,
	again: "run vllm bench serve with --max-concurrency N, and without --request-rate, once for each N",
}

// serving are the fields that the files of vLLM and of SGLang, which descends
// from it, have in common.
type serving struct {
	Backend        loose[string] `json:"backend"`
	EndpointType   loose[string] `json:"endpoint_type"`
	RequestRate    rate          `json:"request_rate"`
	MaxConcurrency number        `json:"max_concurrency"`
	NumPrompts     number        `json:"num_prompts"`
	Duration       number        `json:"duration"` // s
	Completed      number        `json:"completed"`
	Failed         number        `json:"failed"`
	Input          number        `json:"total_input_tokens"`
	Output         number        `json:"total_output_tokens"`
	Requests       number        `json:"request_throughput"`
	Throughput     number        `json:"output_throughput"`

	// Milliseconds. Percentiles are there as far as they were asked for.
	MedianTTFT number `json:"median_ttft_ms"`
	P50TTFT    number `json:"p50_ttft_ms"`
	P90TTFT    number `json:"p90_ttft_ms"`
	P95TTFT    number `json:"p95_ttft_ms"`
	P99TTFT    number `json:"p99_ttft_ms"`
	MeanTTFT   number `json:"mean_ttft_ms"`
	MedianTPOT number `json:"median_tpot_ms"`
	P50TPOT    number `json:"p50_tpot_ms"`
	P90TPOT    number `json:"p90_tpot_ms"`
	P95TPOT    number `json:"p95_tpot_ms"`
	P99TPOT    number `json:"p99_tpot_ms"`
	MeanTPOT   number `json:"mean_tpot_ms"`
	MedianITL  number `json:"median_itl_ms"`
	P50ITL     number `json:"p50_itl_ms"`
	P90ITL     number `json:"p90_itl_ms"`
	P95ITL     number `json:"p95_itl_ms"`
	P99ITL     number `json:"p99_itl_ms"`
	MeanITL    number `json:"mean_itl_ms"`
}

// rate is a request rate: set when it is a number, or arrivals from a trace, and
// not when it is absent or infinite.
type rate string

// UnmarshalJSON reads a rate; it never fails.
func (r *rate) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	switch strings.ToLower(s) {
	case "", "null", "inf", "infinity", "nan", "[]", "{}":
		return nil
	}
	if n := numberOf(s); n.OK && n.V <= 0 {
		return nil
	}
	*r = rate(fmt.Sprintf("%.40s", s))
	return nil
}

// vllmDoc is one result of vLLM.
type vllmDoc struct {
	serving
	Model     loose[string] `json:"model_id"`
	RampUp    loose[string] `json:"ramp_up_strategy"` // of the request rate
	MedianE2E number        `json:"median_e2el_ms"`
	P50E2E    number        `json:"p50_e2el_ms"`
	P90E2E    number        `json:"p90_e2el_ms"`
	P95E2E    number        `json:"p95_e2el_ms"`
	P99E2E    number        `json:"p99_e2el_ms"`
	MeanE2E   number        `json:"mean_e2el_ms"`
}

func readVLLM(f *File, _ string, data []byte) error {
	docs, err := documents(data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		var j vllmDoc
		if err := d.decode(&j); err != nil {
			return err
		}
		if j.RampUp.V != "" {
			return fmt.Errorf("line %d: %w", d.line, f.tool.openLoop(`"ramp_up_strategy"`, fmt.Sprintf("%.40s", j.RampUp.V)))
		}
		m, err := j.run(f.tool)
		if err != nil {
			return fmt.Errorf("line %d: %w", d.line, err)
		}
		m.model = j.Model.V
		m.e2e = quantiles{first(j.MedianE2E, j.P50E2E), j.P90E2E, j.P95E2E, j.P99E2E, j.MeanE2E}.dist(1e-3, m.finished)
		f.runs = append(f.runs, m)
	}
	return nil
}

// run takes what both tools write.
func (j *serving) run(t *tool) (measured, error) {
	if j.RequestRate != "" {
		return measured{}, t.openLoop(`"request_rate"`, string(j.RequestRate))
	}
	n := j.MaxConcurrency.streams()
	if n < 1 {
		return measured{}, t.noLevel(`"max_concurrency"`)
	}
	m := measured{
		streams: n, throughput: j.Throughput.positive(), requests: j.Requests.positive(), seconds: j.Duration.positive(),
		finished: j.Completed.count(), failed: j.Failed.count(),
	}
	if asked := j.NumPrompts.count(); !m.failed.OK && m.finished.OK && asked.OK && asked.V >= m.finished.V {
		m.failed = load.Some(asked.V - m.finished.V)
	}
	m.prompt, m.output = ratio(j.Input.positive(), float(m.finished)), ratio(j.Output.positive(), float(m.finished))
	m.shape.Dialect = dialect(j.Backend.V, j.EndpointType.V)
	m.ttft = quantiles{first(j.MedianTTFT, j.P50TTFT), j.P90TTFT, j.P95TTFT, j.P99TTFT, j.MeanTTFT}.dist(1e-3, m.finished)
	m.tpot = quantiles{first(j.MedianTPOT, j.P50TPOT), j.P90TPOT, j.P95TPOT, j.P99TPOT, j.MeanTPOT}.dist(1e-3, m.finished)
	m.icl = quantiles{first(j.MedianITL, j.P50ITL), j.P90ITL, j.P95ITL, j.P99ITL, j.MeanITL}.dist(1e-3, m.finished)
	return m, nil
}

// first is a, or b where a is undefined.
func first(a, b number) number {
	if a.OK {
		return a
	}
	return b
}

// dialect names the API by the name of the client that spoke it.
func dialect(names ...string) string {
	for _, name := range names {
		switch {
		case strings.Contains(name, "chat"), strings.HasSuffix(name, "-oai-chat"):
			return "chat"
		case name == "openai", name == "vllm", strings.HasSuffix(name, "-oai"), strings.Contains(name, "completions"):
			return "completions"
		}
	}
	return ""
}

func vllmDoubts(runs []measured) []string {
	doubts := []string{
		"throughput is too low: vLLM bench serve divides all tokens by the whole run, ramp-up and drain included, so the plateau seems to come later and to rise",
		"TTFT and gaps are too high at many streams: one Python process reads all of them, and its own delay counts",
		"output tokens may be too low: where the server sends no usage they are counted with a tokenizer, which does not see reasoning; the file does not say which it was",
	}
	if runs[0].shape.Dialect != "completions" {
		doubts = append(doubts, "TTFT is too low where the server opens with an event without text: it ends TTFT, and TPOT is then too high")
	}
	return doubts
}
