package main

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"
)

// dryRun says what the sweep would take at most. Time and tokens are bounded by
// the budgets; requests by the tokens of one, with one request per stream in
// flight when the budget ends.
func (o *sweepOptions) dryRun(c *cli.Context) error {
	plan := o.grid.Plan()
	levels := o.grid.Levels
	windows := 0
	for _, l := range plan {
		windows += l.Windows
	}
	highest := levels[len(levels)-1]
	perRequest := o.target.source.InputTokens + o.target.source.OutputTokens
	requests := o.tokenBudget/perRequest + highest
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetIndent("", "  ")
		return outputError(e.Encode(map[string]any{
			"levels": levels, "visits": len(plan), "windows": windows,
			"requests_at_most": requests, "tokens_at_most": o.tokenBudget + highest*perRequest,
			"seconds_at_most": o.budget.Seconds(), "cost_at_most": nil,
		}))
	}
	_, err := fmt.Fprintf(c.App.Writer, `levels            %v
visits            %d, with %d windows
requests at most  %d (%d input and %d output tokens each)
tokens at most    %d (--token-budget, and what is in flight then)
time at most      %v (--budget)
cost at most      not known: no price was given
nothing was sent
`, levels, len(plan), windows, requests, o.target.source.InputTokens, o.target.source.OutputTokens,
		o.tokenBudget+highest*perRequest, o.budget)
	return outputError(err)
}
