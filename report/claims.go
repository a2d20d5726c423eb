package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kneesweep/analysis/claims"
	"kneesweep/load"
	"kneesweep/plots"
)

// ClaimsText writes what became of claims for a terminal: each with its verdict and
// the reason, the contradictions among them, and how the runs scale. Its errors are
// those of w.
func ClaimsText(w io.Writer, r claims.Result) error {
	b := bufio.NewWriter(w)
	for _, f := range r.Findings {
		const indent = "                "
		fmt.Fprintf(b, "%-14s  %s\n", verdictWord(f.Verdict), wrap(claimText(f), textWidth-len(indent), indent))
		fmt.Fprintln(b, indent+wrap(f.Reason, textWidth-len(indent), indent))
	}
	if len(r.Contradictions) > 0 {
		fmt.Fprintln(b, "\nContradictions among the claims")
		for _, c := range r.Contradictions {
			fmt.Fprintln(b, "  "+wrap(contradictionText(r.File, c), textWidth-2, "    "))
		}
	}
	if len(r.Scaling) > 0 {
		fmt.Fprintln(b)
		rows := [][]string{{"", "GPUs", "output", "speed-up", "efficiency"}, {"", "", "saturated", "95 % interval", "95 % interval"}, {"", "", "tok/s", "", ""}}
		for _, s := range r.Scaling {
			rows = append(rows, append([]string{""}, scaleRow(s)...))
		}
		writeGrid(b, rows)
		for _, n := range scaleNotes(r.Scaling) {
			fmt.Fprintln(b, wrap(n, textWidth, "  "))
		}
	}
	fmt.Fprintln(b, "\n"+ClaimsVerdict(r))
	return b.Flush()
}

// ClaimsMarkdown writes the same as a page for a ticket. Its errors are those of w.
func ClaimsMarkdown(w io.Writer, r claims.Result) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Claims: %s\n\n%s\n\n", escape(r.File.Name), escape(ClaimsVerdict(r)))
	fmt.Fprint(b, "| claim | verdict | reason |\n|---|---|---|\n")
	for _, f := range r.Findings {
		fmt.Fprintf(b, "| %s | %s | %s |\n", escape(claimText(f)), verdictWord(f.Verdict), escape(f.Reason))
	}
	fmt.Fprintln(b)
	if len(r.Contradictions) > 0 {
		fmt.Fprint(b, "## Contradictions among the claims\n\n")
		for _, c := range r.Contradictions {
			fmt.Fprintf(b, "- %s\n", escape(contradictionText(r.File, c)))
		}
		fmt.Fprintln(b)
	}
	if len(r.Scaling) > 0 {
		fmt.Fprint(b, "## Scaling\n\n")
		var rows [][]string
		for _, s := range r.Scaling {
			rows = append(rows, scaleRow(s))
		}
		markdownTable(b, []string{"GPUs", "output at saturation, tok/s", "speed-up, 95 % interval", "efficiency, 95 % interval"}, rows)
		for _, n := range scaleNotes(r.Scaling) {
			fmt.Fprintf(b, "- %s\n", escape(n))
		}
	}
	return b.Flush()
}

// ClaimsVerdict is one sentence about all claims.
func ClaimsVerdict(r claims.Result) string {
	n := len(r.Contradictions)
	contradictions := fmt.Sprintf("%d contradictions", n)
	if n == 1 {
		contradictions = "1 contradiction"
	}
	return fmt.Sprintf("%d confirmed, %d refuted, %d not comparable; %s among them.",
		r.Count(claims.Confirmed), r.Count(claims.Refuted), r.Count(claims.NotComparable), contradictions)
}

func verdictWord(v claims.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// claimText is a claim with its conditions.
func claimText(f claims.Finding) string {
	c := f.Claim
	s := fmt.Sprintf("%s: %s %s", c.Name, plots.Grouped(fmt.Sprintf("%.10g", c.Value)), c.Kind)
	if c.Percentile > 0 {
		s += fmt.Sprintf(" (p%d)", c.Percentile)
	}
	var at []string
	if n := c.Conditions.GPUs; n > 0 {
		at = append(at, counted(n, "GPU"))
	}
	if c.Hardware != "" {
		at = append(at, c.Hardware+" (not checked)")
	}
	for _, x := range []struct {
		n    int
		unit string
	}{{c.Conditions.Streams, "stream"}, {c.Conditions.InputTokens, "input token"}, {c.Conditions.OutputTokens, "output token"}} {
		if x.n > 0 {
			at = append(at, counted(x.n, x.unit))
		}
	}
	if len(at) > 0 {
		s += ", on " + strings.Join(at, ", ")
	}
	if len(f.Assumed) > 0 {
		s += " [assumed: " + strings.Join(f.Assumed, ", ") + "]"
	}
	return s
}

func counted(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return whole(n) + " " + unit + "s"
}

func contradictionText(f claims.File, c claims.Contradiction) string {
	names := make([]string, len(c.Claims))
	for i, at := range c.Claims {
		names[i] = f.Claims[at].Name
	}
	return strings.Join(names, " / ") + ": " + c.Text
}

func scaleRow(s claims.Scale) []string {
	cell := func(e load.Opt[load.Estimate]) string {
		if !e.OK {
			return plots.Missing
		}
		return plots.Fixed(e.V.Value) + bounds(e.V)
	}
	return []string{whole(s.GPUs), cell(s.Throughput), cell(s.SpeedUp), cell(s.Efficiency)}
}

func scaleNotes(scales []claims.Scale) []string {
	var notes []string
	for _, s := range scales {
		if s.Note != "" {
			notes = append(notes, fmt.Sprintf("%s (%s): %s", counted(s.GPUs, "GPU"), s.Run, s.Note))
		}
	}
	return notes
}
