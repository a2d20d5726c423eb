package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kneesweep/analysis"
	"kneesweep/plots"
)

// Markdown writes c as a page: verdict, picture, the knee in five lines, table of levels, failures by
// cause, warnings, what was asked and how, what every figure means, and the audits
// of the measurement. The picture is linked by imageName; empty leaves it out. Its
// errors are those of w.
func Markdown(w io.Writer, c analysis.Curve, imageName string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n\n", escape(plots.Headline(c)), escape(Verdict(c)))
	if c.At != nil {
		fmt.Fprintf(b, "%s\n\n", escape(AtSentence(*c.At)))
	}
	if t := truthSentence(c.Run.Truth); t != "" {
		fmt.Fprintf(b, "%s\n\n", t)
	}
	if imageName != "" {
		fmt.Fprintf(b, "![Capacity curve](<%s>)\n\n", strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(imageName))
	}
	if c.Rates != nil {
		rateMarkdown(b, c.Rates)
	}
	markdownExplanation(b, c)
	if len(c.Steps) > 0 {
		fmt.Fprint(b, "## Levels\n\n")
		markdownLevels(b, c)
	}
	markdownFailures(b, c)
	if all := doubts(c); len(all) > 0 {
		fmt.Fprint(b, "## Warnings\n\n")
		for _, d := range all {
			fmt.Fprintf(b, "- `%s`: %s\n", d.Code, escape(d.String()))
		}
		fmt.Fprintln(b)
	}
	markdownKnee(b, c)
	markdownCost(b, c)
	markdownSettings(b, c.Run)
	if len(c.Steps) > 0 {
		fmt.Fprint(b, "## Audits\n\n")
		markdownAudits(b, c)
		markdownServer(b, c)
	}
	fmt.Fprint(b, "## What the figures mean\n\n", definitions)
	return b.Flush()
}

// markdownTable writes rows under a heading, figures aligned to the right.
func markdownTable(w io.Writer, heading []string, rows [][]string) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(heading, " | "), strings.Repeat("--:|", len(heading)))
	for _, row := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(w)
}

// columnsTable has a column for each of cols and a row for each level.
func columnsTable(c analysis.Curve, cols []column) (heading []string, rows [][]string) {
	for _, col := range cols {
		name := strings.TrimSpace(col.name + " " + col.stat)
		if col.unit != "" {
			name += ", " + col.unit
		}
		heading = append(heading, name)
	}
	for _, s := range c.Steps {
		var row []string
		for _, col := range cols {
			row = append(row, col.cell(s))
		}
		rows = append(rows, row)
	}
	return heading, rows
}

func markdownLevels(w io.Writer, c analysis.Curve) {
	heading, rows := columnsTable(c, columnsOf(c))
	for i, s := range c.Steps {
		if m := mark(c, s); m != "" {
			rows[i][0] = "`" + m + "` " + rows[i][0]
		}
	}
	markdownTable(w, heading, rows)
	notes := remarks(c)
	for _, r := range notes {
		m, text, _ := strings.Cut(r, "  ")
		fmt.Fprintf(w, "- `%s` %s\n", m, escape(text))
	}
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
}

// markdownKnee writes the evidence for the cause, the reason of the
// recommendation and what other definitions of a knee say.
func markdownKnee(w io.Writer, c analysis.Curve) {
	if c.Rates != nil || c.Cause == nil && len(c.Estimates) == 0 && c.Recommended.Reason == "" && c.Knee.Fit == nil {
		return
	}
	fmt.Fprint(w, "## Knee\n\n")
	if r := c.Recommended.Reason; r != "" {
		fmt.Fprintf(w, "%s\n\n", escape(sentence(r)))
	}
	if f := c.Knee.Fit; f != nil {
		fmt.Fprintf(w, "Fitted to the levels %d to %d: X(N) = %s + %s · min(N, %s) tokens/s.\n\n",
			f.From, f.To, plots.Number(f.A), plots.Number(f.B), plots.Number(f.K))
	}
	if c.Cause != nil {
		fmt.Fprintf(w, "Cause: %s.\n\n", escape(c.Cause.Name))
		for _, e := range c.Cause.Evidence {
			fmt.Fprintf(w, "- %s\n", escape(e))
		}
		fmt.Fprintln(w)
	}
	markdownEstimates(w, c)
}

// escape makes s safe inside a line or a cell of Markdown.
func escape(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(s)
}
