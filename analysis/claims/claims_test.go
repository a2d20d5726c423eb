package claims_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/claims"
	"kneesweep/load"
)

// run is a curve of slots·rate tokens/s at most, with windows that differ by ±1 %, of
// requests with 500 prompt and 100 output tokens.
func run(gpus int, rate, slots float64) claims.Run {
	var steps []load.Step
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
		x := rate * min(float64(n), slots)
		s := load.Step{
			Concurrency: n, Valid: true, Steady: true, OutputLengthMean: load.Some(100.0),
			TTFT: load.Dist{P50: 0.1 * float64(n), P90: math.NaN(), P95: 0.2 * float64(n), P99: math.NaN(), Count: 100},
		}
		for i := range 10 {
			s.Measurements = append(s.Measurements, x*(1+0.01*(float64(i)-4.5)/4.5))
		}
		s.Throughput = load.Some(load.Estimate{Value: x, Lo: 0.99 * x, Hi: 1.01 * x})
		steps = append(steps, s)
	}
	r := load.Run{Seed: 1, Request: load.RequestShape{InputTokensAsked: 500, OutputTokensAsked: 100}}
	return claims.Run{Name: fmt.Sprintf("run on %d", gpus), GPUs: gpus, Curve: analysis.Build(r, steps)}
}

// all are the conditions of the runs at n streams.
func all(gpus, n int) claims.Conditions {
	return claims.Conditions{GPUs: gpus, Streams: n, InputTokens: 500, OutputTokens: 100}
}

// TestVerdictComesFromTheMeasurement turns the verdict of one claim by the measured
// figure alone.
func TestVerdictComesFromTheMeasurement(t *testing.T) {
	for _, c := range []struct {
		name    string
		claim   claims.Claim
		rate    float64 // of a stream in the run
		want    claims.Verdict
		measure float64
	}{
		{"throughput kept", claims.Claim{Kind: claims.Throughput, Value: 800, Conditions: all(1, 8)}, 100, claims.Confirmed, 800},
		{"throughput not kept", claims.Claim{Kind: claims.Throughput, Value: 800, Conditions: all(1, 8)}, 90, claims.Refuted, 720},
		{"throughput near the limit", claims.Claim{Kind: claims.Throughput, Value: 800, Conditions: all(1, 8)}, 95, claims.NotComparable, 760},
		{"more than claimed", claims.Claim{Kind: claims.Throughput, Value: 800, Conditions: all(1, 8)}, 200, claims.Confirmed, 1600},
		{"within a tolerance of its own", claims.Claim{Kind: claims.Throughput, Value: 800, Tolerance: 0.2, Conditions: all(1, 8)}, 90, claims.Confirmed, 720},
		{"between two levels", claims.Claim{Kind: claims.Throughput, Value: 600, Conditions: all(1, 6)}, 100, claims.Confirmed, 600},
		// 8 streams share 800 tokens/s: 10 s for 1,000 tokens of one.
		{"time kept", claims.Claim{Kind: claims.Stream, Value: 10_000, Conditions: all(1, 8)}, 100, claims.Confirmed, 10_000},
		{"time not kept", claims.Claim{Kind: claims.Stream, Value: 10_000, Conditions: all(1, 8)}, 90, claims.Refuted, 1e6 / 90},
		{"TTFT kept", claims.Claim{Kind: claims.TTFT, Value: 800, Percentile: 50, Conditions: all(1, 8)}, 100, claims.Confirmed, 800},
		{"TTFT p95 not kept", claims.Claim{Kind: claims.TTFT, Value: 800, Percentile: 95, Conditions: all(1, 8)}, 100, claims.Refuted, 1600},
		{"any level", claims.Claim{Kind: claims.Throughput, Value: 1600, Conditions: all(1, claims.Any)}, 100, claims.Confirmed, 1600},
		{"no level", claims.Claim{Kind: claims.Throughput, Value: 1800, Conditions: all(1, claims.Any)}, 100, claims.Refuted, 1600},
	} {
		got := claims.Check(claims.File{Claims: []claims.Claim{c.claim}}, []claims.Run{run(1, c.rate, 16)}).Findings[0]
		if got.Verdict != c.want || math.Abs(got.Measured.V.Value/c.measure-1) > 1e-9 || got.Reason == "" {
			t.Errorf("%s: %s by %+v, want %s by %v (%s)", c.name, got.Verdict, got.Measured, c.want, c.measure, got.Reason)
		}
	}
}

