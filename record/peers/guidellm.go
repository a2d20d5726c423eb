package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"kneesweep/load"
)

// guideLLM reads the JSON report of GuideLLM, which holds a benchmark for each
// level. What it calls ITL is (tL − tF)/(n − 1) of each request, which is TPOT,
// weighted by its tokens; what it calls time per output token includes TTFT and
// is not read.
var guideLLM = tool{
	name: "GuideLLM", read: readGuideLLM, doubts: guideDoubts,
	again: "run guidellm with the profile concurrent and --rate 1,2,4,8,16",
}

// guideDoc is a report.
type guideDoc struct {
	Metadata loose[struct {
		Version string `json:"guidellm_version"`
	}] `json:"metadata"`
	Args       loose[guideArgs] `json:"args"`
	Benchmarks []guideBenchmark `json:"benchmarks"`
}

// guideArgs are the arguments of a run. The place of target and model differs by version.
type guideArgs struct {
	guideTarget
	Backend loose[guideTarget]     `json:"backend_kwargs"`
	Data    loose[json.RawMessage] `json:"data"`
}

type guideTarget struct {
	Target loose[string] `json:"target"`
	Model  loose[string] `json:"model"`
}

// guideBenchmark is one benchmark. The place of the strategy differs by version.
type guideBenchmark struct {
	Config struct {
		Strategy guideStrategy      `json:"strategy"`
		Backend  loose[guideTarget] `json:"backend"`
	} `json:"config"`
	Args struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"args"`
	Scheduler struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"scheduler"`
	Start   number `json:"start_time"` // Unix, s
	End     number `json:"end_time"`
	Metrics struct {
		Totals     guideTotals `json:"request_totals"`
		Requests   guideStatus `json:"requests_per_second"`
		InFlight   guideStatus `json:"request_concurrency"`
		Latency    guideStatus `json:"request_latency"` // s
		Prompt     guideStatus `json:"prompt_token_count"`
		Output     guideStatus `json:"output_token_count"`
		TTFT       guideStatus `json:"time_to_first_token_ms"`
		ITL        guideStatus `json:"inter_token_latency_ms"`
		Throughput guideStatus `json:"output_tokens_per_second"`
	} `json:"metrics"`
	Totals guideTotals `json:"request_totals"`
}

type guideStrategy struct {
	Type    loose[string] `json:"type_"`
	Streams number        `json:"streams"`
	Rate    rate          `json:"rate"`
}

type guideTotals struct {
	Successful number `json:"successful"`
	Incomplete number `json:"incomplete"`
	Errored    number `json:"errored"`
}

// guideStatus is a figure of the requests of each fate.
type guideStatus struct {
	Successful guideSummary `json:"successful"`
	Total      guideSummary `json:"total"`
}

type guideSummary struct {
	Mean        number `json:"mean"`
	Median      number `json:"median"`
	Percentiles struct {
		P50 number `json:"p50"`
		P90 number `json:"p90"`
		P95 number `json:"p95"`
		P99 number `json:"p99"`
	} `json:"percentiles"`
}

func (s guideSummary) dist(unit float64, count load.Opt[int]) load.Dist {
	p := s.Percentiles
	return quantiles{first(p.P50, s.Median), p.P90, p.P95, p.P99, s.Mean}.dist(unit, count)
}

func readGuideLLM(f *File, _ string, data []byte) error {
	docs, err := documents(data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		var j guideDoc
		if err := d.decode(&j); err != nil {
			return err
		}
		for i := range j.Benchmarks {
			if err := f.addGuide(&j, i); err != nil {
				return fmt.Errorf("benchmarks[%d]: %w", i, err)
			}
		}
	}
	switch {
	case len(f.runs) > 0:
	case len(f.left) > 0:
		return errors.New(f.left[0] + "; " + f.tool.again)
	default:
		return errors.New(`"benchmarks" is empty; ` + f.tool.again)
	}
	return nil
}

