package main

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
)

// dryRun says what the sweep would take at most. Time and tokens are bounded by
// the budgets. Every attempt is charged at least what its prompt was meant to
// have, so the token budget bounds requests as well; what is in flight when it
// ends, and the one before the sweep, come on top.
func (o *sweepOptions) dryRun(c *cli.Context) error {
	levels, highest := o.plan.levels, o.plan.highest()
	visits, windows := o.planned()
	mean, longest := o.target.source.Lengths()
	attempts := 1 + o.target.config.Retries
	requests := o.tokenBudget/o.leastCharge() + (highest+1+filling(o.target.source))*attempts
	settings := effective(c, o.target.config)
	most := o.tokenBudget + (highest+filling(o.target.source))*longest
	money := o.costAtMost(most)
	if o.settings.Open() {
		visits, windows, levels = load.Some(1), load.Some(o.settings.Measurements), []int{}
	}
	if len(o.open.rates) > 0 {
		visits, windows = o.open.planned(o.settings, o.target.config.Seed)
	}
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetIndent("", "  ")
		return outputError(e.Encode(map[string]any{
			"schema": "kneesweep/plan/v1",
			"levels": levels, "rates_requests_per_second": append([]float64{}, o.settings.Rates...), "adaptive": o.plan.adaptive, "visits": visits, "windows": windows,
			"requests_at_most": requests, "tokens_at_most": most,
			"seconds_at_most": o.budget.Seconds(), "cost_at_most": money,
			"settings": settings, "targets": o.shownTargets(),
		}))
	}
	what := fmt.Sprintf("levels            %v\nvisits            %d, with %d windows\n", levels, visits.V, windows.V)
	switch {
	case o.settings.Replay:
		what = fmt.Sprintf("replay            %d requests in %v, %s, at most %d in flight\n", len(o.open.replay.times), o.open.replay.lasts(), o.settings.Arrivals, highest)
	case o.settings.Open():
		what = fmt.Sprintf("rates             %v requests/s, %s arrivals, at most %d in flight\nphases            %d, with %d windows\n", o.settings.Rates, o.settings.Arrivals, highest, visits.V, windows.V)
	}
	if o.plan.adaptive {
		what = fmt.Sprintf("levels            of %v as many as the knee takes to be seen, then some around it\n"+
			"until             the knee is known within ± %.3g %%, or a budget ends\n", levels, 100*o.plan.precision)
		if o.plan.busy > 0 {
			what += fmt.Sprintf("then              %d, the p95 of what --trace had in flight\n", o.plan.busy)
		}
	}
	what += o.targetLines()
	_, err := fmt.Fprintf(c.App.Writer, `%srequests at most  %d (%s)
tokens at most    %d (--token-budget, and what is in flight then)
time at most      %v (--budget)
cost at most      %s
settings
%vnothing was sent
`, what, requests, lengths(o.target.source.Describe(), mean),
		most, o.budget, moneyText(money), settings)
	return outputError(err)
}

// planned counts visits and windows where the levels are given.
func (o *sweepOptions) planned() (visits, windows load.Opt[int]) {
	if o.plan.adaptive {
		return visits, windows
	}
	grid := o.plan.grid()
	plan := grid.Plan()
	sum := 0
	for _, l := range plan {
		sum += l.Windows
	}
	return load.Some(len(plan)), load.Some(sum)
}

// lengths says what a request is made of; without the length of prompts, what it
// is estimated at.
func lengths(r load.RequestShape, mean int) string {
	switch {
	case r.InputLengths.Asked != "" || r.OutputLengths.Asked != "":
		return fmt.Sprintf("%d tokens each on average", mean)
	case r.InputTokensAsked == 0:
		return fmt.Sprintf("about %d tokens each, by the length of the prompts", mean)
	}
	return fmt.Sprintf("%d input and %d output tokens each", r.InputTokensAsked, r.OutputTokensAsked)
}