// TestNotComparable names what keeps a claim from a verdict.
func TestNotComparable(t *testing.T) {
	claim := func(change func(*claims.Claim)) claims.Claim {
		c := claims.Claim{Kind: claims.Throughput, Value: 800, Conditions: all(1, 8)}
		change(&c)
		return c
	}
	dead := run(1, 100, 16)
	for i := range dead.Curve.Steps {
		dead.Curve.Steps[i].Valid = false
	}
	for _, c := range []struct {
		name  string
		claim claims.Claim
		runs  []claims.Run
		want  string
	}{
		{"no streams", claim(func(c *claims.Claim) { c.Conditions.Streams = 0 }), []claims.Run{run(1, 100, 16)}, "not stated: streams;"},
		{"no lengths", claim(func(c *claims.Claim) { c.Conditions.InputTokens, c.Conditions.OutputTokens = 0, 0 }), []claims.Run{run(1, 100, 16)}, "not stated: input-tokens, output-tokens;"},
		{"no GPUs", claim(func(c *claims.Claim) { c.Conditions.GPUs = 0 }), []claims.Run{run(1, 100, 16)}, "not stated: gpus;"},
		{"other length", claim(func(c *claims.Claim) { c.Conditions.OutputTokens = 512 }), []claims.Run{run(1, 100, 16)}, "measured with 100 output tokens, claimed with 512"},
		{"other GPUs", claim(func(c *claims.Claim) { c.Conditions.GPUs = 4 }), []claims.Run{run(1, 100, 16)}, "measured on 1 GPU, claimed on 4 GPUs"},
		{"outside", claim(func(c *claims.Claim) { c.Conditions.Streams = 500 }), []claims.Run{run(1, 100, 16)}, "500 streams lie outside of the valid levels, 1 to 128"},
		{"no results", claim(func(*claims.Claim) {}), nil, "no result was given"},
		{"nothing valid", claim(func(*claims.Claim) {}), []claims.Run{dead}, "no valid level"},
		{"no such percentile", claim(func(c *claims.Claim) { c.Kind, c.Percentile = claims.TTFT, 99 }), []claims.Run{run(1, 100, 16)}, "no p99 of TTFT"},
		{"speed-up without one", claim(func(c *claims.Claim) { c.Kind, c.Conditions.GPUs = claims.SpeedUp, 4 }), []claims.Run{run(4, 100, 16)}, "no result was measured on 1 GPU"},
		{"speed-up without a plateau", claim(func(c *claims.Claim) { c.Kind, c.Value, c.Conditions = claims.SpeedUp, 4, all(4, 0) }),
			[]claims.Run{run(1, 100, 16), run(4, 100, 1000)}, "no plateau was seen on 4 GPUs"},
	} {
		got := claims.Check(claims.File{Claims: []claims.Claim{c.claim}}, c.runs).Findings[0]
		if got.Verdict != claims.NotComparable || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: %s, %q; want %q", c.name, got.Verdict, got.Reason, c.want)
		}
	}
}

// TestAssumed gives what a claim does not state, and says so.
func TestAssumed(t *testing.T) {
	f := claims.File{
		Claims: []claims.Claim{{Kind: claims.Throughput, Value: 800, Conditions: claims.Conditions{InputTokens: 500}}},
		Assume: claims.Conditions{GPUs: 1, Streams: 8, InputTokens: 9999, OutputTokens: claims.Any},
	}
	got := claims.Check(f, []claims.Run{run(2, 100, 16), run(1, 100, 16)}).Findings[0]
	if got.Verdict != claims.Confirmed || got.Run != "run on 1" || strings.Join(got.Assumed, ", ") != "gpus 1, streams 8, output-tokens any" {
		t.Errorf("%+v", got)
	}
}

