package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/load"
	"kneesweep/plots"
)

// TargetsSchema is that of [TargetsJSON].
const TargetsSchema = "kneesweep/targets/v1"

// Targets are several endpoints that were swept in turn. The label of each curve is
// its name, and that of its folder.
type Targets struct {
	Curves      []analysis.Curve
	Comparisons []compare.Comparison // of each but the first with the first
}

var targetColumns = []heading{
	{"", "", "target"}, {"", "", "knee"}, {"", "95 %", "interval"}, {"plateau", "", "tok/s"}, {"streams", "to", "allow"}, {"", "", "model"}, {"", "", "status"},
}

func targetRows(t Targets) [][]string {
	var rows [][]string
	for _, c := range t.Curves {
		row := append([]string{"", c.Run.Label}, figuresOf(c)...)
		rows = append(rows, append(row, c.Run.Model, string(c.Run.Status)))
	}
	return rows
}

// figuresOf are the knee with its interval, the plateau and the streams to allow.
func figuresOf(c analysis.Curve) []string {
	interval, plateau := plots.Missing, plots.Missing
	if k := c.Knee.Concurrency; k.OK {
		interval = cmp.Or(between(k.V, plots.Streams), plots.Missing)
	}
	if p := c.Knee.Plateau; finiteOpt(p).OK {
		plateau = plots.Fixed(p.V)
	}
	return []string{kneeCell(c.Knee.Concurrency), interval, plateau, countCell(c.Recommended.Concurrency)}
}

// TargetsTable writes the targets and their comparisons for a terminal. Its errors
// are those of w.
func TargetsTable(w io.Writer, t Targets) error {
	b := bufio.NewWriter(w)
	writeGrid(b, append(headingRows(targetColumns), targetRows(t)...))
	for _, c := range t.Comparisons {
		fmt.Fprintln(b)
		if err := ComparisonTable(b, c); err != nil {
			return err
		}
	}
	return b.Flush()
}

// TargetsMarkdown writes the same as a page, with the picture of all curves. Its
// errors are those of w.
func TargetsMarkdown(w io.Writer, t Targets, imageName string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %d targets in turn\n\n", len(t.Curves))
	for _, c := range t.Comparisons {
		fmt.Fprintf(b, "- %s\n", escape(ComparisonVerdict(c)))
	}
	fmt.Fprintf(b, "\n![Capacity curves](<%s>)\n\n", imageName)
	rows := withoutMarks(targetRows(t))
	for i, c := range t.Curves {
		for k := range rows[i] {
			rows[i][k] = escape(rows[i][k])
		}
		rows[i][0] = fmt.Sprintf("[%s](<%s/%s>)", rows[i][0], c.Run.Label, "report.md")
	}
	markdownTable(b, headingLine(targetColumns), rows)
	for _, c := range t.Comparisons {
		fmt.Fprintf(b, "## %s against %s\n\n", escape(c.NewName), escape(c.OldName))
		markdownComparison(b, c)
	}
	return b.Flush()
}

type targetsJSON struct {
	Schema      string           `json:"schema"`
	Targets     []targetJSON     `json:"targets"`
	Comparisons []comparisonJSON `json:"comparisons"`
}

// targetJSON is what the curve of a target comes to; all of it stands in its folder.
type targetJSON struct {
	Name        string           `json:"name"`
	Target      string           `json:"target"`
	Model       string           `json:"model"`
	Status      string           `json:"status"`
	StopReason  load.Opt[string] `json:"stop_reason"`
	Verdict     string           `json:"verdict"`
	Knee        *intervalJSON    `json:"knee"`
	Plateau     number           `json:"plateau_tokens_per_second"`
	Recommended load.Opt[int]    `json:"recommended"`
}

// TargetsJSON writes the targets and their comparisons as one strict JSON document
// of [TargetsSchema]. Its errors are those of w.
func TargetsJSON(w io.Writer, t Targets) error {
	j := targetsJSON{Schema: TargetsSchema, Targets: []targetJSON{}, Comparisons: []comparisonJSON{}}
	for _, c := range t.Curves {
		j.Targets = append(j.Targets, targetJSON{
			Name: c.Run.Label, Target: c.Run.Target, Model: c.Run.Model, Status: string(c.Run.Status), StopReason: text(c.Run.StopReason),
			Verdict: string(c.Knee.Verdict), Knee: intervalOrNull(c.Knee.Concurrency), Plateau: finiteOpt(c.Knee.Plateau), Recommended: c.Recommended.Concurrency,
		})
	}
	for _, c := range t.Comparisons {
		j.Comparisons = append(j.Comparisons, comparisonOf(c))
	}
	b, err := document(j)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
