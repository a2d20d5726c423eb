package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
)

// failure is how often one cause ended the requests of a level.
type failure struct {
	cause string
	count int
}

// failuresOf lists the causes of a step, the most frequent first.
func failuresOf(s load.Step) []failure {
	list := make([]failure, 0, len(s.Failures))
	for _, cause := range slices.Sorted(maps.Keys(s.Failures)) {
		if n := s.Failures[cause]; n > 0 {
			list = append(list, failure{cause, n})
		}
	}
	slices.SortStableFunc(list, func(a, b failure) int { return cmp.Compare(b.count, a.count) })
	return list
}

// failureLines has a line for each level at which requests failed.
func failureLines(c analysis.Curve) []string {
	var lines []string
	if p := c.Run.Preflight; p != nil {
		lines = append(lines, "preflight: 1 "+string(p.Cause))
	}
	for _, s := range c.Steps {
		var parts []string
		for _, f := range failuresOf(s) {
			parts = append(parts, whole(f.count)+" "+f.cause)
		}
		if len(parts) > 0 {
			lines = append(lines, "level "+whole(s.Concurrency)+": "+strings.Join(parts, ", "))
		}
	}
	return lines
}

// failureRows has a row for each cause at each level: the level, the cause, how many
// requests, and their share of those that ended.
func failureRows(c analysis.Curve) [][]string {
	var rows [][]string
	if p := c.Run.Preflight; p != nil {
		rows = append(rows, []string{"preflight", string(p.Cause), "1", percent(1)})
	}
	for _, s := range c.Steps {
		for _, f := range failuresOf(s) {
			share := percent(float64(f.count) / float64(max(1, s.Finished+s.Failed)))
			rows = append(rows, []string{whole(s.Concurrency), f.cause, whole(f.count), share})
		}
	}
	return rows
}

// markdownFailures has a row for each cause at each level.
func markdownFailures(w io.Writer, c analysis.Curve) {
	rows := failureRows(c)
	if len(rows) == 0 {
		return
	}
	for _, r := range rows {
		r[1] = escape(r[1])
	}
	fmt.Fprint(w, "## Failures\n\n")
	markdownTable(w, []string{"streams, N", "cause", "requests", "share of those that ended"}, rows)
}
