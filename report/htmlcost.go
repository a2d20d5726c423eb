package report

import (
	"kneesweep/analysis"
	"kneesweep/report/page"
)

// costBlocks are what the levels cost, and where that comes from; none without
// prices.
func costBlocks(c analysis.Curve) []page.Block {
	if c.Account == nil {
		return nil
	}
	t := &page.Table{Caption: "What the output of each level costs"}
	for _, name := range costHeading {
		t.Heading = append(t.Heading, page.Heading{Name: name})
	}
	for _, r := range costRows(c) {
		t.Rows = append(t.Rows, page.Row{Cells: r})
	}
	blocks := []page.Block{{Table: t}}
	for _, line := range costLines(c) {
		blocks = append(blocks, page.Block{Text: line})
	}
	return blocks
}
