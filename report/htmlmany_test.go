package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/plots"
)

const evil = `<script>alert("x")</script>`

func named(label string) analysis.Curve {
	c := withKnee()
	c.Run.Label = label
	return c
}

// TestTargetsHTML: the verdict first, all targets in one chart and in one table, and nothing
// of what servers and users say is markup.
func TestTargetsHTML(t *testing.T) {
	all := Targets{Curves: []analysis.Curve{named("first"), named(evil)}}
	all.Comparisons = append(all.Comparisons, compare.Runs([]compare.Run{{Curve: all.Curves[0]}}, compare.Run{Curve: all.Curves[1]}, compare.Options{}))
	var b bytes.Buffer
	if err := TargetsHTML(&b, all); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, evil) || strings.Contains(strings.ToLower(page), "<script>alert") {
		t.Error("a name is markup")
	}
	said := wordsOf(page)
	for _, want := range []string{"2 targets in turn", ComparisonVerdict(all.Comparisons[0]), "Capacity curves", "first", evil, "What each comes to", " against ", "What the figures mean"} {
		if !strings.Contains(said, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if !strings.Contains(page, `id="capacity-chart"`) && !strings.Contains(page, "capacity-chart") {
		t.Error("no chart")
	}
	if !strings.Contains(page, "<svg") || len(page) > 600_000 {
		t.Errorf("no picture for readers without scripts, or %d bytes", len(page))
	}
}

// TestMatrixHTML: a row for each cell, swept or not; many curves are a picture.
func TestMatrixHTML(t *testing.T) {
	for _, n := range []int{0, 1, 2, mostTogether, mostTogether + 1} {
		m := Matrix{Axes: []MatrixAxis{{Name: "cache", Values: []string{"cold"}}}, Settings: []MatrixSetting{{"label", evil}}}
		for i := range n {
			c := named(fmt.Sprint("c", i))
			m.Cells = append(m.Cells, MatrixCell{Folder: "f", Values: []string{fmt.Sprint("value", i)}, Text: fmt.Sprintf("cell %d", i), Curve: &c})
		}
		m.Cells = append(m.Cells, MatrixCell{Folder: "g", Values: []string{"last"}, Text: "cell last"})
		c := withKnee()
		heat, err := plots.HeatMap("a", []string{"1"}, "b", []string{"2"}, []plots.Heat{{Cells: [][]*analysis.Curve{{&c}}}})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := MatrixHTML(&b, m, heat); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		said := wordsOf(page)
		for _, want := range []string{fmt.Sprintf("%d of %d combinations were swept", n, n+1), "not swept", "Where the knee lies", "What all cells have in common", evil} {
			if !strings.Contains(said, want) {
				t.Errorf("%d cells: the page does not say %q", n, want)
			}
		}
		if interactive := strings.Contains(markupOf(page), "capacity-chart"); interactive != (n > 0 && n <= mostTogether) {
			t.Errorf("%d cells: interactive %v", n, interactive)
		}
		if strings.Contains(page, evil) || len(page) > 600_000 {
			t.Errorf("%d cells: markup, or %d bytes", n, len(page))
		}
	}
}
