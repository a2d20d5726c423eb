package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
)

// rateColumn is one column of the table of offered rates.
type rateColumn struct {
	name, stat, unit string
	cell             func(load.RateStep) string
}

var rateColumns = []rateColumn{
	{"offered", "", "req/s", func(s load.RateStep) string { return plots.Rate(s.Rate) }},
	{"came", "", "req/s", func(s load.RateStep) string { return measuredRate(s, s.Offered()) }},
	{"achieved", "", "req/s", func(s load.RateStep) string { return measuredRate(s, s.Requests) }},
	{"output", "median", "tok/s", func(s load.RateStep) string {
		if !s.Throughput.OK {
			return plots.Missing
		}
		return plots.Fixed(s.Throughput.V.Value)
	}},
	{"in flight", "mean", "requests", func(s load.RateStep) string {
		if !s.InFlight.OK {
			return plots.Missing
		}
		return plots.Fixed(s.InFlight.Mean)
	}},
	{"TTFT p50", "send", "ms", func(s load.RateStep) string { return quantile(s.TTFT, s.TTFT.P50, 1e3) }},
	{"TTFT p95", "send", "ms", func(s load.RateStep) string { return quantile(s.TTFT, s.TTFT.P95, 1e3) }},
	{"TTFT p95", "schedule", "ms", func(s load.RateStep) string { return quantile(s.ScheduledTTFT, s.ScheduledTTFT.P95, 1e3) }},
	{"E2E p95", "send", "ms", func(s load.RateStep) string { return quantile(s.E2E, s.E2E.P95, 1e3) }},
	{"E2E p95", "schedule", "ms", func(s load.RateStep) string { return quantile(s.ScheduledE2E, s.ScheduledE2E.P95, 1e3) }},
	{"waited", "/ unsent", "arrivals", func(s load.RateStep) string {
		if s.Arrivals == 0 {
			return plots.Missing
		}
		return fmt.Sprintf("%d / %d", s.Waited, s.Unsent)
	}},
}

// measuredRate is a rate that takes a measured time.
func measuredRate(s load.RateStep, rate float64) string {
	if s.Measured <= 0 {
		return plots.Missing
	}
	return plots.Fixed(rate)
}

// rateGrid is the table as cells, like [grid].
func rateGrid(r *analysis.RateSweep) [][]string {
	rows := [][]string{{""}, {""}, {""}}
	for _, col := range rateColumns {
		rows[0], rows[1], rows[2] = append(rows[0], col.name), append(rows[1], col.stat), append(rows[2], col.unit)
	}
	for _, s := range r.Steps {
		row := []string{rateMark(r, s)}
		for _, col := range rateColumns {
			row = append(row, col.cell(s))
		}
		rows = append(rows, row)
	}
	return rows
}

func rateMark(r *analysis.RateSweep, s load.RateStep) string {
	if !s.Valid {
		return markInvalid
	}
	for _, o := range r.Knee.Outliers {
		if plots.Rate(o) == plots.Rate(s.Rate) {
			return markOutlier
		}
	}
	return ""
}

// rateRemarks explains the marks.
func rateRemarks(r *analysis.RateSweep) []string {
	var lines []string
	for _, s := range r.Steps {
		if !s.Valid {
			lines = append(lines, fmt.Sprintf("%s  %s is not used: %s", markInvalid, perSecond(s.Rate), s.InvalidReason))
		}
	}
	if len(r.Knee.Outliers) > 0 {
		lines = append(lines, markOutlier+"  outlier: measured, shown, left out of the fit")
	}
	return lines
}

// perSecond is a rate with its unit.
func perSecond(rate float64) string { return plots.Rate(rate) + " requests/s" }

// rateTable writes the rates for a terminal.
func rateTable(b io.Writer, r *analysis.RateSweep) {
	if len(r.Steps) == 0 {
		return
	}
	writeGrid(b, rateGrid(r))
	for _, line := range rateRemarks(r) {
		fmt.Fprintln(b, wrap(line, textWidth, "   "))
	}
	fmt.Fprintln(b)
}

