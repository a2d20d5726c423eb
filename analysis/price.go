package analysis

import (
	"kneesweep/analysis/cost"
	"kneesweep/load"
)

// Account is what a curve says of money.
type Account struct {
	Cheapest load.Opt[cost.Cheapest] // of the levels that meet the SLO, if there is one
	Spent    load.Opt[float64]       // what the run itself cost; undefined for one that was not measured here
}

// Priced is c with other prices: what its levels cost, the cheapest of them, and
// what the run cost. The curve of the caller is not changed. The zero Prices take
// the costs away.
func Priced(c Curve, p load.Prices) Curve {
	c.Run.Settings.Prices = p
	c.Steps = append([]load.Step(nil), c.Steps...)
	for i := range c.Steps {
		c.Steps[i].Cost = cost.Of(c.Steps[i], p)
	}
	c.Account = nil
	if p == (load.Prices{}) {
		return c
	}
	c.Account = &Account{Cheapest: cost.FindCheapest(c.Steps, c.Run.Settings.SLO != "")}
	if c.Used != nil {
		c.Account.Spent = cost.Spent(*c.Used, p)
	}
	return c
}

// usedBy sums up the requests of a run; nil without any. A prompt that the server
// did not count has its asked length; a request in flight when the run ended has
// the chunks that had come.
func usedBy(d Data) *load.Used {
	if len(d.Samples) == 0 {
		return nil
	}
	u := load.Used{Requests: len(d.Samples)}
	first, last := d.Samples[0].Sent, d.Samples[0].End
	for i := range d.Samples {
		s := &d.Samples[i]
		prompt := d.Run.Request.InputTokensAsked
		if s.PromptTokens.OK {
			prompt = s.PromptTokens.V
		}
		u.InputTokens += prompt
		u.CachedTokens += min(s.CachedTokens.V, prompt)
		u.OutputTokens += max(s.OutputTokens, len(s.Chunks))
		first, last = min(first, s.Sent), max(last, s.End)
	}
	u.Seconds = (last - first).Seconds()
	return &u
}
