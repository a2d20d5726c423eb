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
