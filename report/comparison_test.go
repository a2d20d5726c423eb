package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/load"
)

// slower is [withKnee] with all its figures multiplied by speed.
func slower(speed float64) compare.Run {
	c := withKnee()
	for i := range c.Steps {
		s := &c.Steps[i]
		for k := range s.Measurements {
			s.Measurements[k] *= speed
		}
		e := &s.Throughput.V
		e.Value, e.Lo, e.Hi = speed*e.Value, speed*e.Lo, speed*e.Hi
		s.TTFT.P50, s.TTFT.P95 = s.TTFT.P50/speed, s.TTFT.P95/speed
	}
	c.Knee.Plateau.V *= speed
	c.Run.ID += fmt.Sprint("-", speed)
	return compare.Run{Curve: c}
}

// comparisons are one of each kind.
func comparisons() map[string]compare.Comparison {
	old, latest := slower(1), slower(0.88)
	latest.Curve.Run.Label, latest.Curve.Run.Tool = "rc2", "kneesweep v1.1.0"
	last := &latest.Curve.Steps[7]
	last.Valid, last.InvalidReason, last.ErrorRate = false, "error rate 31 % is over the limit of 5 %", load.Some(0.31)
	forced := slower(1.2)
	forced.Curve.Run.Request.OutputTokensAsked = 512
	nights := []compare.Run{slower(1), slower(0.97), slower(1.04), slower(1.01)}
	none := slower(1)
	for i := range none.Curve.Steps {
		none.Curve.Steps[i].Valid, none.Curve.Steps[i].InvalidReason = false, "no tokens"
	}
	return map[string]compare.Comparison{
		"1 regression": compare.Runs([]compare.Run{old}, latest, compare.Options{}),
		"2 forced":     compare.Runs([]compare.Run{old}, forced, compare.Options{}),
		"3 equivalent": compare.Runs([]compare.Run{old}, slower(0.99), compare.Options{}),
		"4 history":    compare.Runs(nights, slower(0.8), compare.Options{}),
		"5 a night":    compare.Runs(nights, slower(0.95), compare.Options{}),
		"7 paired":     paired(),
		"6 nothing":    compare.Runs([]compare.Run{old}, none, compare.Options{}),
	}
}

func TestComparisonTable(t *testing.T) {
	var b strings.Builder
	all := comparisons()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString("== " + name + "\n\n")
		if err := ComparisonTable(&b, all[name]); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 110 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "comparison.txt", b.String())
}

func TestComparisonMarkdown(t *testing.T) {
	for name, c := range comparisons() {
		var b strings.Builder
		if err := ComparisonMarkdown(&b, c); err != nil {
			t.Fatal(err)
		}
		columns := 0
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			n := strings.Count(line, "|")
			if columns > 0 && n != columns {
				t.Errorf("%s: %d cells under %d: %s", name, n-1, columns-1, line)
			}
			columns = n
		}
		if !strings.HasPrefix(b.String(), "# Comparison: ") || !strings.Contains(b.String(), escape(ComparisonVerdict(c))) {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestComparisonJSON wants every name that docs/format.md lists, in strict JSON,
// also where nothing is known.
func TestComparisonJSON(t *testing.T) {
	all := comparisons()
	nan := math.NaN()
	broken := compare.Change{Old: nan, New: math.Inf(1), Ratio: load.Estimate{Value: nan, Lo: nan, Hi: nan}, P: load.Some(nan)}
	all["broken"] = compare.Comparison{
		Verdict: compare.CannotTell, Levels: []compare.Level{{Concurrency: 1, Throughput: broken, TTFT50: load.Some(broken), History: load.Some(compare.History{Mean: nan, Lo: nan, Hi: nan})}},
		Figures: []compare.Figure{{Name: compare.FigurePlateau, Change: broken}},
	}
	all["empty"] = compare.Comparison{}
	for name, c := range all {
		var b bytes.Buffer
		if err := ComparisonJSON(&b, c); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkKeys(t, name, doc, "schema verdict text by_history old_runs min_effect forced old new differences figures knee recommended steps missing warnings")
		checkKeys(t, name, doc["figures"], "output_tokens_per_second plateau_tokens_per_second ttft_p50_ms ttft_p95_ms")
		checkKeys(t, name, doc["knee"], "old new difference p")
		checkKeys(t, name, doc["recommended"], "old new")
		for _, s := range doc["steps"].([]any) {
			checkKeys(t, name, s, "concurrency output_tokens_per_second ttft_p50_ms ttft_p95_ms")
			x := s.(map[string]any)["output_tokens_per_second"].(map[string]any)
			checkKeys(t, name, x, "old new ratio p adjusted_p judgement detectable history")
			if h := x["history"]; h != nil {
				checkKeys(t, name, h, "runs mean sd value change z lo hi p adjusted_p judgement")
			} else if doc["by_history"] == true {
				t.Errorf("%s: a history without its values", name)
			}
		}
		for _, list := range []string{"differences", "steps", "missing", "warnings"} {
			if _, ok := doc[list].([]any); !ok {
				t.Errorf("%s: %s is %v, want a list", name, list, doc[list])
			}
		}
	}
}

func TestComparisonTimesAreMilliseconds(t *testing.T) {
	c := comparisonOf(comparisons()["3 equivalent"])
	if got := c.Steps[0].TTFT50.Old.V; math.Abs(got-80) > 1e-9 {
		t.Errorf("TTFT p50 at N = 1 is %g, want 80 ms", got)
	}
	if got := c.Figures.TTFT95.Old.V; got < 140 {
		t.Errorf("TTFT p95 over levels is %g, want ms", got)
	}
}

// paired is a comparison of two targets that were measured in turn.
func paired() compare.Comparison {
	a, b := slower(1), slower(0.88)
	a.Curve.Run.Label, b.Curve.Run.Label = "blue", "green"
	c := compare.Runs([]compare.Run{a}, b, compare.Options{}) // with pairs there would be single requests
	c.Paired, c.OldName, c.NewName = true, "blue", "green"
	return c
}

// Targets are called by their names, and their page links to their reports.
func TestTargets(t *testing.T) {
	c := paired()
	a, b := slower(1).Curve, slower(0.88).Curve
	a.Run.Label, b.Run.Label = "blue", "green"
	all := Targets{Curves: []analysis.Curve{a, b}, Comparisons: []compare.Comparison{c}}
	var table, page, doc bytes.Buffer
	if err := errors.Join(TargetsTable(&table, all), TargetsMarkdown(&page, all, "curve.png"), TargetsJSON(&doc, all)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{table.String(), page.String()} {
		for _, want := range []string{"green is worse than blue", "green/blue", "measured in turn"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%q is not said:\n%s", want, text)
			}
		}
		for _, not := range []string{"OLD", "NEW", "new/old"} {
			if strings.Contains(text, not) {
				t.Errorf("%q is said:\n%s", not, text)
			}
		}
	}
	for _, want := range []string{"![Capacity curves](<curve.png>)", "[green](<green/report.md>)", "## green against blue"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page:\n%s", want, page.String())
		}
	}
	var read struct {
		Schema  string
		Targets []struct {
			Name    string
			Plateau *float64 `json:"plateau_tokens_per_second"`
		}
		Comparisons []struct{ Paired bool }
	}
	if err := json.Unmarshal(doc.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Schema != TargetsSchema || len(read.Targets) != 2 || read.Targets[1].Name != "green" || read.Targets[1].Plateau == nil || !read.Comparisons[0].Paired {
		t.Errorf("the document says %+v", read)
	}
}
