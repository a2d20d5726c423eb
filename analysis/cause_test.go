package analysis

import (
	"math"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// bending makes steps with a knee at k, and lets each be changed.
func bending(k float64, change func(s *load.Step)) []load.Step {
	var steps []load.Step
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		x := 10 * min(float64(n), k)
		s := load.Step{
			Concurrency: n, Valid: true, Measurements: []float64{x * 0.999, x, x * 1.001}, Finished: 1000,
			TPOT:              load.Dist{P50: 0.1, Count: 50},
			TTFT:              load.Dist{P50: 0.2, Count: 50},
			DecodeConcurrency: concurrency(n, n, n, 0.9, 1),
		}
		change(&s)
		steps = append(steps, s)
	}
	return steps
}

// above is how far a level lies above the knee of 8, as a factor.
func above(s *load.Step) float64 { return max(1, float64(s.Concurrency)/8) }

func TestCause(t *testing.T) {
	compute := func(s *load.Step) { s.TPOT.P50 *= above(s) }
	tests := []struct {
		name, want, evidence string
		change               func(s *load.Step)
	}{
		{"compute", CauseCompute, "TPOT changes +100 % per doubling", compute},
		{"admission", CauseAdmission, "no more than 8 requests decode at once", func(s *load.Step) {
			a := min(8, s.Concurrency)
			s.DecodeConcurrency = concurrency(a, a, a, 0.9, 1)
			s.TTFT.P50 *= above(s)
		}},
		{"admission, with stamps out of order", CauseAdmission, "no more than 8 requests decode at once", func(s *load.Step) {
			a := min(8, s.Concurrency)
			s.DecodeConcurrency = concurrency(a, a, a, 0.9, 1)
			if s.Concurrency == 16 {
				s.DecodeConcurrency = concurrency(8, 8, 11, 0.0001, 0.1)
			}
			s.TTFT.P50 *= above(s)
		}},
		{"prefill", CausePrefill, "TTFT changes +100 % per doubling", func(s *load.Step) {
			s.DecodeConcurrency = concurrency(min(6, s.Concurrency), min(8, s.Concurrency), s.Concurrency, 0.02, 0.1)
			s.TTFT.P50 *= above(s)
		}},
		{"throttled", CauseThrottled, "refused with status 429", func(s *load.Step) {
			compute(s)
			if s.Concurrency > 8 {
				s.Failures, s.Failed = map[string]int{"http_429": 30}, 30
			}
		}},
		{"throttled levels are invalid", CauseThrottled, "1000 of", func(s *load.Step) {
			if s.Concurrency == 32 || s.Concurrency == 64 {
				s.Failures, s.Failed, s.Valid = map[string]int{"http_429": 500}, 500, s.Concurrency == 32
			}
		}},
		{"one refusal is not throttling", CauseCompute, "TPOT", func(s *load.Step) {
			compute(s)
			if s.Concurrency > 8 {
				s.Failures, s.Failed = map[string]int{"http_429": 1}, 1
			}
		}},
		{"client", CauseClient, "client itself", func(s *load.Step) {
			compute(s)
			s.Client = load.Some(load.ClientHealth{Bound: s.Concurrency > 8})
		}},
		{"network", CauseNetwork, "connect time grows from 10 ms to 80 ms", func(s *load.Step) {
			compute(s)
			s.Connect = load.Dist{P50: 0.010 * above(s), Count: 20}
		}},
		{"fast connects are no network", CauseCompute, "TPOT", func(s *load.Step) {
			compute(s)
			s.Connect = load.Dist{P50: 0.0002 * above(s), Count: 20}
		}},
		{"few connects are no network", CauseCompute, "TPOT", func(s *load.Step) {
			compute(s)
			s.Connect = load.Dist{P50: 0.010 * above(s), Count: 2}
		}},
		{"unknown, near compute", CauseUnknown, "nearest: compute", func(s *load.Step) { s.TPOT.P50 *= math.Pow(above(s), 0.6) }},
		{"unknown, ceiling elsewhere", CauseUnknown, "the ceiling of 24 decoding streams is not where the knee lies", func(s *load.Step) {
			a := min(24, s.Concurrency)
			s.DecodeConcurrency = concurrency(a, a, a, 0.9, 1)
			if s.Concurrency == 64 || s.Concurrency == 32 {
				s.TPOT.P50 *= 1.5
			}
		}},
		{"no latencies", CauseUnknown, "time per token is not known", func(s *load.Step) { s.TPOT, s.TTFT = load.Dist{}, load.Dist{} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Build(load.Run{}, bending(8, test.change))
			if c.Knee.Verdict != knee.Found {
				t.Fatalf("verdict %s", c.Knee.Verdict)
			}
			if c.Cause == nil || c.Cause.Name != test.want || !strings.Contains(strings.Join(c.Cause.Evidence, "; "), test.evidence) {
				t.Errorf("cause %+v, want %s with %q", c.Cause, test.want, test.evidence)
			}
		})
	}
	if c := Build(load.Run{}, bending(1000, compute)); c.Cause != nil {
		t.Errorf("cause %+v without a knee", c.Cause)
	}
}

