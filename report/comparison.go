package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"kneesweep/analysis/compare"
	"kneesweep/load"
	"kneesweep/plots"
)

// ComparisonTable writes a comparison for a terminal: the runs, in what else they
// differ, a row per level and one per figure of the whole curves, and the
// verdict. Its errors are those of w.
func ComparisonTable(w io.Writer, c compare.Comparison) error {
	b := bufio.NewWriter(w)
	for _, line := range parties(c) {
		fmt.Fprintln(b, wrap(line, textWidth, "     "))
	}
	fmt.Fprintln(b)
	if lines := differenceLines(c); len(lines) > 0 {
		fmt.Fprintln(b, "Not the same in both")
		for _, l := range lines {
			fmt.Fprintln(b, "  "+wrap(l, textWidth-2, "    "))
		}
		fmt.Fprintln(b)
	}
	if len(c.Levels) > 0 {
		writeGrid(b, append(headingRows(comparedColumns(c)), levelRows(c)...))
		writeGrid(b, append(headingRows(figureColumns(c)), figureRows(c)...))
		fmt.Fprintln(b)
	}
	for _, l := range comparisonNotes(c) {
		fmt.Fprintln(b, wrap(l, textWidth, "  "))
	}
	fmt.Fprintln(b, wrap(ComparisonVerdict(c), textWidth, ""))
	return b.Flush()
}

// ComparisonMarkdown writes the same as a page for a ticket. Its errors are those
// of w.
func ComparisonMarkdown(w io.Writer, c compare.Comparison) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Comparison: %s\n\n", strings.ReplaceAll(string(c.Verdict), "_", " "))
	markdownComparison(b, c)
	return b.Flush()
}

