package peers

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kneesweep/load"
)

// genaiBench reads the JSON of genai-bench: a file for each level, and the
// experiment_metadata.json beside them, which names the model. TPOT is
// (tE − tF)/(n − 1) of each request.
var genaiBench = tool{
	name: "genai-bench", read: readGenAI, doubts: genaiDoubts,
	again: "run genai-bench with --iteration-type num_concurrency and --num-concurrency N for each N, and give its files ..._concurrency_N_....json",
}

// genaiDoc is a result, or the metadata of an experiment.
type genaiDoc struct {
	Result *genaiMetrics `json:"aggregated_metrics"`
	Unit   loose[string] `json:"_time_unit"` // of the latencies; not there in older files: s

	Model    loose[string] `json:"model"`
	APIModel loose[string] `json:"api_model_name"`
}

type genaiMetrics struct {
	Scenario    loose[string]         `json:"scenario"`
	Iteration   loose[string]         `json:"iteration_type"`
	Concurrency number                `json:"num_concurrency"`
	Rate        rate                  `json:"request_rate"`
	Duration    number                `json:"run_duration"` // s
	Throughput  number                `json:"mean_output_throughput_tokens_per_s"`
	Requests    number                `json:"requests_per_second"`
	Completed   number                `json:"num_completed_requests"`
	Errors      number                `json:"num_error_requests"`
	Codes       loose[map[string]int] `json:"error_codes_frequency"`
	Stats       struct {
		TTFT   genaiStat `json:"ttft"`
		TPOT   genaiStat `json:"tpot"`
		E2E    genaiStat `json:"e2e_latency"`
		Speed  genaiStat `json:"output_inference_speed"` // 1/TPOT, tokens/s
		Prompt genaiStat `json:"num_input_tokens"`
		Output genaiStat `json:"num_output_tokens"`
	} `json:"stats"`
}

type genaiStat struct {
	Mean number `json:"mean"`
	Sum  number `json:"sum"`
	P50  number `json:"p50"`
	P90  number `json:"p90"`
	P95  number `json:"p95"`
	P99  number `json:"p99"`
}

func (s genaiStat) dist(unit float64, count load.Opt[int]) load.Dist {
	return quantiles{s.P50, s.P90, s.P95, s.P99, s.Mean}.dist(unit, count)
}

func readGenAI(f *File, _ string, data []byte) error {
	docs, err := documents(data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		var j genaiDoc
		if err := d.decode(&j); err != nil {
			return err
		}
		if j.Result == nil {
			f.model = firstText(j.APIModel.V, j.Model.V)
			continue
		}
		m, err := j.run(f.tool)
		if err != nil {
			return err
		}
		f.runs = append(f.runs, m)
	}
	return nil
}

func (j *genaiDoc) run(t *tool) (measured, error) {
	r := j.Result
	if r.Rate != "" || r.Iteration.V == "request_rate" {
		return measured{}, t.openLoop(`"request_rate"`, firstText(string(r.Rate), "what was varied"))
	}
	n := r.Concurrency.streams()
	if n < 1 {
		return measured{}, t.noLevel(`"num_concurrency"`)
	}
	unit := 1.0
	switch j.Unit.V {
	case "ms":
		unit = 1e-3
	case "s", "":
	default:
		return measured{}, fmt.Errorf(`"_time_unit" is %.20q, want s or ms; give the file as it was written`, j.Unit.V)
	}
	m := measured{
		streams: n, throughput: r.Throughput.positive(), requests: r.Requests.positive(), seconds: r.Duration.positive(),
		finished: r.Completed.count(), failed: r.Errors.count(), failures: genaiCauses(r.Codes.V), span: spanCompleted,
		prompt: r.Stats.Prompt.Mean.positive(), output: r.Stats.Output.Mean.positive(),
		ttft: r.Stats.TTFT.dist(unit, r.Completed.count()), tpot: r.Stats.TPOT.dist(unit, r.Completed.count()),
		e2e: r.Stats.E2E.dist(unit, r.Completed.count()), decode: r.Stats.Speed.dist(1, r.Completed.count()),
	}
	m.shape = scenarioShape(r.Scenario.V)
	if counted := ratio(r.Stats.Output.Sum.positive(), m.output); counted.OK && m.finished.V > 0 {
		if share := counted.V / float64(m.finished.V); share < 0.995 {
			m.doubts = append(m.doubts, fmt.Sprintf("throughput is too low by about %.0f %% more: the first and last answers were left out of the tokens and not out of the time", 100*(1-share)))
		}
	}
	return m, nil
}

// genaiCauses are our names for its error codes.
func genaiCauses(codes map[string]int) map[string]int {
	causes := map[string]int{}
	for code, n := range codes {
		if c, err := strconv.Atoi(code); err == nil && c >= 400 && c < 600 {
			code = "http_" + code
		}
		causes[fmt.Sprintf("%.40s", code)] += max(0, min(n, most))
	}
	return causes
}

// scenarioPart is one length: D(100,200) has both, N(480,240)/(300,150) a mean
// with a deviation for each.
var scenarioPart = regexp.MustCompile(`^(?:D\((\d{1,9}),(\d{1,9})\)|N\((\d{1,9}),\d+\)/\((\d{1,9}),\d+\))$`)

func scenarioShape(scenario string) load.RequestShape {
	s := load.RequestShape{}
	if scenario != "" {
		s.Source = "scenario " + scenario
	}
	if p := scenarioPart.FindStringSubmatch(strings.ReplaceAll(scenario, " ", "")); p != nil {
		s.InputTokensAsked, _ = strconv.Atoi(p[1] + p[3])
		s.OutputTokensAsked, _ = strconv.Atoi(p[2] + p[4])
	}
	return s
}

// errNoResult is what is wrong with an experiment_metadata.json alone.
var errNoResult = errors.New("it describes an experiment and holds no measurement; give the files of its levels, ..._concurrency_N_....json, too")

func genaiDoubts([]measured) []string {
	return []string{
		"throughput is too low, the more so the more streams there are: genai-bench drops the tokens of requests that were still running at the end, so a flat plateau can look like a decline",
		"TPOT is a little too high: genai-bench measures it to the end of the stream",
	}
}