// addGuide takes one benchmark. Those that hold no number of streams are left out.
func (f *File) addGuide(j *guideDoc, i int) error {
	b := &j.Benchmarks[i]
	s := b.strategy()
	n := s.Streams.streams()
	switch s.Type.V {
	case "synchronous":
		n = 1
	case "concurrent":
	case "":
		return f.tool.noLevel(`"strategy" with its "type_"`)
	default:
		f.left = append(f.left, fmt.Sprintf("benchmarks[%d] is %.40q, which holds no number of streams (open loop, or as many as there are)", i, s.Type.V))
		return nil
	}
	if n < 1 {
		return f.tool.noLevel(`"streams" in its strategy`)
	}
	totals := b.Metrics.Totals
	if !totals.Successful.OK {
		totals = b.Totals
	}
	x := &b.Metrics
	m := measured{
		streams: n, throughput: x.Throughput.Total.Mean.positive(), requests: x.Requests.Successful.Mean.positive(),
		busy: x.InFlight.Total.Mean.positive(), finished: totals.Successful.count(), failed: totals.Errored.count(), span: spanWhole,
		prompt: x.Prompt.Successful.Mean.positive(), output: x.Output.Successful.Mean.positive(),
	}
	switch {
	case !m.throughput.OK:
		m.throughput, m.span = x.Throughput.Successful.Mean.positive(), spanCompleted
	case totals.Incomplete.V > 0:
		m.span = spanCut
	}
	if b.Start.V > 0 && b.Start.V < 1e11 {
		m.started = time.Unix(int64(b.Start.V), 0).UTC()
		m.seconds = number{load.Opt[float64]{V: b.End.V - b.Start.V, OK: b.End.OK}}.positive()
	}
	m.ttft, m.tpot, m.e2e = x.TTFT.Successful.dist(1e-3, m.finished), x.ITL.Successful.dist(1e-3, m.finished), x.Latency.Successful.dist(1, m.finished)
	args := &j.Args.V
	m.model = firstText(b.Config.Backend.V.Model.V, args.Model.V, args.Backend.V.Model.V)
	m.target = firstText(b.Config.Backend.V.Target.V, args.Target.V, args.Backend.V.Target.V)
	m.shape.InputTokensAsked, m.shape.OutputTokensAsked = tokensNamed(args.Data.V, "prompt"), tokensNamed(args.Data.V, "output")
	f.runs = append(f.runs, m)
	return nil
}

func (b *guideBenchmark) strategy() guideStrategy {
	for _, s := range []guideStrategy{b.Config.Strategy, b.Args.Strategy, b.Scheduler.Strategy} {
		if s.Type.V != "" {
			return s
		}
	}
	return guideStrategy{}
}

// tokensOf finds lengths in the text that describes synthetic prompts, as
// prompt_tokens=512,output_tokens=128 or the same as JSON. 0 = not there.
var tokensOf = regexp.MustCompile(`\b(prompt|output)_tokens\\?["']?\s*[=:]\s*(\d{1,9})\b`)

func tokensNamed(data []byte, kind string) int {
	for _, m := range tokensOf.FindAllSubmatch(data, -1) {
		if string(m[1]) == kind {
			n, _ := strconv.Atoi(string(m[2]))
			return n
		}
	}
	return 0
}

// firstText is the first text that is not empty.
func firstText(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func guideDoubts(runs []measured) []string {
	doubts := []string{
		"throughput is too low: GuideLLM divides the tokens of every request that touches the measured span by the time from the first to the last of them, ramp-up included, and spreads the tokens of a request evenly",
		"TTFT, TPOT and E2E are too low if answers were empty or not streamed: GuideLLM counts what is missing as 0",
		"mean and percentiles of TPOT lean towards long answers: GuideLLM weights each request by its tokens",
	}
	if slices.ContainsFunc(runs, func(m measured) bool { return m.span == spanCompleted }) {
		doubts = append(doubts, "throughput is too low, the more so the more streams there are: the report tells the tokens of successful requests only, not of those that were still running at the end")
	}
	return doubts
}
