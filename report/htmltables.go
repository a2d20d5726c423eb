package report

import (
	"slices"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report/page"
)

func explainedBlocks(c analysis.Curve) []page.Block {
	if validLevels(c) == 0 {
		return nil
	}
	lines := explanation(c)
	return []page.Block{{Steps: lines[:]}}
}

// stepTable is a table with a row for each level.
func stepTable(c analysis.Curve, caption string, cols []column) *page.Table {
	t := &page.Table{Caption: caption}
	for _, col := range cols {
		t.Heading = append(t.Heading, page.Heading{Name: strings.TrimSpace(col.name + " " + col.stat), Unit: col.unit})
	}
	for _, s := range c.Steps {
		row := page.Row{Mark: mark(c, s), Muted: !s.Valid}
		for _, col := range cols {
			row.Cells = append(row.Cells, col.cell(s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func levelBlocks(c analysis.Curve) []page.Block {
	if len(c.Steps) == 0 {
		return nil
	}
	blocks := []page.Block{{Table: stepTable(c, "One row for each number of parallel streams; output is that of all streams together, stream that of one.", columnsOf(c))}}
	var notes []page.Item
	for _, r := range remarks(c) {
		m, text, _ := strings.Cut(r, "  ")
		notes = append(notes, page.Item{Code: m, Text: text})
	}
	return append(blocks, page.Block{List: notes})
}

// latencyTable holds the data of the charts.
func latencyTable(c analysis.Curve) *page.Table {
	cols := []column{columns[0]}
	for _, l := range latencies {
		for _, q := range append(slices.Clone(shownQuantiles), shownQuantile{name: "mean", of: func(d load.Dist) float64 { return d.Mean }}) {
			cols = append(cols, column{l.name, q.name, "ms", func(s load.Step) string { d := l.of(s); return quantile(d, q.of(d), 1e3) }})
		}
	}
	t := stepTable(c, "All quantiles as a table", cols)
	t.Folded = true
	return t
}

func warningBlocks(c analysis.Curve) []page.Block {
	var items []page.Item
	for _, d := range doubts(c) {
		items = append(items, page.Item{Code: d.Code, Text: sentence(d.String())})
	}
	if len(items) == 0 {
		return nil
	}
	return []page.Block{{List: items}}
}

func failureBlocks(c analysis.Curve) []page.Block {
	rows := failureRows(c)
	if len(rows) == 0 {
		return nil
	}
	t := &page.Table{Caption: "Requests without a good end, by cause", Heading: []page.Heading{
		{Name: "streams", Unit: "N"}, {Name: "cause", Text: true}, {Name: "requests"}, {Name: "share of those that ended"},
	}}
	for _, r := range rows {
		t.Rows = append(t.Rows, page.Row{Cells: r})
	}
	return []page.Block{{Table: t}}
}

// formulas are what the definitions of a knee fit, as docs/method.md writes them.
var formulas = map[string]string{
	knee.MethodSegmented:     "X(N) = a + b · min(N, K)",
	knee.MethodSegmentedFree: "X(N) = c + b₁ · min(N, K) + b₂ · max(N − K, 0)",
	knee.MethodHyperbolaCap:  "X(N) = min(N / (t₀ + t₁ · N), C)",
	knee.MethodAsymptotic:    "K = N₁ · plateau / X(N₁)",
	knee.MethodUSL:           "X(N) = γ · N / (1 + α · (N − 1) + β · N · (N − 1)), K = √((1 − α) / β)",
	knee.MethodKneedle:       "K = argmax (x − n), both scaled to [0, 1]",
	knee.MethodN95:           "smallest N with a + b · N ≥ 0.95 · (a + b · K)",
}

// estimateBlocks are the fit, the cause with its evidence, and the definitions of a
// knee side by side.
func estimateBlocks(c analysis.Curve) []page.Block {
	var blocks []page.Block
	add := func(text string) { blocks = append(blocks, page.Block{Text: text}) }
	if r := c.Recommended.Reason; r != "" {
		add(sentence(r))
	}
	if f := c.Knee.Fit; f != nil {
		add("Fitted to the levels " + whole(f.From) + " to " + whole(f.To) + ": X(N) = " + plots.Number(f.A) + " + " + plots.Number(f.B) + " · min(N, " + plots.Number(f.K) + ") tokens/s.")
	}
	if c.Cause != nil {
		add("Cause: " + c.Cause.Name + ".")
		var items []page.Item
		for _, e := range c.Cause.Evidence {
			items = append(items, page.Item{Text: e})
		}
		blocks = append(blocks, page.Block{List: items})
	}
	if len(c.Estimates) == 0 {
		return blocks
	}
	t := &page.Table{Caption: "Definitions of a knee side by side; they look for different places, and the primary one is the knee of this report.", Heading: []page.Heading{
		{Name: "method", Text: true}, {Name: "knee", Unit: "streams"}, {Name: "95 % interval", Unit: "streams"},
		{Name: "the place where", Text: true}, {Name: "formula", Text: true}, {Name: "note", Text: true},
	}}
	for _, e := range c.Estimates {
		value, interval, name := plots.Missing, plots.Missing, e.Method
		if e.Concurrency.OK {
			value = plots.Streams(e.Concurrency.V.Value)
			interval = firstOf(plots.Interval(e.Concurrency.V), plots.Missing)
		}
		if e.Method == c.Knee.Method {
			name += " (primary)"
		}
		t.Rows = append(t.Rows, page.Row{Cells: []string{name, value, interval, looksFor[e.Method], formulas[e.Method], e.Note}})
	}
	blocks = append(blocks, page.Block{Table: t})
	if text, disagree := knee.Disagree(c.Knee, c.Estimates); disagree {
		add(sentence(text.Text))
	}
	return blocks
}

// audits says in plain words what the columns of the audits are to be held against.
var audits = []page.Item{
	{Text: "In flight should be close to N: below 95 % of what was asked the level is not valid."},
	{Text: "Little's law should be close to 1: else requests were lost from the count, or added to it."},
	{Text: "Every request that was started has finished, has failed or was in flight at the end."},
	{Text: "Connections should be reused: opening one costs time that is not the model's."},
	{Text: "A share of cached prompt tokens makes prompts cheaper than they are with other traffic."},
	{Text: "Drift compares the last pass over the levels with the first: far from 0 the endpoint changed meanwhile."},
	{Text: "Client CPU near 100 %, or a long lag, says that the measuring machine was the limit and not the endpoint."},
}

func auditBlocks(c analysis.Curve) []page.Block {
	if len(c.Steps) == 0 {
		return nil
	}
	return []page.Block{{List: audits}, {Table: stepTable(c, "What was checked at each level before its figures were believed", auditColumns)}}
}

func serverBlocks(c analysis.Curve) []page.Block {
	engine, rows := serverRows(c)
	if len(rows) == 0 {
		return nil
	}
	t := &page.Table{Caption: "From its own metrics (" + engine + "), while the windows ran"}
	for _, name := range serverHeading {
		t.Heading = append(t.Heading, page.Heading{Name: name})
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, page.Row{Cells: r})
	}
	return []page.Block{{Table: t}}
}

func settingBlocks(r load.Run) []page.Block {
	var facts []page.Fact
	for _, f := range append(requestFacts(r), settingFacts(r)...) {
		if f.value != "" {
			facts = append(facts, page.Fact{Name: f.name, Value: f.value})
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return []page.Block{{Facts: facts}}
}

// baselineBlocks are the differences from an earlier run; none without one.
func baselineBlocks(x *compare.Comparison) []page.Block {
	if x == nil {
		return nil
	}
	blocks := []page.Block{{Text: ComparisonVerdict(*x)}}
	var items []page.Item
	for _, line := range append(parties(*x), differenceLines(*x)...) {
		items = append(items, page.Item{Text: line})
	}
	blocks = append(blocks, page.Block{List: items})
	if len(x.Levels) > 0 {
		blocks = append(blocks,
			page.Block{Table: comparedTable("Level by level", comparedColumns(*x), levelRows(*x))},
			page.Block{Table: comparedTable("The whole curves", figureColumns(*x), figureRows(*x))})
	}
	for _, l := range comparisonNotes(*x) {
		blocks = append(blocks, page.Block{Text: l})
	}
	return blocks
}

func comparedTable(caption string, cols []heading, rows [][]string) *page.Table {
	t := &page.Table{Caption: caption}
	for _, name := range headingLine(cols) {
		t.Heading = append(t.Heading, page.Heading{Name: name, Text: name == "figure" || name == "finding"})
	}
	for _, r := range withoutMarks(rows) {
		t.Rows = append(t.Rows, page.Row{Cells: r})
	}
	return t
}

// prose is text in the little Markdown that this package writes itself, paragraphs
// and tables, as blocks.
func prose(markdown string) []page.Block {
	var blocks []page.Block
	for part := range strings.SplitSeq(strings.TrimSpace(markdown), "\n\n") {
		if !strings.HasPrefix(part, "|") {
			blocks = append(blocks, page.Block{Text: strings.Join(strings.Fields(part), " ")})
			continue
		}
		t := &page.Table{}
		for i, line := range strings.Split(part, "\n") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			switch i {
			case 0:
				for _, name := range cells {
					t.Heading = append(t.Heading, page.Heading{Name: name, Text: true})
				}
			case 1: // the rule under the heading
			default:
				t.Rows = append(t.Rows, page.Row{Cells: cells})
			}
		}
		t.Caption = "Every figure, its definition and its unit"
		blocks = append(blocks, page.Block{Table: t})
	}
	return blocks
}
