package report

import (
	"time"

	"kneesweep/load"
)

// runJSON is where the figures came from.
type runJSON struct {
	ID          string           `json:"id"`
	Started     *time.Time       `json:"started"`
	Tool        string           `json:"tool"`
	Target      string           `json:"target"`
	Model       load.Opt[string] `json:"model"`
	Label       load.Opt[string] `json:"label"`
	Seed        uint64           `json:"seed"`
	DatasetHash load.Opt[string] `json:"dataset_hash"`
	Status      load.Opt[string] `json:"status"`
	StopReason  load.Opt[string] `json:"stop_reason"`
	Request     requestJSON      `json:"request"`
	Settings    settingsJSON     `json:"settings"`
	Truth       *truthJSON       `json:"truth"`
	Pauses      []spanJSON       `json:"pauses"`
	Preflight   *refusalJSON     `json:"preflight"`
}

// requestJSON is what was asked of the endpoint. A length of 0 was not given
// and is null.
type requestJSON struct {
	InputTokensAsked  load.Opt[int]    `json:"input_tokens_asked"`
	InputTokensGot    number           `json:"input_tokens_got_mean"`
	OutputTokensAsked load.Opt[int]    `json:"output_tokens_asked"`
	InputLengths      *lengthsJSON     `json:"input_lengths"`
	OutputLengths     *lengthsJSON     `json:"output_lengths"`
	LeftOut           load.Opt[int]    `json:"lines_left_out"`
	Stream            load.Opt[bool]   `json:"stream"`
	Dialect           load.Opt[string] `json:"dialect"`
	CacheMode         load.Opt[string] `json:"cache_mode"`
	Cache             load.Opt[string] `json:"cache"`
	Source            load.Opt[string] `json:"source"`
	Extra             load.Opt[string] `json:"extra"`
	Insecure          load.Opt[bool]   `json:"insecure"`
}

// lengthsJSON is the distribution of lengths that are drawn; null where they are not.
type lengthsJSON struct {
	Asked string `json:"asked"`
	Mean  number `json:"mean"`
}

func lengthsOf(l load.Lengths) *lengthsJSON {
	if l.Asked == "" {
		return nil
	}
	return &lengthsJSON{l.Asked, finite(l.Mean)}
}

func (j *lengthsJSON) load() load.Lengths {
	if j == nil {
		return load.Lengths{}
	}
	return load.Lengths{Asked: j.Asked, Mean: orNaN(j.Mean)}
}

// settingsJSON is how it was measured. A null window was chosen per level.
type settingsJSON struct {
	WindowMS     number        `json:"window_ms"`
	Measurements load.Opt[int] `json:"measurements"`
	Passes       load.Opt[int] `json:"passes"`
	Requests     load.Opt[int] `json:"requests"`
	ThinkMS      number        `json:"think_ms"`
	Warmup       load.Opt[int] `json:"warmup"`
	MaxErrorRate number        `json:"max_error_rate"`
	Precision    number        `json:"precision"`
	SLO          *string       `json:"slo"` // no Opt, which would escape <
	Prices       *pricesJSON   `json:"prices"`

	Journal load.Opt[string] `json:"journal"`

	Rates    []number         `json:"rates_requests_per_second"` // [] in a closed loop
	Arrivals load.Opt[string] `json:"arrivals"`
	Replay   bool             `json:"replay"`
}

// refusalJSON is the failure that kept a sweep from beginning.
type refusalJSON struct {
	Cause string           `json:"cause"`
	Error load.Opt[string] `json:"error"`
}

// spanJSON is a stretch of time since the run began.
type spanJSON struct {
	From number `json:"from_ms"`
	To   number `json:"to_ms"`
}

// truthJSON is the embedded simulator's own answer.
type truthJSON struct {
	Knee           number `json:"knee"`
	AdmissionLimit number `json:"admission_limit"`
}