// markdownComparison is the page below its heading.
func markdownComparison(b io.Writer, c compare.Comparison) {
	fmt.Fprintf(b, "%s\n\n", escape(ComparisonVerdict(c)))
	for _, line := range parties(c) {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	fmt.Fprintln(b)
	if lines := differenceLines(c); len(lines) > 0 {
		fmt.Fprint(b, "Not the same in both:\n\n")
		for _, l := range lines {
			fmt.Fprintf(b, "- %s\n", escape(l))
		}
		fmt.Fprintln(b)
	}
	if len(c.Levels) > 0 {
		markdownTable(b, headingLine(comparedColumns(c)), withoutMarks(levelRows(c)))
		markdownTable(b, headingLine(figureColumns(c)), withoutMarks(figureRows(c)))
	}
	for _, l := range comparisonNotes(c) {
		fmt.Fprintf(b, "%s\n\n", escape(l))
	}
}

// parties names the runs.
func parties(c compare.Comparison) []string {
	name := func(r load.Run) string {
		r.Settings.Measurements = 0 // where it differs it is listed
		if s := origin(r); s != "" {
			return s
		}
		return "run " + r.ID
	}
	if c.Paired { // their origin begins with their name
		return []string{name(c.Old), name(c.New)}
	}
	lines := []string{c.OldName + "  " + name(c.Old), c.NewName + "  " + name(c.New)}
	if c.Runs > 1 {
		lines[0] += fmt.Sprintf(" (the last of %d)", c.Runs)
	}
	return lines
}

// differenceLines list what differs between the runs, the worst first.
func differenceLines(c compare.Comparison) []string {
	var lines []string
	for _, d := range c.Differences {
		if c.Paired && d.Expected {
			continue
		}
		mark := ""
		if d.Fatal {
			mark = " (forbids a comparison)"
		}
		lines = append(lines, fmt.Sprintf("%s: %s → %s%s", d.Field, d.Old, d.New, mark))
	}
	return lines
}

// heading is one column: its name, statistic and unit.
type heading [3]string

// figureColumns are those of the figures of whole curves.
func figureColumns(c compare.Comparison) []heading {
	old, latest := sides(c)
	return []heading{
		{"", "", "figure"}, {"", "", old}, {"", "", latest}, {"", "", latest + "/" + old}, {"", "95 %", "interval"}, {"", "p", "corrected"}, {"", "", "finding"},
	}
}

// sides are what columns call the two runs.
func sides(c compare.Comparison) (old, latest string) {
	if c.Paired {
		return c.OldName, c.NewName
	}
	return "old", "new"
}

// comparedColumns are those of the levels.
func comparedColumns(c compare.Comparison) []heading {
	old, latest := sides(c)
	quotient := latest + "/" + old
	cols := []heading{{"streams", "", "N"}, {old, "median", "tok/s"}, {latest, "median", "tok/s"}, {quotient}, {"95 %", "interval"}}
	if c.ByHistory {
		cols = append(cols, heading{"mean of", "old runs", "tok/s"}, heading{"z"})
	}
	return append(cols, heading{"p", "corrected"}, heading{"finding"}, heading{"TTFT p50", quotient}, heading{"TTFT p95", quotient})
}

// headingRows are the three rows of heading of a grid.
func headingRows(cols []heading) [][]string {
	rows := [][]string{{""}, {""}, {""}}
	for _, c := range cols {
		for i := range rows {
			rows[i] = append(rows[i], c[i])
		}
	}
	return rows
}

func headingLine(cols []heading) []string {
	var line []string
	for _, c := range cols {
		line = append(line, strings.Join(strings.Fields(strings.Join(c[:], " ")), " "))
	}
	return line
}

// withoutMarks drops the first column, which the terminal has for marks.
func withoutMarks(rows [][]string) [][]string {
	all := make([][]string, len(rows))
	for i, r := range rows {
		all[i] = r[1:]
	}
	return all
}

func levelRows(c compare.Comparison) [][]string {
	var rows [][]string
	for _, l := range c.Levels {
		t := l.Throughput
		row := []string{"", whole(l.Concurrency), plots.Fixed(t.Old), plots.Fixed(t.New), ratioCell(t.Ratio.Value), between95(t.Ratio)}
		adjusted, found := t.Adjusted, t.Judgement
		if c.ByHistory {
			h := l.History.V
			adjusted, found = h.Adjusted, h.Judgement
			row = append(row, plots.Fixed(h.Mean), zCell(h))
		}
		rows = append(rows, append(row, pCell(adjusted), finding(found), ttftCell(l.TTFT50), ttftCell(l.TTFT95)))
	}
	for _, m := range c.Missing {
		row := []string{"", whole(m.Concurrency), presence(m.Old), presence(m.New)}
		for len(row) <= len(comparedColumns(c)) {
			row = append(row, plots.Missing)
		}
		rows = append(rows, row)
	}
	return rows
}

// presence is what stands for a level that only the other run has, or this one.
func presence(why string) string {
	switch why {
	case "":
		return "valid"
	case "not measured":
		return plots.Missing
	}
	return "x"
}

func figureRows(c compare.Comparison) [][]string {
	var rows [][]string
	for _, f := range c.Figures {
		name, scale := figureName(f.Name)
		ch := f.Change
		row := []string{"", name, plots.Fixed(scale * ch.Old), plots.Fixed(scale * ch.New), ratioCell(ch.Ratio.Value), between95(ch.Ratio), pCell(ch.Adjusted), finding(ch.Judgement)}
		if h := f.History.V; c.ByHistory {
			row[2], row[3] = plots.Fixed(scale*h.Mean), plots.Fixed(scale*h.Value)
			row[4], row[5] = ratioCell(1+h.Change), between95(load.Estimate{Lo: h.Lo / h.Mean, Hi: h.Hi / h.Mean})
			row[6], row[7] = pCell(h.Adjusted), finding(h.Judgement)
		}
		rows = append(rows, row)
	}
	knee := []string{"", "knee, streams", kneeCell(c.Knee.Old), kneeCell(c.Knee.New), plots.Missing, plots.Missing, plots.Missing, "not judged"}
	if by := c.Knee.By; by.OK {
		knee[4] = signed(by.V.Value)
		knee[5] = signed(by.V.Lo) + " to " + signed(by.V.Hi)
		knee[6] = pCell(c.Knee.P)
	}
	return append(rows, knee, []string{"", "streams to allow", countCell(c.Recommended.Old), countCell(c.Recommended.New), plots.Missing, plots.Missing, plots.Missing, "not judged"})
}

// figureName is a figure for people, and what one unit of it is worth in theirs.
func figureName(name string) (string, float64) {
	switch name {
	case compare.FigureThroughput:
		return "throughput at common levels, tok/s", 1
	case compare.FigurePlateau:
		return "plateau, tok/s", 1
	case compare.FigureTTFT50:
		return "TTFT p50 at common levels, ms", 1e3
	}
	return "TTFT p95 at common levels, ms", 1e3
}

func finding(j compare.Judgement) string {
	if j == compare.Untested {
		return "not tested"
	}
	return strings.ReplaceAll(string(j), "_", " ")
}

func ratioCell(x float64) string {
	if !finite(x).OK {
		return plots.Missing
	}
	return fmt.Sprintf("%.3f", x)
}

// between95 is the interval of a ratio.
func between95(e load.Estimate) string {
	if b := between(e, func(x float64) string { return fmt.Sprintf("%.2f", x) }); b != "" {
		return b
	}
	return plots.Missing
}

func pCell(p load.Opt[float64]) string {
	switch {
	case !p.OK:
		return plots.Missing
	case p.V < 0.0001:
		return "<0.0001"
	case p.V < 0.01:
		return fmt.Sprintf("%.4f", p.V)
	}
	return fmt.Sprintf("%.2f", p.V)
}

func zCell(h compare.History) string {
	if !h.Z.OK || !h.Enough() {
		return plots.Missing
	}
	return signed(h.Z.V)
}

// ttftCell is a ratio with its interval where single requests give one.
func ttftCell(c load.Opt[compare.Change]) string {
	if !c.OK {
		return plots.Missing
	}
	cell := fmt.Sprintf("%.2f", c.V.Ratio.Value)
	if b := between95(c.V.Ratio); b != plots.Missing {
		cell += " (" + b + ")"
	}
	return cell
}

func kneeCell(e load.Opt[load.Estimate]) string {
	if !e.OK {
		return plots.Missing
	}
	return plots.Streams(e.V.Value)
}

func countCell(n load.Opt[int]) string {
	if !n.OK {
		return plots.Missing
	}
	return whole(n.V)
}

// signed writes a difference with its sign.
func signed(x float64) string {
	if s := fmt.Sprintf("%+.1f", x); math.Abs(x) < 9.95 {
		return strings.Replace(s, "-", "−", 1)
	}
	return strings.Replace(fmt.Sprintf("%+.0f", x), "-", "−", 1)
}
