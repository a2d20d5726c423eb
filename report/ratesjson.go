package report

import (
	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// ratesJSON is a sweep over offered rates; null for one over levels.
type ratesJSON struct {
	Process     string         `json:"process"`
	Replay      bool           `json:"replay"`
	Streams     int            `json:"streams"`
	Steps       []rateStepJSON `json:"steps"`
	Knee        rateKneeJSON   `json:"knee"`
	Recommended rateAdviceJSON `json:"recommended"`
}

// rateStepJSON is one offered rate.
type rateStepJSON struct {
	Rate          number           `json:"rate_requests_per_second"`
	Valid         bool             `json:"valid"`
	InvalidReason load.Opt[string] `json:"invalid_reason"`

	MeasuredMS   number        `json:"measured_ms"`
	WindowMS     number        `json:"window_ms"`
	Offered      number        `json:"offered_requests_per_second"`
	Requests     number        `json:"requests_per_second"`
	Measurements []number      `json:"measurements"`
	Throughput   *intervalJSON `json:"output_tokens_per_second"`
	Drift        number        `json:"drift"`
	InFlight     inFlightJSON  `json:"in_flight"`

	Arrivals int            `json:"arrivals"`
	Waited   int            `json:"waited"`
	Unsent   int            `json:"unsent"`
	Finished int            `json:"finished"`
	Failed   int            `json:"failed"`
	Failures map[string]int `json:"failures"`

	ErrorRate        number     `json:"error_rate"`
	OutputLengthMean number     `json:"output_length_mean"`
	TTFT             distJSON   `json:"ttft_ms"`
	TPOT             distJSON   `json:"tpot_ms"`
	E2E              distJSON   `json:"e2e_ms"`
	FromPlan         distJSON   `json:"ttft_from_schedule_ms"`
	E2EPlan          distJSON   `json:"e2e_from_schedule_ms"`
	Delay            distJSON   `json:"dispatch_delay_ms"`
	Client           clientJSON `json:"client"`
}

// rateKneeJSON is the verdict on the offered rates.
type rateKneeJSON struct {
	Verdict         load.Opt[string] `json:"verdict"`
	Rate            *intervalJSON    `json:"rate_requests_per_second"`
	LowerBound      number           `json:"lower_bound"`
	Plateau         number           `json:"plateau_tokens_per_second"`
	Slope           number           `json:"slope_tokens_per_request"`
	N95             number           `json:"n95"`
	Soft            bool             `json:"soft"`
	Retrograde      *rateDeclineJSON `json:"retrograde"`
	Outliers        []number         `json:"outliers"`
	RisePerDoubling number           `json:"rise_per_doubling"`
	Fit             *rateFitJSON     `json:"fit"`
	Warnings        []load.Warning   `json:"warnings"`
}

type rateDeclineJSON struct {
	From number `json:"from"`
	Drop number `json:"drop"`
}

// rateFitJSON is the fitted line a + b*min(rate, k), over the rates from..to.
type rateFitJSON struct {
	A    number `json:"a"`
	B    number `json:"b"`
	K    number `json:"k"`
	From number `json:"from"`
	To   number `json:"to"`
}

// rateAdviceJSON is the rate to allow, and the streams in flight there.
type rateAdviceJSON struct {
	Rate    number        `json:"rate_requests_per_second"`
	Streams load.Opt[int] `json:"streams"`
	Text    string        `json:"text"`
}

func ratesOf(r *analysis.RateSweep) *ratesJSON {
	if r == nil {
		return nil
	}
	j := &ratesJSON{
		Process: r.Process, Replay: r.Replay, Streams: r.Streams, Steps: []rateStepJSON{}, Knee: rateKneeOf(r.Knee),
		Recommended: rateAdviceJSON{finiteOpt(r.Recommended.Rate), r.Recommended.Streams, r.Recommended.Text},
	}
	for _, s := range r.Steps {
		j.Steps = append(j.Steps, rateStepOf(s))
	}
	return j
}

func (j *ratesJSON) load() *analysis.RateSweep {
	if j == nil {
		return nil
	}
	r := &analysis.RateSweep{
		Process: j.Process, Replay: j.Replay, Streams: j.Streams, Knee: j.Knee.load(),
		Recommended: analysis.RateAdvice{Rate: j.Recommended.Rate, Streams: j.Recommended.Streams, Text: j.Recommended.Text},
	}
	for _, s := range j.Steps {
		r.Steps = append(r.Steps, s.load())
	}
	return r
}

func rateStepOf(s load.RateStep) rateStepJSON {
	j := rateStepJSON{
		Rate: finite(s.Rate), Valid: s.Valid, InvalidReason: text(s.InvalidReason),
		MeasuredMS: millisOf(s.Measured), WindowMS: millisOf(s.Window), Requests: finite(s.Requests), Measurements: make([]number, len(s.Measurements)),
		Throughput: intervalOrNull(s.Throughput), Drift: finiteOpt(s.Drift), InFlight: inFlightOf(s.InFlight),
		Arrivals: s.Arrivals, Waited: s.Waited, Unsent: s.Unsent, Finished: s.Finished, Failed: s.Failed, Failures: counts(s.Failures),
		ErrorRate: finiteOpt(s.ErrorRate), OutputLengthMean: finiteOpt(s.OutputLengthMean), TTFT: millisDist(s.TTFT), TPOT: millisDist(s.TPOT), E2E: millisDist(s.E2E),
		FromPlan: millisDist(s.ScheduledTTFT), E2EPlan: millisDist(s.ScheduledE2E), Delay: millisDist(s.Delay), Client: clientOf(s.Client),
	}
	if s.Measured > 0 {
		j.Offered = finite(s.Offered())
	}
	for i, x := range s.Measurements {
		j.Measurements[i] = finite(x)
	}
	return j
}

func (j rateStepJSON) load() load.RateStep {
	s := load.RateStep{
		Rate: j.Rate.V, Valid: j.Valid, InvalidReason: j.InvalidReason.V,
		Measured: duration(j.MeasuredMS), Window: duration(j.WindowMS), Requests: j.Requests.V, Throughput: j.Throughput.opt(), Drift: j.Drift, InFlight: j.InFlight.load(),
		Arrivals: j.Arrivals, Waited: j.Waited, Unsent: j.Unsent, Finished: j.Finished, Failed: j.Failed, Failures: j.Failures,
		ErrorRate: j.ErrorRate, OutputLengthMean: j.OutputLengthMean, TTFT: j.TTFT.load(1e3), TPOT: j.TPOT.load(1e3), E2E: j.E2E.load(1e3),
		ScheduledTTFT: j.FromPlan.load(1e3), ScheduledE2E: j.E2EPlan.load(1e3), Delay: j.Delay.load(1e3), Client: j.Client.load(),
	}
	for _, x := range j.Measurements {
		s.Measurements = append(s.Measurements, orNaN(x))
	}
	return s
}

func rateKneeOf(k analysis.RateKnee) rateKneeJSON {
	j := rateKneeJSON{
		Verdict: text(k.Verdict), Rate: intervalOrNull(k.Rate), LowerBound: finiteOpt(k.LowerBound), Plateau: finiteOpt(k.Plateau), Slope: finiteOpt(k.Slope),
		N95: finiteOpt(k.N95), Soft: k.Soft, Outliers: []number{}, RisePerDoubling: finiteOpt(k.RisePerDoubling), Warnings: list(k.Warnings),
	}
	for _, rate := range k.Outliers {
		j.Outliers = append(j.Outliers, finite(rate))
	}
	if d := k.Retrograde; d != nil {
		j.Retrograde = &rateDeclineJSON{finite(d.From), finite(d.Drop)}
	}
	if f := k.Fit; f != nil {
		j.Fit = &rateFitJSON{finite(f.A), finite(f.B), finite(f.K), finite(f.From), finite(f.To)}
	}
	return j
}

func (j rateKneeJSON) load() analysis.RateKnee {
	k := analysis.RateKnee{
		Verdict: knee.Verdict(j.Verdict.V), Rate: j.Rate.opt(), LowerBound: j.LowerBound, Plateau: j.Plateau, Slope: j.Slope,
		N95: j.N95, Soft: j.Soft, RisePerDoubling: j.RisePerDoubling, Warnings: j.Warnings,
	}
	for _, rate := range j.Outliers {
		k.Outliers = append(k.Outliers, orNaN(rate))
	}
	if d := j.Retrograde; d != nil {
		k.Retrograde = &analysis.RateDecline{From: orNaN(d.From), Drop: orNaN(d.Drop)}
	}
	if f := j.Fit; f != nil && f.A.OK && f.B.OK && f.K.OK {
		k.Fit = &analysis.RateFit{A: f.A.V, B: f.B.V, K: f.K.V, From: orNaN(f.From), To: orNaN(f.To)}
	}
	return k
}
