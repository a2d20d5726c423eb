package report

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with the stored file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (go test ./report -update writes it anew): %s", path, difference(got, string(want)))
	}
}

// measured is a curve as a sweep of an ideal server with 24 slots gives it.
func measured(levels ...int) analysis.Curve {
	c := analysis.Curve{Run: load.Run{
		ID: "20261130-200000", Started: time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC), Tool: "kneesweep v1.0.0",
		Target: "http://gpu-7.example:8000/v1", Model: "llama-3.1-8b-instruct", Seed: 7, Status: load.StatusComplete,
		Request:  load.RequestShape{InputTokensAsked: 200, InputTokensGot: load.Some(203.4), OutputTokensAsked: 40, Stream: true, Dialect: "chat", Source: "synthetic"},
		Settings: load.Settings{Measurements: 10, Passes: 2, Warmup: 5, MaxErrorRate: 0.05},
	}}
	for _, n := range levels {
		x := 245 * math.Min(float64(n), 24)
		wait := math.Max(0, float64(n)/24-1) * 40 / 245
		s := load.Step{
			Concurrency: n, Valid: true, Steady: true, Measurements: []float64{x * 0.97, x, x * 1.02},
			Throughput: load.Some(load.Estimate{Value: x, Lo: x * 0.97, Hi: x * 1.02}), Requests: x / 40,
			TTFT: load.Dist{P50: 0.08 + wait, P95: 0.14 + wait, Count: 9}, TPOT: load.Dist{P50: 0.00408, Count: 9},
			ITL: load.Dist{P95: 0.0061, Count: 99}, Decode: load.Dist{P50: 245, Count: 9},
			InFlight:          load.CountStat{Mean: float64(n) * 0.998, Peak: n, OK: true},
			DecodeConcurrency: load.Concurrency{Mode: min(n, 24), Peak: min(n, 24), OK: true},
			LittlesLaw:        load.Some(0.997), Waves: 12.5, Started: 20 * n, Finished: 19 * n, InFlightAtEnd: n, ErrorRate: load.Some(0.0),
			OutputLengthMean: load.Some(40.0), CachedShare: load.Some(0.02), ConnectionsOpened: n, ConnectionsReused: 19 * n,
			Client: load.Some(load.ClientHealth{CPU: 0.034, Cores: 2, LagP99: 0.0011, Coalesced: load.Some(0.002), Refill: load.Some(0.0004)}), Drift: load.Some(-0.012),
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func withKnee() analysis.Curve {
	c := measured(1, 2, 4, 8, 16, 32, 64, 128)
	c.Knee = knee.Result{
		Verdict: knee.Found, Concurrency: load.Some(load.Estimate{Value: 24, Lo: 22.3, Hi: 26.1}), Plateau: load.Some(5880.0),
		Slope: load.Some(245.0), N95: load.Some(22.8), Method: "segmented", Fit: &knee.Segment{B: 245, K: 24, From: 1, To: 128},
	}
	c.Admission = load.Some(load.Estimate{Value: 24, Lo: 16, Hi: 24})
	c.Cause = &analysis.Cause{Name: analysis.CauseAdmission, Evidence: []string{"no more than 24 requests decode at once", "time per token stays the same"}}
	c.Recommended = analysis.Recommended{Concurrency: load.Some(23), LimitedBy: "knee", Reason: "Allow 23 parallel streams: they bring 95 % of the plateau."}
	c.Estimates = []knee.Estimate{
		{Method: "segmented", Concurrency: c.Knee.Concurrency, Note: "least squares"},
		{Method: "usl", Note: "no peak in range | none"},
	}
	return c
}

// awkward has every kind of mark and warning.
func awkward() analysis.Curve {
	c := withKnee()
	c.Run.Truth = &load.Truth{Knee: 24, AdmissionLimit: 24}
	c.Knee.Outliers = []int{4}
	bad := &c.Steps[7]
	bad.Valid, bad.InvalidReason, bad.Failed, bad.ErrorRate = false, "error rate 31 % is over the limit of 5 %", 1096, load.Some(0.311)
	bad.Failures = map[string]int{"http_429": 1096}
	c.Steps[6] = load.Step{Concurrency: 64, InvalidReason: "no tokens"}
	c.Steps[3].Steady = false
	c.Warnings = []load.Warning{{Code: load.WarnDriftUnchecked, Text: "only one pass was made"}}
	c.Knee.Warnings = []load.Warning{{Code: load.WarnDriftUnchecked, Text: "only one pass was made"}, {Code: load.WarnOutlier, Text: "level 4 lies 40 % below the fit"}}
	for i := range c.Steps {
		s := &c.Steps[i]
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnFewSamples, "the p95 rests on %d requests", 10+i), load.Warning{Code: load.WarnOneWave, Text: "less than two requests per stream"})
	}
	c.Steps[3].Warnings = append(c.Steps[3].Warnings, load.Warning{Code: load.WarnNotSteady, Text: "the count of tokens rose during both visits"})
	return c
}

