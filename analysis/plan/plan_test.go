package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

func distOf(p50, p90, p95, p99, mean float64) load.Dist {
	return load.Dist{P50: p50, P90: p90, P95: p95, P99: p99, Mean: mean, Count: 1000}
}

// curve is of an endpoint with 10 slots, of which each completes a request of 10
// tokens in a second: 10 requests/s at most.
func curve() analysis.Curve {
	run := load.Run{Seed: 1, Request: load.RequestShape{InputTokensAsked: 100, OutputTokensAsked: 10}}
	var steps []load.Step
	for _, n := range []int{1, 2, 5, 10, 20, 40} {
		busy := min(n, 10)
		s := load.Step{
			Concurrency: n, Valid: true, Steady: true, Finished: 1000, Requests: float64(busy), Window: time.Second,
			OutputLengthMean: load.Some(10.0), PromptTokensMean: load.Some(100.0), ErrorRate: load.Some(0.0),
			InFlight:          load.CountStat{Mean: float64(n), Peak: n, OK: true},
			DecodeConcurrency: load.Concurrency{Mean: float64(busy), Mode: busy, P90: busy, Peak: busy, PeakShare: 1, PeakInAll: 1, OK: true},
			TTFT:              distOf(0.1, 0.1, 0.1, 0.1, 0.1), E2E: distOf(1, 1, 1, 1, 1), TPOT: distOf(0.1, 0.1, 0.1, 0.1, 0.1),
		}
		if n > 10 {
			wait := float64(n)/10 - 1
			s.TTFT, s.E2E = distOf(wait, wait, wait, wait, wait), distOf(1+wait, 1+wait, 1+wait, 1+wait, 1+wait)
		}
		for i := range 10 {
			s.Measurements = append(s.Measurements, 10*float64(busy)*(1+0.01*(float64(i%2)-0.5)))
		}
		s.Throughput = load.Some(load.Estimate{Value: 10 * float64(busy), Lo: 9.9 * float64(busy), Hi: 10.1 * float64(busy)})
		steps = append(steps, s)
	}
	return analysis.Build(run, steps)
}

// TestPlan: a replica that completes 10 requests/s serves some less within a limit, and
// replicas are as many as that needs.
func TestPlan(t *testing.T) {
	c := analysis.Priced(curve(), load.Prices{Hour: 2, GPUs: 3, Duty: 1})
	d := Demand{Rate: 33, Limits: mustParse(t, "ttft_p95<=500ms,e2e_p99<=3s")}
	p, err := Make(c, d)
	if err != nil {
		t.Fatal(err)
	}
	if each := p.PerReplica; p.Streams != 10 || math.Abs(p.Saturated-10) > 0.05 || !(each.Lo <= each.Value && each.Value <= each.Hi) || each.Value < 6.5 || each.Value > 9.9 {
		t.Errorf("%d streams, %v of %v requests/s", p.Streams, each, p.Saturated)
	}
	want := math.Ceil(33 / p.PerReplica.Value)
	if p.Replicas.Value != want || p.Replicas.Lo > want || p.Replicas.Hi < want || p.Month.V.Value != want*2*3*730 {
		t.Errorf("%v replicas, %+v a month; want %v", p.Replicas, p.Month, want)
	}
	if got := p.Headroom.Value; math.Abs(got-(want*p.PerReplica.Value/33-1)) > 1e-9 {
		t.Errorf("head-room %v", got)
	}
	if len(p.Expected) != 2 || len(p.Fewer) != 2 || p.Expected[0].Value > 0.5 || p.Fewer[0].Value <= 0.5 {
		t.Errorf("expected %+v, with one fewer %+v", p.Expected, p.Fewer)
	}
	d.Headroom = 1
	if twice, err := Make(c, d); err != nil || twice.Replicas.Value != math.Ceil(66/p.PerReplica.Value) || twice.Demand.Rate != 33 {
		t.Errorf("with as much to spare: %v replicas, %v", twice.Replicas, err)
	}
}

// TestPlanByTheToken costs what the tokens of the rate cost.
func TestPlanByTheToken(t *testing.T) {
	c := analysis.Priced(curve(), load.Prices{Input: 1, Cached: 1, Output: 10})
	p, err := Make(c, Demand{Rate: 2, Limits: mustParse(t, "ttft_p95<=500ms")})
	if want := 2 * 730 * 3600 * (100*1 + 10*10) / 1e6; err != nil || p.Replicas.Value != 1 || len(p.Fewer) != 0 || math.Abs(p.Month.V.Value-want) > 1e-6 {
		t.Errorf("%v replicas, %+v a month, want %v; %v", p.Replicas, p.Month, want, err)
	}
}

// TestNoPlan says what is missing.
func TestNoPlan(t *testing.T) {
	bare, failing := curve(), curve()
	for i := range bare.Steps {
		bare.Steps[i].E2E = load.Dist{}
		failing.Steps[i].ErrorRate = load.Some(0.1)
	}
	for _, c := range []struct {
		name  string
		curve analysis.Curve
		slo   string
		want  string
		unmet bool
	}{
		{"no request is so fast", curve(), "ttft_p95<=10ms", "ttft_p95<=10ms", true},
		{"too many fail", failing, "error_rate<=1%", "more requests fail", true},
		{"only a table", bare, "ttft_p95<=1s", "give the journal or the curve.json", false},
		{"gaps", curve(), "itl_p95<=1s", "limit tpot instead", false},
	} {
		_, err := Make(c.curve, Demand{Rate: 1, Limits: mustParse(t, c.slo)})
		if err == nil || errors.Is(err, ErrUnmet) != c.unmet || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
