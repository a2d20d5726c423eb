package report

import (
	"kneesweep/analysis"
	"kneesweep/analysis/cost"
	"kneesweep/load"
)

// pricesJSON are the prices of the run; null if none was given.
type pricesJSON struct {
	Input  number        `json:"input_per_million"`
	Cached number        `json:"cached_per_million"`
	Output number        `json:"output_per_million"`
	Hour   number        `json:"per_gpu_hour"`
	GPUs   load.Opt[int] `json:"gpus"`
	Duty   number        `json:"duty_cycle"`
}

func pricesOf(p load.Prices) *pricesJSON {
	if p == (load.Prices{}) {
		return nil
	}
	return &pricesJSON{finite(p.Input), finite(p.Cached), finite(p.Output), finite(p.Hour), positive(p.GPUs), finite(p.Duty)}
}

func (j *pricesJSON) load() load.Prices {
	if j == nil {
		return load.Prices{}
	}
	return load.Prices{Input: j.Input.V, Cached: j.Cached.V, Output: j.Output.V, Hour: j.Hour.V, GPUs: j.GPUs.V, Duty: j.Duty.V}
}

// costJSON is what the output of a level costs; null without prices.
type costJSON struct {
	PerMillion intervalJSON `json:"per_million_output_tokens"`
	Rate       number       `json:"output_tokens_per_second_per_dollar_hour"`
}

func costOf(c load.Opt[load.Cost]) *costJSON {
	if !c.OK {
		return nil
	}
	return &costJSON{intervalMembers(load.Some(c.V.PerMillion)), finite(c.V.Rate)}
}

func (j *costJSON) load() load.Opt[load.Cost] {
	if j == nil {
		return load.Opt[load.Cost]{}
	}
	return load.Some(load.Cost{PerMillion: j.PerMillion.opt().V, Rate: orNaN(j.Rate)})
}

// usedJSON is what the run asked of the endpoint; null for one that was not
// measured here.
type usedJSON struct {
	Requests     int    `json:"requests"`
	InputTokens  int    `json:"input_tokens"`
	CachedTokens int    `json:"cached_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Seconds      number `json:"seconds"`
}

func usedOf(u *load.Used) *usedJSON {
	if u == nil {
		return nil
	}
	return &usedJSON{u.Requests, u.InputTokens, u.CachedTokens, u.OutputTokens, finite(u.Seconds)}
}

func (j *usedJSON) load() *load.Used {
	if j == nil {
		return nil
	}
	return &load.Used{Requests: j.Requests, InputTokens: j.InputTokens, CachedTokens: j.CachedTokens, OutputTokens: j.OutputTokens, Seconds: j.Seconds.V}
}

// accountJSON is what the curve says of money; null without prices.
type accountJSON struct {
	Cheapest *cheapestJSON `json:"cheapest"`
	Spent    number        `json:"spent"`
}

// cheapestJSON is the level at which output costs least; null when there is none.
type cheapestJSON struct {
	Concurrency int          `json:"concurrency"`
	PerMillion  intervalJSON `json:"per_million_output_tokens"`
	Rate        number       `json:"output_tokens_per_second_per_dollar_hour"`
	Near        int          `json:"within_one_percent_from"`
}

func accountOf(a *analysis.Account) *accountJSON {
	if a == nil {
		return nil
	}
	j := &accountJSON{Spent: finiteOpt(a.Spent)}
	if c := a.Cheapest; c.OK {
		k := costOf(load.Some(c.V.Cost))
		j.Cheapest = &cheapestJSON{c.V.Concurrency, k.PerMillion, k.Rate, c.V.Near}
	}
	return j
}

func (j *accountJSON) load() *analysis.Account {
	if j == nil {
		return nil
	}
	a := &analysis.Account{Spent: j.Spent}
	if c := j.Cheapest; c != nil {
		k := (&costJSON{c.PerMillion, c.Rate}).load().V
		a.Cheapest = load.Some(cost.Cheapest{Concurrency: c.Concurrency, Cost: k, Near: c.Near})
	}
	return a
}
