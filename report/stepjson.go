package report

import "kneesweep/load"

// sloJSON says whether a level meets the SLO; met is null when too few requests
// tell.
type sloJSON struct {
	Met  load.Opt[bool] `json:"met"`
	Text string         `json:"text"`
}

func sloOf(o load.Opt[load.SLO]) *sloJSON {
	if !o.OK {
		return nil
	}
	return &sloJSON{Met: o.V.Met, Text: o.V.Text}
}

func (j *sloJSON) load() load.Opt[load.SLO] {
	if j == nil {
		return load.Opt[load.SLO]{}
	}
	return load.Some(load.SLO{Met: j.Met, Text: j.Text})
}

// stepJSON is one concurrency level.
type stepJSON struct {
	Concurrency   int              `json:"concurrency"`
	Valid         bool             `json:"valid"`
	InvalidReason load.Opt[string] `json:"invalid_reason"`
	Steady        load.Opt[bool]   `json:"steady"`
	Scout         bool             `json:"scout"`
	Drift         number           `json:"drift"`
	WindowMS      number           `json:"window_ms"`

	Measurements []number     `json:"measurements"`
	Throughput   intervalJSON `json:"output_tokens_per_second"`
	Visible      number       `json:"visible_tokens_per_second"`
	Requests     number       `json:"requests_per_second"`
	Goodput      number       `json:"goodput_requests_per_second"`
	SLO          *sloJSON     `json:"slo"`
	Cost         *costJSON    `json:"cost"`

	Decode  distJSON `json:"decode_tokens_per_second"`
	TTFT    distJSON `json:"ttft_ms"`
	TTFC    distJSON `json:"ttfc_ms"`
	Hits    distJSON `json:"ttft_cached_ms"`
	Misses  distJSON `json:"ttft_uncached_ms"`
	Connect distJSON `json:"connect_ms"`
	TPOT    distJSON `json:"tpot_ms"`
	ITL     distJSON `json:"itl_ms"`
	ICL     distJSON `json:"icl_ms"`
	E2E     distJSON `json:"e2e_ms"`

	InFlight          inFlightJSON    `json:"in_flight"`
	DecodeConcurrency concurrencyJSON `json:"decode_concurrency"`
	LittlesLaw        number          `json:"littles_law"`
	Waves             number          `json:"waves"`

	Started       load.Opt[int]  `json:"started"`
	Finished      load.Opt[int]  `json:"finished"`
	Failed        load.Opt[int]  `json:"failed"`
	InFlightAtEnd load.Opt[int]  `json:"in_flight_at_end"`
	Failures      map[string]int `json:"failures"`
	ErrorRate     number         `json:"error_rate"`
	BackoffMS     number         `json:"backoff_ms"`

	TokenSource      load.Opt[string] `json:"token_source"`
	ScaledShare      number           `json:"scaled_share"`
	TokensPerChunk   number           `json:"tokens_per_chunk"`
	HiddenShare      number           `json:"hidden_share"`
	CachedShare      number           `json:"cached_share"`
	Canary           *canaryJSON      `json:"canary"`
	OutputLengthMean number           `json:"output_length_mean"`
	PromptTokensMean number           `json:"prompt_tokens_mean"`
	Models           map[string]int   `json:"models"`
	Fingerprints     map[string]int   `json:"fingerprints"`
	Headers          map[string]int   `json:"headers"`

	ConnectionsOpened load.Opt[int]  `json:"connections_opened"`
	ConnectionsReused load.Opt[int]  `json:"connections_reused"`
	Replayed          load.Opt[int]  `json:"replayed"`
	Retries           load.Opt[int]  `json:"retries"`
	DispatchDelay     distJSON       `json:"dispatch_delay_ms"`
	Client            clientJSON     `json:"client"`
	Server            *serverJSON    `json:"server"`
	Warnings          []load.Warning `json:"warnings"`
}

// forget makes null what a file of summaries does not say. Such a level is known
// by its started, which is always null.
func (j *stepJSON) forget() {
	none := load.Opt[int]{}
	j.Steady = load.Opt[bool]{}
	j.BackoffMS, j.ScaledShare = number{}, number{}
	if j.Requests.V == 0 {
		j.Requests = number{}
	}
	if !j.ErrorRate.OK {
		j.Failed = none
	}
	if j.Finished.V == 0 && !j.ErrorRate.OK {
		j.Finished, j.Waves = none, number{}
	}
	j.Started, j.InFlightAtEnd = none, none
	j.ConnectionsOpened, j.ConnectionsReused, j.Replayed, j.Retries = none, none, none, none
}