// 95 % of the plateau, rounded up, but not past the knee by rounding errors.
func TestRecommendKnee(t *testing.T) {
	for k, want := range map[float64]int{2: 2, 4: 4, 8: 8, 20: 19, 25: 24, 16: 16} {
		c := Build(load.Run{}, bending(k, func(s *load.Step) {
			x := 10 * min(float64(s.Concurrency), k)
			s.Measurements = []float64{x}
		}))
		if c.Recommended.Concurrency != load.Some(want) || c.Recommended.LimitedBy != "knee" {
			t.Errorf("knee at %g: %+v, want %d by knee", k, c.Recommended, want)
		}
	}
}

func TestRecommend(t *testing.T) {
	at := func(v float64) load.Opt[load.Estimate] { return load.Some(load.Estimate{Value: v, Lo: v, Hi: v}) }
	steps := slots(8, 1, 2, 4, 8, 16, 32)
	found := knee.Result{Verdict: knee.Found, Concurrency: at(25), N95: load.Some(23.75), Plateau: load.Some(1000.0)}
	declining := found
	declining.Retrograde = &knee.Retrograde{From: 16, Drop: 0.2}
	tests := []struct {
		name      string
		knee      knee.Result
		admission load.Opt[load.Estimate]
		slo       load.Opt[int]
		want      load.Opt[int]
		by        string
		reason    string
	}{
		{"knee", found, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Some(24), "knee", "95 % of the plateau of 1000 tokens/s (knee at 25 streams)"},
		{"admission lower", found, at(8), load.Opt[int]{}, load.Some(8), "admission", "TTFT grows by about 40 ms"},
		{"admission higher", found, at(86), load.Opt[int]{}, load.Some(24), "knee", "beyond 86 streams requests queue"},
		{"tie goes to admission", found, at(24), load.Opt[int]{}, load.Some(24), "admission", "runs no more"},
		{"tie goes to slo", found, at(24), load.Some(24), load.Some(24), "slo", "meet the SLO"},
		{"slo lower", found, at(8), load.Some(2), load.Some(2), "slo", "meet the SLO"},
		{"below the decline", declining, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Some(8), "knee", "8 parallel streams"},
		{"at or below first", knee.Result{Verdict: knee.AtOrBelowFirst}, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Some(1), "knee", "more streams buy only waiting"},
		{"not located", knee.Result{Verdict: knee.NotLocated}, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Opt[int]{}, "", "sweep beyond 32."},
		{"still rising", knee.Result{Verdict: knee.StillRising, RisePerDoubling: load.Some(0.11)}, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Opt[int]{}, "", "Throughput still rises 11 % per doubling at N = 32"},
		{"still rising with an SLO", knee.Result{Verdict: knee.StillRising, RisePerDoubling: load.Some(0.11)}, load.Opt[load.Estimate]{}, load.Some(16), load.Some(16), "slo", "the most that meet the SLO"},
		{"too few", knee.Result{Verdict: knee.TooFewLevels}, load.Opt[load.Estimate]{}, load.Opt[int]{}, load.Opt[int]{}, "", "at least 4 valid levels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := recommend(Curve{Steps: steps, Knee: test.knee, Admission: test.admission}, test.slo)
			if got.Concurrency != test.want || got.LimitedBy != test.by || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got %+v, want %+v by %q with %q", got, test.want, test.by, test.reason)
			}
			if !strings.HasSuffix(got.Reason, ".") || strings.Count(got.Reason, ". ") > 0 {
				t.Errorf("reason %q is not one sentence", got.Reason)
			}
		})
	}
}
