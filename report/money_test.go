package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"kneesweep/analysis"
	"kneesweep/analysis/claims"
	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/load"
	"kneesweep/report"
)

// TestCostIsSaid in the table and on the page: the cheapest level, one almost as cheap
// below it, and what the run cost.
func TestCostIsSaid(t *testing.T) {
	var steps []load.Step
	for _, l := range []struct {
		n int
		x float64
	}{{1, 100}, {2, 200}, {4, 397}, {8, 400}} {
		steps = append(steps, load.Step{Concurrency: l.n, Valid: true, Throughput: load.Some(load.Estimate{Value: l.x, Lo: l.x * 0.9, Hi: l.x * 1.1}), Measurements: []float64{l.x, l.x}})
	}
	c := analysis.Curve{Steps: steps, Used: &load.Used{Requests: 10, Seconds: 1800}}
	c = analysis.Priced(c, load.Prices{Hour: 3.6, GPUs: 2, Duty: 0.5})
	var table, page bytes.Buffer
	if report.Table(&table, c) != nil || report.Markdown(&page, c, "") != nil {
		t.Fatal("not written")
	}
	flat := strings.Join(strings.Fields(table.String()), " ")
	for _, want := range []string{
		"A million output tokens cost $10 (9.09–11.1) at 8 parallel streams, the least of the levels ($3.6 per hour for each of 2 GPUs, busy 50 % of the time); from 4 on it is within 1 % of that.",
		"The run itself cost $3.6.", "$/Mtok",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
	for _, want := range []string{"## Cost", "| 8 | 10.0 | 9.09–11.1 | 27.8 |", "10⁶ × price per hour × GPUs"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	page.Reset()
	if report.Markdown(&page, analysis.Priced(c, load.Prices{}), ""); strings.Contains(page.String(), "$") {
		t.Error("a page without prices speaks of money")
	}
}

// lines checks that no line of a terminal is wider than 110 columns.
func lines(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > 111 {
			t.Errorf("a line of %d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
}

// TestClaimsAreSaid with verdict and reason, for a terminal and on a page.
func TestClaimsAreSaid(t *testing.T) {
	c := claims.Claim{Name: "all | of them", Kind: claims.Throughput, Value: 1200, Hardware: "A100", Conditions: claims.Conditions{GPUs: 1, Streams: 32}}
	r := claims.Result{
		File: claims.File{Name: "c.yaml", Claims: []claims.Claim{c, {Name: "one", Kind: claims.Stream, Value: 150}}},
		Findings: []claims.Finding{
			{Claim: c, Verdict: claims.Refuted, Reason: "measured 600", Assumed: []string{"gpus 1"}},
			{Claim: claims.Claim{Name: "one", Kind: claims.Stream, Value: 150}, Verdict: claims.NotComparable, Reason: "not stated: streams"},
		},
		Contradictions: []claims.Contradiction{{Claims: []int{0, 1}, Text: "both cannot be"}},
		Scaling: []claims.Scale{{GPUs: 1, Run: "a", Throughput: load.Some(load.Estimate{Value: 100, Lo: 90, Hi: 110})},
			{GPUs: 2, Run: "b", Throughput: load.Some(load.Estimate{Value: 190, Lo: 180, Hi: 200}), SpeedUp: load.Some(load.Estimate{Value: 1.9, Lo: 1.7, Hi: 2.1}),
				Efficiency: load.Some(load.Estimate{Value: 0.95, Lo: 0.85, Hi: 1.05}), Note: "no plateau"}},
	}
	var text, page bytes.Buffer
	if report.ClaimsText(&text, r) != nil || report.ClaimsMarkdown(&page, r) != nil {
		t.Fatal("not written")
	}
	lines(t, text.String())
	for _, want := range []string{"refuted", "1,200 output tokens/s", "[assumed: gpus 1]", "not comparable", "all | of them / one: both cannot be", "0.950 (0.850–1.05)", "2 GPUs (b): no plateau",
		"0 confirmed, 1 refuted, 1 not comparable; 1 contradiction among them."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, text.String())
		}
	}
	if !strings.Contains(page.String(), `all \| of them`) || !strings.Contains(page.String(), "## Scaling") {
		t.Errorf("the page:\n%s", page.String())
	}
}

// TestPlanIsSaid with one replica fewer beside it; a queue without an end is null.
func TestPlanIsSaid(t *testing.T) {
	limits, err := slo.Parse("ttft_p95<=500ms")
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{
		Demand: plan.Demand{Rate: 33, Limits: limits, Headroom: 0.1}, Replicas: load.Estimate{Value: 4, Lo: 4, Hi: 5}, Streams: 16,
		PerReplica: load.Estimate{Value: 9.5, Lo: 9, Hi: 10}, Saturated: 12, Headroom: load.Estimate{Value: 0.15, Lo: 0.1, Hi: 0.2},
		Expected: []plan.Expectation{{Limit: limits[0], Value: 0.25}}, Fewer: []plan.Expectation{{Limit: limits[0], Value: math.Inf(1)}},
		LimitedBy: "ttft_p95<=500ms", Month: load.Some(load.Estimate{Value: 7300, Lo: 7300, Hi: 9125}),
	}
	var text, doc bytes.Buffer
	if report.PlanText(&text, "run", p) != nil || report.PlanJSON(&doc, "run", p) != nil {
		t.Fatal("not written")
	}
	lines(t, text.String())
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"4 replicas (95 % interval 4–5) of 16 parallel streams each serve 33 requests/s and 10 % to spare", "$7,300.00 per month of 730 hours (7,300–9,120)", "no end"} {
		if !strings.Contains(flat, want) {
			t.Errorf("the text does not say %q:\n%s", want, text.String())
		}
	}
	for _, want := range []string{`"value_ms": 250`, `"one_fewer_ms": null`, `"streams_per_replica": 16`} {
		if !strings.Contains(doc.String(), want) {
			t.Errorf("the document has no %s:\n%s", want, doc.String())
		}
	}
}
