package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// textWidth is the widest line of running text in the terminal, in columns.
const textWidth = 100

// Table writes c for a terminal: one row per level with the units in the
// heading, then the failures by cause and the warnings, each once, then the verdict. Lines are at most
// 110 columns wide. Its errors are those of w.
func Table(w io.Writer, c analysis.Curve) error {
	b := bufio.NewWriter(w)
	if line := origin(c.Run); line != "" {
		fmt.Fprintf(b, "%s\n\n", wrap(line, textWidth, "  "))
	}
	if c.Rates != nil {
		rateTable(b, c.Rates)
	}
	if len(c.Steps) > 0 {
		writeGrid(b, grid(c))
		for _, r := range remarks(c) {
			fmt.Fprintln(b, wrap(r, textWidth, "   "))
		}
		fmt.Fprintln(b)
	}
	if all := failureLines(c); len(all) > 0 {
		fmt.Fprintln(b, "Failures")
		for _, f := range all {
			fmt.Fprintln(b, "  "+wrap(f, textWidth-2, "    "))
		}
		fmt.Fprintln(b)
	}
	if all := doubts(c); len(all) > 0 {
		fmt.Fprintln(b, "Warnings")
		for _, d := range all {
			fmt.Fprintln(b, "  "+wrap(fmt.Sprintf("%s: %s", d.Code, d), textWidth-2, "    "))
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b, wrap(Verdict(c), textWidth, ""))
	if c.At != nil {
		fmt.Fprintln(b, wrap(AtSentence(*c.At), textWidth, ""))
	}
	if t := truthSentence(c.Run.Truth); t != "" {
		fmt.Fprintln(b, wrap(t, textWidth, ""))
	}
	return b.Flush()
}

// origin names the model, the target, the day and the settings on one line.
func origin(r load.Run) string {
	var parts []string
	for _, s := range []string{r.Label, r.Model, r.Target} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.Format("2006-01-02 15:04 MST"))
	}
	if n := r.Settings.Measurements; n > 0 {
		parts = append(parts, fmt.Sprintf("%d windows per %s", n, abscissa(r.Settings)))
	}
	return strings.Join(parts, " · ")
}

// abscissa is what a sweep steps through.
func abscissa(s load.Settings) string {
	if s.Open() {
		return "rate"
	}
	return "level"
}

// grid is the table as cells: three rows of heading, then one row per level.
// The first column holds the marks.
func grid(c analysis.Curve) [][]string {
	rows := [][]string{{""}, {""}, {""}}
	for _, col := range columnsOf(c) {
		rows[0] = append(rows[0], col.name)
		rows[1] = append(rows[1], col.stat)
		rows[2] = append(rows[2], col.unit)
	}
	for _, s := range c.Steps {
		row := []string{mark(c, s)}
		for _, col := range columnsOf(c) {
			row = append(row, col.cell(s))
		}
		rows = append(rows, row)
	}
	return rows
}

// writeGrid writes cells aligned to the right, with a rule under the heading.
func writeGrid(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		var line strings.Builder
		total := 0
		for k, cell := range row {
			gap := 2
			if k <= 1 {
				gap = k
			}
			line.WriteString(strings.Repeat(" ", gap+widths[k]-utf8.RuneCountInString(cell)) + cell)
			total += gap + widths[k]
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
		if i == 2 {
			fmt.Fprintln(w, strings.Repeat("─", total))
		}
	}
}

// truthSentence says what the embedded simulator was built with.
func truthSentence(t *load.Truth) string {
	if t == nil || !finite(t.Knee).OK {
		return ""
	}
	s := "The simulated endpoint was built with its knee at " + streams(t.Knee)
	if t.AdmissionLimit > 0 && finite(t.AdmissionLimit).OK {
		s += " and an admission limit of " + plots.Streams(t.AdmissionLimit)
	}
	return s + "."
}
