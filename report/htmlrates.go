package report

import (
	"strings"

	"kneesweep/analysis"
	"kneesweep/plots"
	"kneesweep/report/page"
)

// rateBlocks are the rates that were offered, and what failed at them; none in a
// closed loop.
func rateBlocks(c analysis.Curve) []page.Block {
	r := c.Rates
	if r == nil || len(r.Steps) == 0 {
		return nil
	}
	t := &page.Table{Caption: "What was offered and what came of it; latencies with a schedule count from when a request was due"}
	for _, col := range rateColumns {
		t.Heading = append(t.Heading, page.Heading{Name: strings.TrimSpace(col.name + " " + col.stat), Unit: col.unit})
	}
	for _, row := range rateGrid(r)[3:] {
		t.Rows = append(t.Rows, page.Row{Mark: row[0], Cells: row[1:]})
	}
	blocks := []page.Block{{Picture: &page.Picture{Alt: "Output tokens per second and latencies over the offered rate. " + plots.Headline(c) + "."}}, {Table: t}}
	var items []page.Item
	for _, line := range append(rateRemarks(r), rateFailures(r)...) {
		items = append(items, page.Item{Text: line})
	}
	if len(items) > 0 {
		blocks = append(blocks, page.Block{List: items})
	}
	return blocks
}