func runOf(r load.Run) runJSON {
	j := runJSON{
		ID: r.ID, Tool: r.Tool, Target: r.Target, Model: text(r.Model), Label: text(r.Label),
		Seed: r.Seed, DatasetHash: text(r.DatasetHash), Status: text(r.Status), StopReason: text(r.StopReason),
		Request: requestJSON{
			InputTokensAsked: positive(r.Request.InputTokensAsked), InputTokensGot: finiteOpt(r.Request.InputTokensGot),
			InputLengths: lengthsOf(r.Request.InputLengths), OutputLengths: lengthsOf(r.Request.OutputLengths), LeftOut: positive(r.Request.LeftOut),
			OutputTokensAsked: positive(r.Request.OutputTokensAsked), Stream: load.Some(r.Request.Stream),
			Dialect: text(r.Request.Dialect), CacheMode: text(r.Request.CacheMode), Cache: text(r.Request.Cache), Source: text(r.Request.Source),
			Extra: text(r.Request.Extra), Insecure: load.Some(r.Request.Insecure),
		},
		Settings: settingsJSON{
			Measurements: positive(r.Settings.Measurements), Passes: positive(r.Settings.Passes),
			Requests: positive(r.Settings.Requests), ThinkMS: millisOf(r.Settings.Think), Warmup: load.Some(r.Settings.Warmup), MaxErrorRate: finite(r.Settings.MaxErrorRate),
			Prices: pricesOf(r.Settings.Prices), Journal: text(r.Settings.Journal), Rates: []number{}, Arrivals: text(r.Settings.Arrivals), Replay: r.Settings.Replay,
		},
	}
	if !r.Started.IsZero() {
		j.Started = &r.Started
	}
	if r.Settings.Passes == 0 { // not a sweep: a table says nothing of this
		j.Request.Stream, j.Request.Insecure, j.Settings.Warmup = load.Opt[bool]{}, load.Opt[bool]{}, load.Opt[int]{}
		j.Settings.ThinkMS, j.Settings.MaxErrorRate = number{}, number{}
	}
	if r.Settings.Window > 0 {
		j.Settings.WindowMS = millisOf(r.Settings.Window)
	}
	if r.Settings.Precision > 0 {
		j.Settings.Precision = finite(r.Settings.Precision)
	}
	if r.Settings.SLO != "" {
		j.Settings.SLO = &r.Settings.SLO
	}
	for _, rate := range r.Settings.Rates {
		j.Settings.Rates = append(j.Settings.Rates, finite(rate))
	}
	j.Pauses = []spanJSON{}
	for _, p := range r.Pauses {
		j.Pauses = append(j.Pauses, spanJSON{millisOf(p.From), millisOf(p.To)})
	}
	if p := r.Preflight; p != nil {
		j.Preflight = &refusalJSON{Cause: string(p.Cause), Error: text(p.Error)}
	}
	if r.Truth != nil {
		j.Truth = &truthJSON{Knee: finite(r.Truth.Knee), AdmissionLimit: finite(r.Truth.AdmissionLimit)}
	}
	return j
}

func (j runJSON) load() load.Run {
	r := load.Run{
		ID: j.ID, Tool: j.Tool, Target: j.Target, Model: j.Model.V, Label: j.Label.V,
		Seed: j.Seed, DatasetHash: j.DatasetHash.V, Status: load.Status(j.Status.V), StopReason: j.StopReason.V,
		Request: load.RequestShape{
			InputTokensAsked: j.Request.InputTokensAsked.V, InputTokensGot: j.Request.InputTokensGot,
			InputLengths: j.Request.InputLengths.load(), OutputLengths: j.Request.OutputLengths.load(), LeftOut: j.Request.LeftOut.V,
			OutputTokensAsked: j.Request.OutputTokensAsked.V, Stream: j.Request.Stream.V,
			Dialect: j.Request.Dialect.V, CacheMode: j.Request.CacheMode.V, Cache: j.Request.Cache.V, Source: j.Request.Source.V,
			Extra: j.Request.Extra.V, Insecure: j.Request.Insecure.V,
		},
		Settings: load.Settings{
			Window: duration(j.Settings.WindowMS), Measurements: j.Settings.Measurements.V, Passes: j.Settings.Passes.V,
			Requests: j.Settings.Requests.V, Think: duration(j.Settings.ThinkMS), Warmup: j.Settings.Warmup.V, MaxErrorRate: j.Settings.MaxErrorRate.V,
			Precision: j.Settings.Precision.V, Prices: j.Settings.Prices.load(), Journal: j.Settings.Journal.V,
			Arrivals: j.Settings.Arrivals.V, Replay: j.Settings.Replay,
		},
	}
	if j.Started != nil {
		r.Started = *j.Started
	}
	for _, p := range j.Pauses {
		r.Pauses = append(r.Pauses, load.Pause{From: duration(p.From), To: duration(p.To)})
	}
	if j.Settings.SLO != nil {
		r.Settings.SLO = *j.Settings.SLO
	}
	for _, rate := range j.Settings.Rates {
		r.Settings.Rates = append(r.Settings.Rates, orNaN(rate))
	}
	if p := j.Preflight; p != nil {
		r.Preflight = &load.Refusal{Cause: load.Cause(p.Cause), Error: p.Error.V}
	}
	if j.Truth != nil {
		r.Truth = &load.Truth{Knee: orNaN(j.Truth.Knee), AdmissionLimit: orNaN(j.Truth.AdmissionLimit)}
	}
	return r
}
