package report

import (
	"fmt"
	"io"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// costColumn is the column of a curve with prices.
var costColumn = column{"cost", "output", "$/Mtok", func(s load.Step) string {
	if !s.Cost.OK {
		return plots.Missing
	}
	return plots.Fixed(s.Cost.V.PerMillion.Value)
}}

// costHeading is that of costRows.
var costHeading = []string{"streams, N", "cost, $ per million output tokens", "95 % interval", "output, tok/s for $1 an hour"}

// costRows are what the levels cost.
func costRows(c analysis.Curve) (rows [][]string) {
	for _, s := range c.Steps {
		row := []string{whole(s.Concurrency), plots.Missing, plots.Missing, plots.Missing}
		if e := s.Cost.V.PerMillion; s.Cost.OK {
			row[1], row[3] = plots.Fixed(e.Value), plots.Fixed(s.Cost.V.Rate)
			if b := between(e, plots.Fixed); b != "" {
				row[2] = b
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// costLines say where the costs come from, and what the run took.
func costLines(c analysis.Curve) (lines []string) {
	formula := "output price + (prompt tokens / output tokens of a mean request) × ((1 − cached share) × input price + cached share × cached price)"
	if c.Run.Settings.Prices.Hour > 0 {
		formula = "10⁶ × price per hour × GPUs / (3600 × output tokens/s × duty cycle)"
	}
	lines = []string{fmt.Sprintf("Prices: %s. Cost per million output tokens = %s. $1 an hour buys 10⁶ / (3600 × cost) tokens/s. $ stands for the currency of the prices.",
		pricesText(c.Run.Settings.Prices), formula)}
	if used := usedText(c.Used); used != "" {
		lines = append(lines, fmt.Sprintf("The run took %s, warm-ups and failures included.", used))
	}
	return lines
}

// markdownCost writes what the levels cost, and the formula; nothing without prices.
func markdownCost(w io.Writer, c analysis.Curve) {
	if c.Account == nil {
		return
	}
	fmt.Fprint(w, "## Cost\n\n")
	markdownTable(w, costHeading, costRows(c))
	for _, line := range costLines(c) {
		fmt.Fprintf(w, "%s\n\n", line)
	}
}

// costSentence says where output costs least, and what the run itself cost; empty
// without prices.
func costSentence(c analysis.Curve) string {
	a := c.Account
	if a == nil {
		return ""
	}
	slo := ""
	if c.Run.Settings.SLO != "" {
		slo = " that meet the SLO"
	}
	var s string
	if best := a.Cheapest; !best.OK {
		s = "No cost is known for the levels" + slo + "."
		if slo == "" {
			s = "The levels do not tell what their prices need, so no cost is known."
		}
	} else {
		e := best.V.Cost.PerMillion
		s = fmt.Sprintf("A million output tokens cost $%s%s at %s, the least of the levels%s (%s)",
			plots.Number(e.Value), bounds(e), streams(float64(best.V.Concurrency)), slo, pricesText(c.Run.Settings.Prices))
		if n := best.V.Near; n < best.V.Concurrency {
			s += fmt.Sprintf("; from %s on it is within 1 %% of that", plots.Streams(float64(n)))
		}
		s += "."
	}
	if a.Spent.OK {
		s += fmt.Sprintf(" The run itself cost $%s.", plots.Number(a.Spent.V))
	}
	return s
}

func bounds(e load.Estimate) string {
	if b := between(e, plots.Fixed); b != "" {
		return " (" + b + ")"
	}
	return ""
}

// pricesText are the prices in words; empty without.
func pricesText(p load.Prices) string {
	switch {
	case p == load.Prices{}:
		return ""
	case p.Hour > 0:
		s := fmt.Sprintf("$%s per hour for each of %d GPUs", plots.Number(p.Hour), p.GPUs)
		if p.GPUs == 1 {
			s = fmt.Sprintf("$%s per hour for one GPU", plots.Number(p.Hour))
		}
		if p.Duty < 1 {
			s += ", busy " + percent(p.Duty) + " of the time"
		}
		return s
	}
	var parts []string
	for _, t := range []struct {
		name  string
		price float64
	}{{"input", p.Input}, {"cached input", p.Cached}, {"output", p.Output}} {
		parts = append(parts, t.name+" $"+plots.Fixed(t.price))
	}
	return "per million tokens: " + strings.Join(parts, ", ")
}

// usedText says what the run asked of the endpoint; empty if it was not measured here.
func usedText(u *load.Used) string {
	if u == nil {
		return ""
	}
	return fmt.Sprintf("%s requests, %s input tokens (%s of them cached), %s output tokens, %s s",
		whole(u.Requests), whole(u.InputTokens), whole(u.CachedTokens), whole(u.OutputTokens), plots.Number(u.Seconds))
}
