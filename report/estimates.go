package report

import (
	"fmt"
	"io"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/plots"
)

// looksFor says of each definition of a knee what it takes for one.
var looksFor = map[string]string{
	knee.MethodSegmented:     "a straight ramp meets a flat plateau",
	knee.MethodSegmentedFree: "two lines meet, each with a slope of its own",
	knee.MethodHyperbolaCap:  "a ramp that bends, as streams slow each other down, meets a cap",
	knee.MethodAsymptotic:    "the line through the first level meets the plateau: fewer cannot saturate",
	knee.MethodUSL:           "the universal scalability law, which has no plateau, peaks",
	knee.MethodKneedle:       "a level stands out most above the chord of the curve",
	knee.MethodN95:           "95 % of the plateau is reached",
}

// estimateRows has a row for each definition: its name, value and interval, the place
// that it looks for, and its note.
func estimateRows(c analysis.Curve) (rows [][]string) {
	for _, e := range c.Estimates {
		value, interval := plots.Missing, plots.Missing
		if e.Concurrency.OK {
			value = plots.Streams(e.Concurrency.V.Value)
			if b := plots.Interval(e.Concurrency.V); b != "" {
				interval = b
			}
		}
		rows = append(rows, []string{e.Method, value, interval, looksFor[e.Method], e.Note})
	}
	return rows
}

// markdownEstimates shows the definitions of a knee side by side, the primary one
// first, and says so when they disagree.
func markdownEstimates(w io.Writer, c analysis.Curve) {
	if len(c.Estimates) == 0 {
		return
	}
	rows := estimateRows(c)
	for _, row := range rows {
		name := "`" + row[0] + "`"
		if row[0] == c.Knee.Method {
			name += " (primary)"
		}
		row[0], row[4] = name, escape(row[4])
	}
	fmt.Fprint(w, "Definitions of a knee side by side; they look for different places, and the primary one is the knee of this report:\n\n")
	markdownTable(w, []string{"method", "streams", "95 % interval, streams", "the place where", "note"}, rows)
	if text, disagree := knee.Disagree(c.Knee, c.Estimates); disagree {
		fmt.Fprintf(w, "%s\n\n", escape(sentence(text.Text)))
	}
}
