package peers

import (
	"fmt"
	"math"
	"strings"
)

// sglang reads the JSON Lines of sglang.bench_serving, one run a line. TPOT is
// (E2E − TTFT)/(n − 1); what it calls ITL are the gaps between chunks.
var sglang = tool{
	name: "sglang.bench_serving", read: readSGLang, doubts: sglangDoubts,
	again: "run bench_serving with --max-concurrency N, and without --request-rate, once for each N",
}

// retokenisedApart is from which difference on two counts of tokens disagree.
const retokenisedApart = 0.02

// sglangDoc is one result of SGLang. An infinite request_rate is written as
// Infinity, which reads as undefined.
type sglangDoc struct {
	serving
	Dataset     loose[string] `json:"dataset_name"`
	RandomIn    number        `json:"random_input_len"`
	RandomOut   number        `json:"random_output_len"`
	Retokenised number        `json:"total_output_tokens_retokenized"`
	Concurrency number        `json:"concurrency"` // mean in flight: sum of E2E / duration
	Server      loose[struct {
		Model string `json:"model_path"`
	}] `json:"server_info"`
	MedianE2E number `json:"median_e2e_latency_ms"`
	P90E2E    number `json:"p90_e2e_latency_ms"`
	P95E2E    number `json:"p95_e2e_latency_ms"`
	P99E2E    number `json:"p99_e2e_latency_ms"`
	MeanE2E   number `json:"mean_e2e_latency_ms"`
}

func readSGLang(f *File, _ string, data []byte) error {
	docs, err := documents(data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		var j sglangDoc
		if err := d.decode(&j); err != nil {
			return err
		}
		m, err := j.run(f.tool)
		if err != nil {
			return fmt.Errorf("line %d: %w", d.line, err)
		}
		m.model, m.busy = j.Server.V.Model, j.Concurrency.positive()
		m.shape.Source = j.Dataset.V
		if strings.HasPrefix(j.Dataset.V, "random") {
			m.shape.InputTokensAsked, m.shape.OutputTokensAsked = j.RandomIn.count().V, j.RandomOut.count().V
		}
		m.e2e = quantiles{j.MedianE2E, j.P90E2E, j.P95E2E, j.P99E2E, j.MeanE2E}.dist(1e-3, m.finished)
		if r := ratio(j.Retokenised.positive(), j.Output.positive()); r.OK && math.Abs(r.V-1) > retokenisedApart {
			m.doubts = append(m.doubts, retokenised(r.V))
		}
		f.runs = append(f.runs, m)
	}
	return nil
}

// retokenised says what it means that the tokenizer counts other than the result:
// r is its count as a fraction of the result's.
func retokenised(r float64) string {
	if r < 1 {
		return fmt.Sprintf("throughput may be too high by up to %.0f %%: counted again with a tokenizer the answers have %.0f %% of the tokens, and without usage from the server it is the tokens asked for that count", 100*(1/r-1), 100*r)
	}
	return fmt.Sprintf("throughput may be too low by up to %.0f %%: counted again with a tokenizer the answers have %.0f %% of the tokens", 100*(1-1/r), 100*r)
}

func sglangDoubts([]measured) []string {
	return []string{
		"throughput is too low: bench_serving divides all tokens by the whole run, ramp-up and drain included, so the plateau seems to come later and to rise",
		"throughput is too high where the server sends no usage: then the tokens asked for count, not those that came",
		"TTFT is too high: every request opens a connection of its own, and its time counts; at many streams the delay of the one Python process does, too",
	}
}
