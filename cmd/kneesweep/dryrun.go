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
	plan := o.grid.Plan()
	levels := o.grid.Levels
	windows := 0
	for _, l := range plan {
		windows += l.Windows
	}
	highest := levels[len(levels)-1]
	mean, most := o.target.source.Lengths()
	attempts := 1 + o.target.config.Retries
	requests := o.tokenBudget/o.leastCharge() + (highest+1)*attempts
	settings := effective(c, o.target.config)
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetIndent("", "  ")
		return outputError(e.Encode(map[string]any{
			"schema": "kneesweep/plan/v1",
			"levels": levels, "visits": len(plan), "windows": windows,
			"requests_at_most": requests, "tokens_at_most": o.tokenBudget + highest*most,
			"seconds_at_most": o.budget.Seconds(), "cost_at_most": nil,
			"settings": settings,
		}))
	}
	_, err := fmt.Fprintf(c.App.Writer, `levels            %v
visits            %d, with %d windows
requests at most  %d (%s)
tokens at most    %d (--token-budget, and what is in flight then)
time at most      %v (--budget)
cost at most      not known: no price was given
settings
%vnothing was sent
`, levels, len(plan), windows, requests, lengths(o.target.source.Describe(), mean),
		o.tokenBudget+highest*most, o.budget, settings)
	return outputError(err)
}

// lengths says what a request is made of; without the length of prompts, what it
// is estimated at.
func lengths(r load.RequestShape, mean int) string {
	if r.InputTokensAsked == 0 {
		return fmt.Sprintf("about %d tokens each, by the length of the prompts", mean)
	}
	return fmt.Sprintf("%d input and %d output tokens each", r.InputTokensAsked, r.OutputTokensAsked)
}