// TestContradictions finds claims that cannot all be true, whatever is measured.
func TestContradictions(t *testing.T) {
	x := func(v float64, c claims.Conditions) claims.Claim {
		return claims.Claim{Kind: claims.Throughput, Value: v, Conditions: c}
	}
	ms := func(v float64, c claims.Conditions) claims.Claim {
		return claims.Claim{Kind: claims.Stream, Value: v, Conditions: c}
	}
	ttft := func(v float64, c claims.Conditions) claims.Claim {
		return claims.Claim{Kind: claims.TTFT, Percentile: 50, Value: v, Conditions: c}
	}
	speed := func(v float64, gpus int) claims.Claim {
		return claims.Claim{Kind: claims.SpeedUp, Value: v, Conditions: claims.Conditions{GPUs: gpus}}
	}
	none, on := claims.Conditions{}, func(gpus int) claims.Conditions { return claims.Conditions{GPUs: gpus} }
	for _, c := range []struct {
		name   string
		claims []claims.Claim
		want   string // empty = none
	}{
		{"one stream faster than all", []claims.Claim{x(1200, on(1)), ms(150, none)}, "150 ms per 1,000 tokens is 6,667 tokens/s, not 1,200"},
		{"the other way round", []claims.Claim{ms(150, none), x(1200, on(1))}, "150 ms per 1,000 tokens is 6,667 tokens/s, not 1,200"},
		{"as fast", []claims.Claim{x(6667, on(1)), ms(150, none)}, ""},
		{"one stream of many", []claims.Claim{x(12_000, on(1)), ms(150, none)}, ""},
		{"of 8 streams", []claims.Claim{x(1200, all(1, 8)), ms(150, all(1, 8))}, "6,667 tokens/s for one stream and 53,333 for 8, not 1,200"},
		{"8 of 150 tokens/s", []claims.Claim{x(1200, all(1, 8)), ms(1e6/150, all(1, 8))}, ""},
		{"on other GPUs", []claims.Claim{x(1200, on(1)), ms(150, on(8))}, ""},
		{"at other levels", []claims.Claim{x(1200, all(1, 8)), ms(150, all(1, 1))}, ""},
		{"two figures for one", []claims.Claim{x(1200, all(1, 8)), x(1500, all(1, 8))}, "both given for the same conditions"},
		{"two figures within the tolerance", []claims.Claim{x(1200, all(1, 8)), x(1240, all(1, 8))}, ""},
		{"first token after the whole answer", []claims.Claim{ms(150, all(1, 1)), ttft(200, all(1, 1))}, "a whole answer of 100 tokens takes 15 ms"},
		{"speed-up of other figures", []claims.Claim{x(1000, on(1)), x(3000, on(4)), speed(3.9, 4)}, "3,000 tokens/s on 4 GPUs is 3 times the 1,000 on one, not 3.9"},
		{"speed-up as given", []claims.Claim{x(1000, on(1)), x(3900, on(4)), speed(3.9, 4)}, ""},
	} {
		got := claims.Check(claims.File{Claims: c.claims}, nil).Contradictions
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Text, c.want)) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

// TestScaling: 1, 2 and 4 GPUs of 1,600, 3,000 and 5,600 tokens/s scale with 0.94 and
// 0.875, and a claim of a speed-up follows the measurement.
func TestScaling(t *testing.T) {
	runs := []claims.Run{run(4, 350, 16), run(1, 100, 16), run(2, 187.5, 16)}
	scales := claims.Scaling(runs)
	if len(scales) != 3 {
		t.Fatalf("%d numbers of GPUs", len(scales))
	}
	for i, want := range []struct{ x, speed, efficiency float64 }{{1600, 0, 0}, {3000, 1.875, 0.9375}, {5600, 3.5, 0.875}} {
		s := scales[i]
		e := s.Efficiency.V
		if math.Abs(s.Throughput.V.Value-want.x) > 1 || math.Abs(s.SpeedUp.V.Value-want.speed) > 1e-3 || math.Abs(e.Value-want.efficiency) > 1e-3 || !s.Saturated {
			t.Errorf("%+v, want %+v", s, want)
		}
		if i > 0 && !(e.Lo < e.Value && e.Value < e.Hi && e.Hi-e.Lo < 0.05) {
			t.Errorf("efficiency %+v", e)
		}
	}
	for _, c := range []struct {
		claim float64
		want  claims.Verdict
	}{{3.5, claims.Confirmed}, {4, claims.Refuted}} {
		f := claims.File{Claims: []claims.Claim{{Kind: claims.SpeedUp, Value: c.claim, Conditions: all(4, 0)}}}
		if got := claims.Check(f, runs).Findings[0]; got.Verdict != c.want {
			t.Errorf("%v times: %s, %s", c.claim, got.Verdict, got.Reason)
		}
	}
	at8 := claims.File{Claims: []claims.Claim{{Kind: claims.SpeedUp, Value: 3.5, Conditions: all(4, 8)}}}
	if got := claims.Check(at8, runs).Findings[0]; got.Verdict != claims.Confirmed || got.Streams.V != 8 {
		t.Errorf("at 8 streams: %s, %s", got.Verdict, got.Reason)
	}
	other := run(2, 187.5, 16)
	other.Curve.Run.Request.InputTokensAsked = 9000
	if s := claims.Scaling([]claims.Run{runs[1], other}); s[1].SpeedUp.OK || !strings.Contains(s[1].Note, "input tokens") {
		t.Errorf("other lengths: %+v", s[1])
	}
}