func verdicts() map[string]analysis.Curve {
	all := map[string]analysis.Curve{"1 knee": withKnee()}
	c := withKnee()
	c.Knee.Soft, c.Admission, c.Cause = true, load.Opt[load.Estimate]{}, &analysis.Cause{Name: analysis.CauseCompute}
	c.Knee.Retrograde = &knee.Retrograde{From: 64, Drop: 0.123}
	c.Recommended.LimitedBy = "slo"
	all["2 knee, soft and retrograde"] = c
	c = withKnee()
	c.Cause = &analysis.Cause{Name: analysis.CauseUnknown}
	c.Knee.Concurrency.V.Lo, c.Knee.Concurrency.V.Hi = math.NaN(), math.NaN()
	c.Admission.V.Lo = 24
	c.Recommended.LimitedBy = "admission"
	all["3 knee without interval"] = c
	c = measured(1, 2, 4, 8)
	c.Knee = knee.Result{Verdict: knee.AtOrBelowFirst, Plateau: load.Some(245.0)}
	c.Recommended = analysis.Recommended{Concurrency: load.Some(1), LimitedBy: "knee"}
	all["4 at or below first"] = c
	c = measured(1, 2, 4, 8, 16)
	c.Knee = knee.Result{Verdict: knee.NotLocated, LowerBound: load.Some(16.0)}
	all["5 not located"] = c
	c = measured(1, 2, 4, 8, 16)
	c.Knee = knee.Result{Verdict: knee.StillRising, LowerBound: load.Some(16.0), RisePerDoubling: load.Some(0.834)}
	c.Recommended = analysis.Recommended{Concurrency: load.Some(8), LimitedBy: "slo"}
	all["6 still rising"] = c
	c = measured(1, 2, 4)
	c.Knee.Verdict = knee.TooFewLevels
	c.Steps[2].Valid = false
	c.Run.Status, c.Run.StopReason = load.StatusStopped, "the error rate passed 5 %"
	all["7 too few levels"] = c
	c = measured(8)
	c.Steps[0].Valid, c.Steps[0].InvalidReason = false, "no connection"
	c.Run.Status = load.StatusInterrupted
	c.Run.Request, c.Run.Model = load.RequestShape{}, ""
	all["8 nothing valid"] = c
	all["9 empty"] = analysis.Curve{}
	return all
}

func TestVerdictGolden(t *testing.T) {
	var b strings.Builder
	all := verdicts()
	for i := 1; i <= len(all); i++ {
		for name, c := range all {
			if strings.HasPrefix(name, fmt.Sprint(i)) {
				fmt.Fprintf(&b, "%s\n%s\n\n", name, Verdict(c))
			}
		}
	}
	if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "  ") {
		t.Errorf("not fit for people:\n%s", s)
	}
	golden(t, "verdicts.txt", b.String())
}

func TestTableGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, awkward()); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.String())
}

func TestMarkdownGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, awkward(), "curve.png"); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", b.String())
}

// TestAccountsOfEveryCurve writes all curves, and finds lines that are too wide
// for a terminal.
func TestAccountsOfEveryCurve(t *testing.T) {
	all := verdicts()
	all["awkward"] = awkward()
	big := withKnee()
	for i := range big.Steps {
		big.Steps[i].Concurrency *= 32
		e := &big.Steps[i].Throughput.V
		e.Value, e.Lo, e.Hi = e.Value*777, e.Lo*777, e.Hi*777
	}
	all["big"] = big
	limited := withKnee()
	limited.Run.Settings.SLO = "ttft_p95<=500ms,tpot_p95<=50ms,error_rate<=1%"
	for i := range limited.Steps {
		limited.Steps[i].SLO = load.Some(load.SLO{Met: load.Opt[bool]{V: i < 3, OK: i > 0}, Text: "ttft_p95<=500ms is missed: 12 of 100 requests above it, 5 % may be"})
	}
	all["with limits"] = limited
	if v := Verdict(limited); !strings.Contains(v, "error_rate<=1% holds at 4 parallel streams; at 8 parallel streams ttft_p95<=500ms is missed") {
		t.Errorf("verdict %s", v)
	}
	for name, c := range all {
		var b bytes.Buffer
		if err := Table(&b, c); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 110 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		if err := Markdown(&b, c, ""); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("%s shows NaN", name)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 0.05: "5 %", 0.311: "31 %", 0.0123: "1.2 %", 0.0004: "0.04 %", 1: "100 %", -0.012: "-1.2 %"} {
		if got := percent(x); got != want {
			t.Errorf("percent(%v) = %q, want %q", x, got, want)
		}
	}
	if got := percent(math.NaN()); got != "–" {
		t.Errorf("percent(NaN) = %q", got)
	}
}
