package report

import (
	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// kneeJSON is the verdict with the figures behind it.
type kneeJSON struct {
	Verdict         string          `json:"verdict"`
	Concurrency     *intervalJSON   `json:"concurrency"`
	LowerBound      number          `json:"lower_bound"`
	Plateau         number          `json:"plateau_tokens_per_second"`
	Slope           number          `json:"slope_tokens_per_second_per_stream"`
	Retrograde      *retrogradeJSON `json:"retrograde"`
	Soft            bool            `json:"soft"`
	N95             number          `json:"n95"`
	Method          string          `json:"method"`
	Outliers        []int           `json:"outliers"`
	Fit             *fitJSON        `json:"fit"`
	RisePerDoubling number          `json:"rise_per_doubling"`
	Warnings        []load.Warning  `json:"warnings"`
}

// retrogradeJSON says where throughput declines past the plateau.
type retrogradeJSON struct {
	From int    `json:"from"`
	Drop number `json:"drop"`
}

// fitJSON is the fitted line a + b*min(N, k), over the levels from..to.
type fitJSON struct {
	A    number `json:"a"`
	B    number `json:"b"`
	K    number `json:"k"`
	RSS  number `json:"rss"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

func kneeOf(r knee.Result) kneeJSON {
	j := kneeJSON{
		Verdict: string(r.Verdict), Concurrency: intervalOrNull(r.Concurrency), LowerBound: finiteOpt(r.LowerBound),
		Plateau: finiteOpt(r.Plateau), Slope: finiteOpt(r.Slope), Soft: r.Soft, N95: finiteOpt(r.N95),
		Method: r.Method, Outliers: list(r.Outliers), RisePerDoubling: finiteOpt(r.RisePerDoubling),
		Warnings: list(r.Warnings),
	}
	if r.Retrograde != nil {
		j.Retrograde = &retrogradeJSON{From: r.Retrograde.From, Drop: finite(r.Retrograde.Drop)}
	}
	if f := r.Fit; f != nil {
		j.Fit = &fitJSON{A: finite(f.A), B: finite(f.B), K: finite(f.K), RSS: finite(f.RSS), From: f.From, To: f.To}
	}
	return j
}

func (j kneeJSON) load() knee.Result {
	r := knee.Result{
		Verdict: knee.Verdict(j.Verdict), Concurrency: j.Concurrency.opt(), LowerBound: j.LowerBound,
		Plateau: j.Plateau, Slope: j.Slope, Soft: j.Soft, N95: j.N95,
		Method: j.Method, Outliers: j.Outliers, RisePerDoubling: j.RisePerDoubling, Warnings: j.Warnings,
	}
	if j.Retrograde != nil {
		r.Retrograde = &knee.Retrograde{From: j.Retrograde.From, Drop: orNaN(j.Retrograde.Drop)}
	}
	if f := j.Fit; f != nil && f.A.OK && f.B.OK && f.K.OK {
		r.Fit = &knee.Segment{A: f.A.V, B: f.B.V, K: f.K.V, RSS: orNaN(f.RSS), From: f.From, To: f.To}
	}
	return r
}

// estimateJSON is what one definition of a knee says.
type estimateJSON struct {
	Method      string        `json:"method"`
	Concurrency *intervalJSON `json:"concurrency"`
	Note        string        `json:"note"`
}

func estimateOf(e knee.Estimate) estimateJSON {
	return estimateJSON{Method: e.Method, Concurrency: intervalOrNull(e.Concurrency), Note: e.Note}
}

func (j estimateJSON) load() knee.Estimate {
	return knee.Estimate{Method: j.Method, Concurrency: j.Concurrency.opt(), Note: j.Note}
}

// causeJSON names what saturated.
type causeJSON struct {
	Name     string   `json:"name"`
	Evidence []string `json:"evidence"`
}

func causeOf(c *analysis.Cause) *causeJSON {
	if c == nil {
		return nil
	}
	return &causeJSON{Name: c.Name, Evidence: list(c.Evidence)}
}

func (j *causeJSON) load() *analysis.Cause {
	if j == nil {
		return nil
	}
	return &analysis.Cause{Name: j.Name, Evidence: j.Evidence}
}

// recommendedJSON is how many parallel streams to allow.
type recommendedJSON struct {
	Concurrency load.Opt[int]    `json:"concurrency"`
	LimitedBy   load.Opt[string] `json:"limited_by"`
	Reason      string           `json:"reason"`
}

func recommendedOf(r analysis.Recommended) recommendedJSON {
	return recommendedJSON{Concurrency: r.Concurrency, LimitedBy: text(r.LimitedBy), Reason: r.Reason}
}

func (j recommendedJSON) load() analysis.Recommended {
	return analysis.Recommended{Concurrency: j.Concurrency, LimitedBy: j.LimitedBy.V, Reason: j.Reason}
}
