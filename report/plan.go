package report

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"kneesweep/analysis/plan"
	"kneesweep/load"
	"kneesweep/plots"
)

// PlanText writes a plan for a terminal: what is needed, what then is to be expected,
// with one replica fewer beside it, and how it was computed. Its errors are those of w.
func PlanText(w io.Writer, run string, p plan.Plan) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n\n%s\n\n", run, wrap(PlanSentence(p), textWidth, ""))
	if len(p.Expected) > 0 {
		n := int(p.Replicas.Value)
		rows := [][]string{{"", "from the", "limit", counted(n, "replica")}, {"", "arrival on", "", ""}, {"", "", "ms", "ms"}}
		if len(p.Fewer) > 0 {
			rows[0], rows[1], rows[2] = append(rows[0], "with"), append(rows[1], whole(n-1)), append(rows[2], "ms")
		}
		for i, e := range p.Expected {
			row := []string{"", latencyName(e.Limit), plots.Number(e.Limit.Max.Seconds() * 1e3), expected(e)}
			if len(p.Fewer) > 0 {
				row = append(row, expected(p.Fewer[i]))
			}
			rows = append(rows, row)
		}
		writeGrid(b, rows)
		fmt.Fprintln(b)
	}
	for _, x := range p.Warnings {
		fmt.Fprintln(b, wrap(fmt.Sprintf("%s: %s", x.Code, x.Text), textWidth, "  "))
	}
	fmt.Fprintln(b, wrap(planMethod, textWidth, ""))
	return b.Flush()
}

const planMethod = "Arrivals are taken as independent (Poisson) and given to the replicas by chance; in each, what finds no free stream " +
	"waits its turn, and its latencies count from its arrival. How long requests take with n of them in a replica, and by how much " +
	"they and the speed vary, is that of the curve."

func expected(e plan.Expectation) string {
	if math.IsInf(e.Value, 1) {
		return "no end"
	}
	return plots.Number(e.Value * 1e3)
}

// PlanSentence is a plan in plain sentences.
func PlanSentence(p plan.Plan) string {
	limits := p.Demand.Limits.String()
	if limits == "" {
		limits = "no limits but a queue that ends"
	}
	spare := ""
	if p.Demand.Headroom > 0 {
		spare = fmt.Sprintf(" and %s to spare", percent(p.Demand.Headroom))
	}
	n := int(p.Replicas.Value)
	verb, each := "serve", " each"
	if n == 1 {
		verb, each = "serves", ""
	}
	s := fmt.Sprintf("%s%s of %s%s %s %s requests/s%s, within %s.", counted(n, "replica"), countBounds(p.Replicas), streams(float64(p.Streams)), each,
		verb, plots.Number(p.Demand.Rate), spare, limits)
	s += fmt.Sprintf(" One serves up to %s requests/s%s, limited by %s; it is saturated at %s.", plots.Number(p.PerReplica.Value), bounds(p.PerReplica),
		p.LimitedBy, plots.Number(p.Saturated))
	s += fmt.Sprintf(" Head-room: the rate may grow by %s (%s to %s); each replica is then %s busy, and %s of the requests wait for a stream now.",
		percent(p.Headroom.Value), percent(p.Headroom.Lo), percent(p.Headroom.Hi), percent(p.PerReplica.Value/p.Saturated), percent(p.Waiting))
	if p.Month.OK {
		s += fmt.Sprintf(" Cost: $%s per month of 730 hours%s.", plots.Grouped(fmt.Sprintf("%.2f", p.Month.V.Value)), monthBounds(p.Month.V))
	}
	return s
}

// countBounds is the interval of a whole number; empty where it is one number.
func countBounds(e load.Estimate) string {
	if e.Lo == e.Hi {
		return ""
	}
	return fmt.Sprintf(" (95 %% interval %s–%s)", whole(int(e.Lo)), whole(int(e.Hi)))
}

func monthBounds(e load.Estimate) string {
	if e.Lo == e.Hi {
		return ""
	}
	return bounds(e)
}
