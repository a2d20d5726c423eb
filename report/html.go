package report

import (
	"io"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report/page"
)

// HTML writes c as one file that needs nothing else: verdict, interactive charts
// with pictures for readers without scripts, tables, doubts, audits, settings and
// definitions. With baseline, the comparison of c with an earlier run, it shows the
// differences too; nil leaves them out. Its errors are those of w and of the
// figures.
func HTML(w io.Writer, c analysis.Curve, baseline *compare.Comparison) error {
	p := Page(c, baseline)
	if err := drawInto(p, c); err != nil {
		return err
	}
	return page.Write(w, p)
}

// Page is c as a page without pictures, which a script draws; see [HTML].
func Page(c analysis.Curve, baseline *compare.Comparison) page.Page {
	verdict := Verdict(c)
	p := page.Page{
		Title: plots.Headline(c), Headline: plots.Headline(c), Origin: originParts(c.Run), Lead: verdict, Tiles: tiles(c),
		Footer: footer(c.Run),
	}
	if first := kneeSentence(c); strings.HasPrefix(verdict, first) && first != verdict {
		p.Lead, p.Text = first, []string{strings.TrimSpace(strings.TrimPrefix(verdict, first))}
	}
	if c.At != nil {
		p.Text = append(p.Text, AtSentence(*c.At))
	}
	if t := truthSentence(c.Run.Truth); t != "" {
		p.Text = append(p.Text, t)
	}
	if name := firstOf(c.Run.Label, c.Run.Model); name != "" {
		p.Title += " – " + name
	}
	for _, s := range pageSections(c, baseline) {
		if len(s.Blocks) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// pageSections are the parts of the page in their order; those without a block are
// left out. A new part of a run, such as its cost, gets one line here.
func pageSections(c analysis.Curve, baseline *compare.Comparison) []page.Section {
	return []page.Section{
		{ID: "capacity", Title: "Capacity curve", Blocks: capacityBlocks(c)},
		{ID: "rates", Title: "Offered rates", Blocks: rateBlocks(c)},
		{ID: "baseline", Title: "Against the baseline", Blocks: baselineBlocks(baseline)},
		{ID: "explained", Title: "The knee in five lines", Blocks: explainedBlocks(c)},
		{ID: "levels", Title: "Levels", Blocks: levelBlocks(c)},
		{ID: "warnings", Title: "Warnings", Blocks: warningBlocks(c)},
		{ID: "failures", Title: "Failures", Blocks: failureBlocks(c)},
		{ID: "latency", Title: "Latency", Blocks: latencyBlocks(c)},
		{ID: "estimates", Title: "How the knee was found", Blocks: estimateBlocks(c)},
		{ID: "cost", Title: "Cost", Blocks: costBlocks(c)},
		{ID: "audits", Title: "Audits", Blocks: auditBlocks(c)},
		{ID: "server", Title: "What the server says", Blocks: serverBlocks(c)},
		{ID: "settings", Title: "What was asked, and how it was measured", Blocks: settingBlocks(c.Run)},
		{ID: "definitions", Title: "What the figures mean", Blocks: prose(definitions)},
	}
}

// originParts name what was measured, of whom and when.
func originParts(r load.Run) []string {
	if line := origin(r); line != "" {
		return strings.Split(line, " · ")
	}
	return nil
}

func footer(r load.Run) string {
	var parts []string
	if r.Tool != "" {
		parts = append(parts, "Measured by "+r.Tool)
	}
	if r.ID != "" {
		parts = append(parts, "run "+r.ID)
	}
	return strings.Join(append(parts, "charts by uPlot 1.6.32 (MIT)"), " · ")
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// tiles are the results that are shown large.
func tiles(c analysis.Curve) []page.Tile {
	var all []page.Tile
	if k := c.Knee.Concurrency; k.OK && finite(k.V.Value).OK {
		t := page.Tile{Name: "Knee", Value: plots.Streams(k.V.Value), Unit: "streams", Tone: page.Vermillion}
		if b := plots.Interval(k.V); b != "" {
			t.Note = b + ", 95 % interval"
		}
		all = append(all, t)
	}
	if r := c.Recommended; r.Concurrency.OK {
		t := page.Tile{Name: "Allow at most", Value: whole(r.Concurrency.V), Unit: "streams", Tone: page.Green}
		if by, known := limits[r.LimitedBy]; known {
			t.Note = "limited by " + by
		}
		all = append(all, t)
	}
	if x := finiteOpt(c.Knee.Plateau); x.OK {
		all = append(all, page.Tile{Name: "Plateau", Value: plots.Number(x.V), Unit: "tok/s", Note: "output of all streams", Tone: page.Ink})
	}
	if a := c.Admission; a.OK {
		all = append(all, page.Tile{Name: "Admission limit", Value: plots.Streams(a.V.Value), Unit: "streams", Note: "decoding at once, the rest waits", Tone: page.Purple})
	}
	if s := fullest(c); s != nil && s.TTFT.Count > 0 {
		all = append(all, page.Tile{Name: "TTFT p95", Value: plots.Number(s.TTFT.P95 * 1e3), Unit: "ms", Note: "at " + streams(float64(s.Concurrency)), Tone: page.Blue})
	}
	return all
}

// fullest is the highest valid level within the recommendation, nil without one.
func fullest(c analysis.Curve) *load.Step {
	var best *load.Step
	for i := range c.Steps {
		if s := &c.Steps[i]; s.Valid && c.Recommended.Concurrency.OK && s.Concurrency <= c.Recommended.Concurrency.V {
			best = s
		}
	}
	return best
}
