package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kneesweep/load"
)

// aiperf reads the JSON that AIPerf and its predecessor GenAI-Perf export, one
// run a file. What they call inter-token latency is (E2E − TTFT)/(n − 1) of each
// request, which is TPOT; inter-chunk latency is ICL.
var aiperf = tool{
	name: "AIPerf / GenAI-Perf", read: readAIPerf, doubts: aiperfDoubts,
	again: "run aiperf or genai-perf with --concurrency N, and without --request-rate, once for each N",
}

// metric is a figure of AIPerf with its unit.
type metric struct {
	Unit  string `json:"unit"`
	Avg   number `json:"avg"`
	P50   number `json:"p50"`
	P90   number `json:"p90"`
	P95   number `json:"p95"`
	P99   number `json:"p99"`
	Count number `json:"count"`
}

// aiperfDoc is one export.
type aiperfDoc struct {
	Throughput   metric             `json:"output_token_throughput"`
	PerUser      metric             `json:"output_token_throughput_per_user"`
	Requests     metric             `json:"request_throughput"`
	Latency      metric             `json:"request_latency"`
	TTFT         metric             `json:"time_to_first_token"`
	ITL          metric             `json:"inter_token_latency"`
	ICL          metric             `json:"inter_chunk_latency"`
	OutputLength metric             `json:"output_sequence_length"`
	InputLength  metric             `json:"input_sequence_length"`
	RequestCount metric             `json:"request_count"`
	Errors       metric             `json:"error_request_count"`
	Duration     metric             `json:"benchmark_duration"`
	ErrorSummary *[]aiperfError     `json:"error_summary"`
	Cancelled    loose[bool]        `json:"was_cancelled"`
	Input        loose[aiperfInput] `json:"input_config"`
}

type aiperfError struct {
	Details loose[struct {
		Code number `json:"code"`
		Type string `json:"type"`
	}] `json:"error_details"`
	Count number `json:"count"`
}

// aiperfInput is the configuration of a run, in the places where versions keep it.
type aiperfInput struct {
	aiperfLoad
	Loadgen  loose[aiperfLoad]   `json:"loadgen"`
	Phases   loose[[]aiperfLoad] `json:"phases"`
	Analyzer loose[struct {
		Stimulus aiperfLoad `json:"stimulus"`
	}] `json:"perf_analyzer"`

	Models   loose[json.RawMessage] `json:"models"`
	Names    loose[[]string]        `json:"model_names"`
	Endpoint loose[struct {
		Names loose[[]string] `json:"model_names"`
		URL   loose[string]   `json:"url"`
		URLs  loose[[]string] `json:"urls"`
		Type  loose[string]   `json:"type"`
		Usage loose[bool]     `json:"use_server_token_count"`
	}] `json:"endpoint"`
	Prompt loose[struct {
		Prompt    loose[aiperfLengths] `json:"prompt"`
		Synthetic loose[aiperfMean]    `json:"synthetic_tokens"`
		Output    loose[aiperfMean]    `json:"output_tokens"`
	}] `json:"input"`
}

type aiperfLoad struct {
	Name        loose[string] `json:"name"`
	Concurrency single        `json:"concurrency"`
	RequestRate rate          `json:"request_rate"`
	Rate        rate          `json:"rate"`
}

type aiperfMean struct {
	Mean number `json:"mean"`
}

type aiperfLengths struct {
	Input  loose[aiperfMean] `json:"input_tokens"`
	Output loose[aiperfMean] `json:"output_tokens"`
}

// single is a number that may stand in a list of its own.
type single struct{ number }

// UnmarshalJSON reads it; it never fails.
func (s *single) UnmarshalJSON(b []byte) error {
	var list []number
	if json.Unmarshal(b, &list) == nil && len(list) == 1 {
		s.number = list[0]
		return nil
	}
	return s.number.UnmarshalJSON(b)
}

func readAIPerf(f *File, path string, data []byte) error {
	docs, err := documents(data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		var j aiperfDoc
		if err := d.decode(&j); err != nil {
			return err
		}
		if !j.Throughput.Avg.OK {
			return errors.New(`no "output_token_throughput": the endpoint answered without tokens, or the file was cut; run it against a chat or completions endpoint`)
		}
		m, err := j.run(f.tool, path)
		if err != nil {
			return err
		}
		f.runs = append(f.runs, m)
	}
	return nil
}

func (j *aiperfDoc) run(t *tool, path string) (measured, error) {
	in := &j.Input.V
	held := in.held()
	if r := firstText(string(held.RequestRate), string(held.Rate)); r != "" {
		return measured{}, t.openLoop("the request rate", r)
	}
	m, err := j.figures()
	if err != nil {
		return m, err
	}
	if m.streams = held.Concurrency.streams(); m.streams < 1 {
		if m.streams = streamsInFolder(path); m.streams < 1 {
			return m, t.noLevel("concurrency in input_config")
		}
		m.doubts = append(m.doubts, levelOfFolder)
	}
	e := &in.Endpoint.V
	m.model = firstText(firstOf(in.Names.V), firstOf(e.Names.V), modelNamed(in.Models.V))
	m.target, m.shape.Dialect = firstText(e.URL.V, firstOf(e.URLs.V)), dialect(e.Type.V)
	m.serverTokens = e.Usage.V
	p := &in.Prompt.V
	m.shape.InputTokensAsked = first(p.Prompt.V.Input.V.Mean, p.Synthetic.V.Mean).count().V
	m.shape.OutputTokensAsked = first(p.Prompt.V.Output.V.Mean, p.Output.V.Mean).count().V
	if j.Cancelled.V {
		m.doubts = append(m.doubts, "the run was cancelled: its figures are those of a part")
	}
	return m, nil
}