// rateVerdict is [Verdict] for offered rates.
func rateVerdict(c analysis.Curve) string {
	r := c.Rates
	parts := []string{rateKneeSentence(r), rateDeclineSentence(r.Knee), r.Recommended.Text, unsentSentence(r), endedSentence(c), openSentence(c)}
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

func rateKneeSentence(r *analysis.RateSweep) string {
	if r.Replay && len(r.Steps) > 0 && r.Steps[0].Measured > 0 {
		return replaySentence(r.Steps[0]) // what was sent, and when, holds for a step that is not valid too
	}
	valid := validRates(r)
	if valid == 0 {
		return "No rate gave a valid measurement, so nothing can be said about the endpoint."
	}
	k := r.Knee
	switch k.Verdict {
	case knee.Found:
		s := fmt.Sprintf("Throughput stops following the offered rate at %s", perSecond(k.Rate.V.Value))
		if b := between(k.Rate.V, plots.Rate); b != "" {
			s += " (95 % interval " + b + ")"
		}
		if k.Plateau.OK {
			s += ", on a plateau of " + plots.Number(k.Plateau.V) + " output tokens/s"
		}
		return s + "."
	case knee.AtOrBelowFirst:
		return "Throughput does not grow past the lowest rate offered: the endpoint falls behind already there, or below."
	case knee.NotLocated:
		return fmt.Sprintf("The knee is not located up to %s, the highest rate offered.", perSecond(k.LowerBound.V))
	case knee.StillRising:
		return fmt.Sprintf("Throughput still follows the offered rate at %s, the highest offered.", perSecond(k.LowerBound.V))
	}
	return fmt.Sprintf("Too few rates for a knee: %d valid, at least %d needed.", valid, neededLevels)
}

// replaySentence is for a trace, which is one step.
func replaySentence(s load.RateStep) string {
	text := fmt.Sprintf("%d requests of the trace came at %s on average, and %s were answered; they were sent %s ms after their time at the median and %s ms at the p99.",
		s.Arrivals, perSecond(s.Offered()), perSecond(s.Requests), plots.Number(1e3*s.Delay.P50), plots.Number(1e3*s.Delay.P99))
	if !s.Valid {
		text += " The step is not valid, so its latencies may be wrong."
	}
	return text
}

func rateDeclineSentence(k analysis.RateKnee) string {
	if k.Retrograde == nil {
		return ""
	}
	return fmt.Sprintf("From %s on throughput declines, to %s below the plateau at the highest rate.", perSecond(k.Retrograde.From), percent(k.Retrograde.Drop))
}

// unsentSentence says which arrivals the latencies do not hold.
func unsentSentence(r *analysis.RateSweep) string {
	waited, unsent, all := 0, 0, 0
	for _, s := range r.Steps {
		waited, unsent, all = waited+s.Waited, unsent+s.Unsent, all+s.Arrivals
	}
	if waited == 0 {
		return ""
	}
	s := fmt.Sprintf("Of %d arrivals %d found no free stream among %d", all, waited, r.Streams)
	if unsent > 0 {
		s += fmt.Sprintf(", and %d of those were never sent: their wait is in no latency", unsent)
	}
	return s + "."
}

func openSentence(c analysis.Curve) string {
	how := fmt.Sprintf("in an open loop: requests came at their times (%s), whatever was in flight, which --max-concurrency bounds at %d.", c.Rates.Process, c.Rates.Streams)
	if len(c.Rates.Steps) == 0 {
		return ""
	}
	if s := shape(c.Run); s != "" {
		return "Measured with " + s + ", " + how
	}
	return "Measured " + how
}

func validRates(r *analysis.RateSweep) int {
	n := 0
	for _, s := range r.Steps {
		if s.Valid {
			n++
		}
	}
	return n
}

// rateFailures has a line for each rate at which requests failed.
func rateFailures(r *analysis.RateSweep) []string {
	var lines []string
	for _, s := range r.Steps {
		if all := failuresOf(load.Step{Failures: s.Failures}); len(all) > 0 {
			var parts []string
			for _, f := range all {
				parts = append(parts, whole(f.count)+" "+f.cause)
			}
			lines = append(lines, perSecond(s.Rate)+": "+strings.Join(parts, ", "))
		}
	}
	return lines
}

// rateMarkdown writes the middle of the page: rates, failures and the fit.
func rateMarkdown(b *bufio.Writer, r *analysis.RateSweep) {
	if len(r.Steps) > 0 {
		fmt.Fprint(b, "## Offered rates\n\n")
		var heading []string
		for _, col := range rateColumns {
			heading = append(heading, strings.TrimSpace(col.name+" "+col.stat)+", "+col.unit)
		}
		markdownTable(b, heading, rateGridCells(r))
		for _, line := range rateRemarks(r) {
			m, text, _ := strings.Cut(line, "  ")
			fmt.Fprintf(b, "- `%s` %s\n", m, escape(text))
		}
		fmt.Fprintln(b)
	}
	if all := rateFailures(r); len(all) > 0 {
		fmt.Fprint(b, "## Failures\n\n")
		for _, f := range all {
			fmt.Fprintf(b, "- %s\n", escape(f))
		}
		fmt.Fprintln(b)
	}
	if f := r.Knee.Fit; f != nil {
		fmt.Fprintf(b, "Fitted to the rates %s to %s: X(λ) = %s + %s · min(λ, %s) tokens/s.\n\n",
			plots.Rate(f.From), plots.Rate(f.To), plots.Number(f.A), plots.Number(f.B), plots.Rate(f.K))
	}
}

// rateGridCells are the rows of the table with their marks in the first cell.
func rateGridCells(r *analysis.RateSweep) [][]string {
	var rows [][]string
	for _, row := range rateGrid(r)[3:] {
		if row[0] != "" {
			row[1] = "`" + row[0] + "` " + row[1]
		}
		rows = append(rows, row[1:])
	}
	return rows
}
