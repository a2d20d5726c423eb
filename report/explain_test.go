package report

import (
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Five whole sentences for every verdict, in words of everyday use.
func TestExplanationOfEveryVerdict(t *testing.T) {
	for name, c := range verdicts() {
		if validLevels(c) == 0 {
			continue
		}
		for i, line := range explanation(c) {
			if len(line) < 20 || !strings.HasSuffix(line, ".") || strings.Contains(line, "NaN") || strings.Contains(line, "  ") {
				t.Errorf("%s: line %d is %q", name, i+1, line)
			}
			for _, word := range []string{"breakpoint", "bootstrap", "segment", "regression", "retrograde", "plateau"} {
				if strings.Contains(line, word) {
					t.Errorf("%s: line %d speaks of a %s: %q", name, i+1, word, line)
				}
			}
		}
	}
}

// The report without a measurement has no explanation, and one whose definitions
// disagree says so beside them and in the line about how sure it is.
func TestExplanationFollowsTheEvidence(t *testing.T) {
	page := func(c analysis.Curve) string {
		var b strings.Builder
		if err := Markdown(&b, c, ""); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := page(analysis.Curve{}); strings.Contains(text, "five lines") {
		t.Errorf("an explanation of nothing: %s", text)
	}
	c := withKnee()
	if text := page(c); strings.Contains(text, "disagree") || strings.Contains(text, "as a region") {
		t.Errorf("definitions said to disagree: %s", text)
	}
	c.Estimates = append(c.Estimates, knee.Estimate{
		Method: knee.MethodHyperbolaCap, Concurrency: load.Some(load.Estimate{Value: 40, Lo: 35, Hi: 50}),
	})
	text := page(c)
	for _, want := range []string{"The definitions of a knee disagree: it lies at 24", "at 40 with a ramp that bends", "Other lines put it elsewhere"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said in %s", want, text)
		}
	}
	c.Estimates = nil
	c.Knee.Soft = true
	if text := page(c); !strings.Contains(text, "The turn is gradual") {
		t.Errorf("not said to be gradual: %s", text)
	}
}