// figures converts what was measured.
func (j *aiperfDoc) figures() (measured, error) {
	m := measured{
		throughput: j.Throughput.Avg.positive(), requests: j.Requests.Avg.positive(), finished: j.RequestCount.Avg.count(),
		prompt: j.InputLength.Avg.positive(), output: j.OutputLength.Avg.positive(), failed: j.Errors.Avg.count(),
	}
	if list := j.ErrorSummary; list != nil {
		m.failures = map[string]int{}
		sum := 0
		for _, e := range *list {
			n := e.Count.count().V
			sum += n
			m.failures[e.cause()] += n
		}
		if !m.failed.OK && sum < most {
			m.failed = load.Some(sum)
		}
	}
	if s, err := j.Duration.seconds("benchmark_duration"); err != nil {
		return m, err
	} else if d := j.Duration.Avg.positive(); d.OK {
		m.seconds = load.Some(d.V * s)
	}
	for _, x := range []struct {
		name string
		from *metric
		to   *load.Dist
	}{
		{"time_to_first_token", &j.TTFT, &m.ttft}, {"inter_token_latency", &j.ITL, &m.tpot},
		{"inter_chunk_latency", &j.ICL, &m.icl}, {"request_latency", &j.Latency, &m.e2e},
	} {
		unit, err := x.from.seconds(x.name)
		if err != nil {
			return m, err
		}
		*x.to = x.from.dist(unit, m.finished)
	}
	m.decode = j.PerUser.dist(1, m.finished)
	return m, nil
}

func (e aiperfError) cause() string {
	if code := e.Details.V.Code.count(); code.V >= 400 && code.V < 600 && code.V != 499 {
		return fmt.Sprint("http_", code.V)
	}
	return firstText(fmt.Sprintf("%.40s", e.Details.V.Type), "unknown")
}

func (x *metric) dist(unit float64, count load.Opt[int]) load.Dist {
	if own := x.Count.count(); own.V > 0 {
		count = own
	}
	return quantiles{x.P50, x.P90, x.P95, x.P99, x.Avg}.dist(unit, count)
}

// seconds is what one unit of a time is worth.
func (x *metric) seconds(name string) (float64, error) {
	switch strings.ToLower(x.Unit) {
	case "ms", "": // files without units have milliseconds
		return 1e-3, nil
	case "s", "sec", "seconds":
		return 1, nil
	case "us", "µs":
		return 1e-6, nil
	case "ns":
		return 1e-9, nil
	}
	return 0, fmt.Errorf("%s is in %.20q, where a unit of time is expected; give the file as it was written", name, x.Unit)
}

// held is the load that was held while measuring.
func (in *aiperfInput) held() aiperfLoad {
	all := []aiperfLoad{in.Loadgen.V, in.Analyzer.V.Stimulus, in.aiperfLoad}
	for _, p := range in.Phases.V {
		if p.Name.V != "warmup" {
			all = append(all, p)
		}
	}
	for _, l := range all {
		if l.Concurrency.OK || l.RequestRate != "" || l.Rate != "" {
			return l
		}
	}
	return aiperfLoad{}
}

// modelNamed finds the first name in {"items":[{"name":…}]}.
func modelNamed(raw json.RawMessage) string {
	var models struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if json.Unmarshal(raw, &models) != nil || len(models.Items) == 0 {
		return ""
	}
	return models.Items[0].Name
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// folderLevel is how both tools name the folder of a run by default, as in
// model-openai-chat-concurrency8.
var folderLevel = regexp.MustCompile(`concurrency[-_]?(\d{1,9})(?:\D|$)`)

// levelOfFolder says where the level comes from if not from the file.
const levelOfFolder = "the number of streams is not in the file and comes from the name of its folder"

// streamsInFolder finds the level in the name of the folder of a run; 0 = it is not there.
func streamsInFolder(path string) int {
	folder := filepath.Base(filepath.Dir(path))
	m := folderLevel.FindStringSubmatch(folder)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func aiperfDoubts(runs []measured) []string {
	doubts := []string{
		"throughput is too low: AIPerf and GenAI-Perf divide all tokens by the time from the first request to the last answer, ramp-up and drain included, so the plateau seems to come later and to rise",
	}
	if slices.ContainsFunc(runs, func(m measured) bool { return !m.serverTokens }) {
		doubts = append(doubts, "output tokens are counted with the client's tokenizer unless the server's count was asked for: throughput can be off either way by some per cent")
	}
	return doubts
}
