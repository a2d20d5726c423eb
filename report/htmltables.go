package report

import (
	"fmt"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/plots"
)

// tables fills in the tables of the page.
func (d *pageData) tables(c analysis.Curve) {
	if len(c.Steps) > 0 {
		heading, rows := columnsTable(c, columnsOf(c))
		for i, s := range c.Steps {
			if m := mark(c, s); m != "" {
				rows[i][0] = m + " " + rows[i][0]
			}
		}
		d.Levels = pageTable{"levels", "Every level that was measured; the charts show these figures", heading, rows, false}
		d.Remarks = remarks(c)
		heading, rows = columnsTable(c, auditColumns)
		d.Audits = pageTable{"audits", "What the measurement says of itself", heading, rows, false}
	}
	if c.Account != nil {
		d.Cost = pageTable{"cost", "What the output of each level costs", costHeading, costRows(c), false}
		d.CostLines = costLines(c)
	}
	if rows := failureRows(c); len(rows) > 0 {
		d.Failures = pageTable{"failures", "Requests without a good end, by cause", failureHeading, rows, false}
	}
	if engine, rows := serverRows(c); len(rows) > 0 {
		d.Server = pageTable{"server", fmt.Sprintf("The server's own metrics (%s) while the windows ran", engine), serverHeading, rows, false}
	}
	if rows := estimateRows(c); len(rows) > 0 {
		for _, row := range rows {
			formula := formulas[row[0]]
			if row[0] == c.Knee.Method {
				row[0] += " (primary)"
			}
			row[3] += ": " + formula
		}
		d.Estimates = pageTable{
			"estimates", "Definitions of a knee look for different places; the primary one is the knee of this report",
			[]string{"method", "streams, N", "95 % interval", "the place where", "note"}, rows, true,
		}
	}
	if text, disagree := knee.Disagree(c.Knee, c.Estimates); disagree {
		d.Disagree = sentence(text.Text)
	}
	d.Definitions = pageTable{"definitions", "What every figure means", []string{"figure", "definition", "unit"}, definitionRows, true}
}

// keyFigures are what a reader wants to carry away, those that are known.
func keyFigures(c analysis.Curve) (keys []keyFigure) {
	if r := c.Recommended; r.Concurrency.OK {
		note := ""
		if r.LimitedBy != "" {
			note = "limited by " + r.LimitedBy
		}
		keys = append(keys, keyFigure{"Allow", whole(r.Concurrency.V), "streams", note})
	}
	if k := c.Knee.Concurrency; k.OK {
		note := ""
		if b := plots.Interval(k.V); b != "" {
			note = "95 % interval " + b
		}
		keys = append(keys, keyFigure{"Knee", plots.Streams(k.V.Value), "streams", note})
	}
	if p := finiteOpt(c.Knee.Plateau); p.OK {
		keys = append(keys, keyFigure{"Plateau", plots.Number(p.V), "tokens/s", "all streams together"})
	}
	if a := c.Admission; a.OK {
		keys = append(keys, keyFigure{"Admission limit", plots.Streams(a.V.Value), "streams", "decoded at once"})
	}
	if n := c.Recommended.Concurrency; n.OK {
		for _, s := range c.Steps {
			if s.Valid && s.Concurrency <= n.V && s.TTFT.Count > 0 {
				last := keyFigure{"TTFT p50", plots.Number(1e3 * s.TTFT.P50), "ms", "at " + streams(float64(s.Concurrency))}
				if l := len(keys); l > 0 && keys[l-1].Name == last.Name {
					keys = keys[:l-1]
				}
				keys = append(keys, last)
			}
		}
	}
	return keys
}
