package plots

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// rateCurve is a sweep over four rates that falls behind at 30 requests/s.
func rateCurve() analysis.Curve {
	r := &analysis.RateSweep{Process: "Poisson", Streams: 64, Knee: analysis.RateKnee{
		Verdict: knee.Found, Rate: load.Some(load.Estimate{Value: 30, Lo: 28, Hi: 33}), Plateau: load.Some(600.0),
		Fit: &analysis.RateFit{B: 20, K: 30, From: 10, To: 50},
	}, Recommended: analysis.RateAdvice{Rate: load.Some(28.5)}}
	for _, rate := range []float64{10, 20, 40, 50} {
		x := 20 * min(rate, 30)
		r.Steps = append(r.Steps, load.RateStep{
			Rate: rate, Valid: true, Measured: 10 * time.Second, Measurements: []float64{x, x}, Throughput: load.Some(load.Estimate{Value: x, Lo: x, Hi: x}), Requests: x / 20, Arrivals: int(10 * rate),
			TTFT: load.Dist{P50: 0.01, P95: 0.02, Count: 9}, ScheduledTTFT: load.Dist{P95: 0.5, Count: 9},
		})
	}
	return analysis.Curve{Rates: r}
}

// TestRatesHaveTheirOwnAxis: nothing in the chart speaks of parallel streams.
func TestRatesHaveTheirOwnAxis(t *testing.T) {
	f, err := Capacity(rateCurve())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Falls behind from 30 requests/s on", "Offered rate, requests/s", "knee 30 (28–33)", "allow 28.5", "p95, schedule", "completed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(b.String(), "arallel streams") {
		t.Error("it speaks of streams")
	}
	if _, err := Overlay([]analysis.Curve{rateCurve(), rateCurve()}, AxisAuto); err == nil || !strings.Contains(err.Error(), "draw it alone") {
		t.Errorf("two in one chart: %v", err)
	}
}