func stepOf(s load.Step) stepJSON {
	j := stepJSON{
		Concurrency: s.Concurrency, Valid: s.Valid, InvalidReason: text(s.InvalidReason), Steady: load.Some(s.Steady), Scout: s.Scout, Drift: finiteOpt(s.Drift),
		Measurements: make([]number, len(s.Measurements)), Throughput: intervalMembers(s.Throughput),
		Visible: finiteOpt(s.VisibleTokens), Requests: finite(s.Requests), Goodput: finiteOpt(s.Goodput), SLO: sloOf(s.SLO), Cost: costOf(s.Cost),
		Decode: distOf(s.Decode, finite), TTFT: millisDist(s.TTFT), TTFC: millisDist(s.TTFC), Hits: millisDist(s.Hits), Misses: millisDist(s.Misses), Connect: millisDist(s.Connect),
		TPOT: millisDist(s.TPOT), ITL: millisDist(s.ITL), ICL: millisDist(s.ICL), E2E: millisDist(s.E2E),
		InFlight: inFlightOf(s.InFlight), DecodeConcurrency: concurrencyOf(s.DecodeConcurrency),
		LittlesLaw: finiteOpt(s.LittlesLaw), Waves: finite(s.Waves),
		Started: load.Some(s.Started), Finished: load.Some(s.Finished), Failed: load.Some(s.Failed), InFlightAtEnd: load.Some(s.InFlightAtEnd),
		Failures: counts(s.Failures), ErrorRate: finiteOpt(s.ErrorRate), BackoffMS: millisOf(s.Backoff),
		TokenSource: text(s.TokenSource), ScaledShare: finite(s.ScaledShare), TokensPerChunk: finiteOpt(s.TokensPerChunk),
		HiddenShare: finiteOpt(s.HiddenShare), CachedShare: finiteOpt(s.CachedShare), Canary: canaryOf(s.Canary),
		OutputLengthMean: finiteOpt(s.OutputLengthMean), PromptTokensMean: finiteOpt(s.PromptTokensMean),
		Models: counts(s.Models), Fingerprints: counts(s.Fingerprints), Headers: counts(s.Headers),
		ConnectionsOpened: load.Some(s.ConnectionsOpened), ConnectionsReused: load.Some(s.ConnectionsReused),
		Replayed: load.Some(s.Replayed), Retries: load.Some(s.Retries), DispatchDelay: millisDist(s.DispatchDelay),
		Client: clientOf(s.Client), Server: serverOf(s.Server), Warnings: list(s.Warnings),
	}
	for i, x := range s.Measurements {
		j.Measurements[i] = finite(x)
	}
	if s.Window > 0 {
		j.WindowMS = millisOf(s.Window)
	}
	if s.Imported {
		j.forget()
	}
	return j
}

func (j stepJSON) load() load.Step {
	s := load.Step{
		Concurrency: j.Concurrency, Valid: j.Valid, InvalidReason: j.InvalidReason.V, Steady: j.Steady.V || !j.Steady.OK, Scout: j.Scout, Imported: !j.Started.OK, Drift: j.Drift, Window: duration(j.WindowMS),
		Throughput: j.Throughput.opt(), VisibleTokens: j.Visible, Requests: j.Requests.V, Goodput: j.Goodput, SLO: j.SLO.load(), Cost: j.Cost.load(),
		Decode: j.Decode.load(1), TTFT: j.TTFT.load(1e3), TTFC: j.TTFC.load(1e3), Hits: j.Hits.load(1e3), Misses: j.Misses.load(1e3), Connect: j.Connect.load(1e3),
		TPOT: j.TPOT.load(1e3), ITL: j.ITL.load(1e3), ICL: j.ICL.load(1e3), E2E: j.E2E.load(1e3),
		InFlight: j.InFlight.load(), DecodeConcurrency: j.DecodeConcurrency.load(),
		LittlesLaw: j.LittlesLaw, Waves: j.Waves.V,
		Started: j.Started.V, Finished: j.Finished.V, Failed: j.Failed.V, InFlightAtEnd: j.InFlightAtEnd.V,
		Failures: j.Failures, ErrorRate: j.ErrorRate, Backoff: duration(j.BackoffMS),
		TokenSource: load.TokenSource(j.TokenSource.V), ScaledShare: j.ScaledShare.V, TokensPerChunk: j.TokensPerChunk,
		HiddenShare: j.HiddenShare, CachedShare: j.CachedShare, Canary: j.Canary.load(),
		OutputLengthMean: j.OutputLengthMean, PromptTokensMean: j.PromptTokensMean,
		Models: j.Models, Fingerprints: j.Fingerprints, Headers: j.Headers,
		ConnectionsOpened: j.ConnectionsOpened.V, ConnectionsReused: j.ConnectionsReused.V,
		Replayed: j.Replayed.V, Retries: j.Retries.V, DispatchDelay: j.DispatchDelay.load(1e3),
		Client: j.Client.load(), Server: j.Server.load(), Warnings: j.Warnings,
	}
	for _, x := range j.Measurements {
		s.Measurements = append(s.Measurements, orNaN(x))
	}
	return s
}
