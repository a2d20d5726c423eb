package analysis

import (
	"math"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// objective is a level of 4 streams, measured for 10 s, with n answers of the
// given TTFT (ms), 3 tokens in all and gaps of 10 ms, of which the first over
// take 300 ms to their first token; failed more requests fail.
func objective(limits string, n, over, failed int) Data {
	d := Data{
		Run:    load.Run{Settings: load.Settings{SLO: limits, MaxErrorRate: 0.9}},
		Visits: []load.Visit{visit(0, 4, 0, 0, 1000, 10)},
	}
	for i := range n + failed {
		ttft := 100
		if i < over {
			ttft = 300
		}
		// Spread over the span, in four chains: what is in flight does not matter here.
		sent := i * 9600 / (n + failed)
		s := answer(int64(i), sent, 3, every(sent+ttft, 10, 3)...)
		if i >= n {
			s.Cause, s.Chunks, s.ContentAt, s.OutputTokens = load.CauseTimeoutIdle, nil, 0, 0
		}
		d.Samples = append(d.Samples, s)
	}
	return d
}

// judged is the level's step, valid whatever was in flight.
func judged(t *testing.T, d Data) load.Step {
	t.Helper()
	data := newLevelData(d.Run, 4, d.Visits, requests{order: pointers(d.Samples)})
	st := load.Step{Concurrency: 4, Valid: true}
	data.objectives(&st)
	return st
}

func pointers(samples []load.Sample) []*load.Sample {
	p := make([]*load.Sample, len(samples))
	for i := range samples {
		p[i] = &samples[i]
	}
	return p
}

func TestObjectives(t *testing.T) {
	yes, no, unsure := load.Some(true), load.Some(false), load.Opt[bool]{}
	for _, c := range []struct {
		limits          string
		n, over, failed int
		met             load.Opt[bool]
		text            string
		good            int // of the 10 s
	}{
		// By hand: 0.95^58 = 0.0510, 0.95^59 = 0.0485.
		{"ttft_p95<=200ms", 59, 0, 0, yes, "every limit holds", 59},
		{"ttft_p95<=200ms", 58, 0, 0, unsure, "0 of 58 requests above it, and even with no more of them it takes 59 requests", 58},
		{"ttft_p95<=100ms", 59, 0, 0, yes, "", 59}, // at the limit is within
		{"ttft_p95<=99.9ms", 59, 0, 0, no, "59 of 59 requests above it, 5 % may be", 0},
		{"ttft_p95<=200ms", 93, 1, 0, yes, "", 92},
		{"ttft_p95<=200ms", 92, 1, 0, unsure, "1 of 92 requests above it, and even with no more of them it takes 93", 91},
		{"ttft_p95<=200ms", 100, 6, 0, no, "ttft_p95<=200ms is missed: 6 of 100 requests above it", 94},
		{"ttft_p50<=200ms", 5, 0, 0, yes, "", 5},
		{"ttft_p99<=200ms", 299, 0, 0, yes, "", 299},
		{"ttft_p99<=200ms", 298, 0, 0, unsure, "it takes 299", 298},
		// Seven in a row are one bad second of ten: P(B(300, 0.05) ≤ 7) = 0.016 does not hold here.
		{"ttft_p95<=200ms", 300, 7, 0, unsure, "7 of 300 requests above it (so bunched that all tell as much as ", 293},
		// Few requests miss a limit only if so many above are no chance.
		{"ttft_p95<=200ms", 10, 2, 0, unsure, "2 of 10", 8},
		{"ttft_p95<=200ms", 10, 3, 0, no, "3 of 10", 7},
		// A failed request has waited for ever, in every figure.
		{"ttft_p95<=200ms", 92, 0, 1, yes, "", 92},
		{"ttft_p95<=200ms", 91, 0, 1, unsure, "1 of 92", 91},
		{"tpot_p95<=1s", 91, 0, 1, unsure, "1 of 92", 91},
		{"e2e_p95<=1s", 91, 0, 1, unsure, "1 of 92", 91},
		{"itl_p95<=1s", 91, 0, 1, unsure, "1.09 % of the gaps of 92 requests", 91},
		{"ttft_p95<=200ms", 50, 0, 50, no, "50 of 100", 50},
		// Gaps count by the request: 59 of them, although there are 118 gaps.
		{"itl_p95<=10ms", 59, 0, 0, yes, "", 59},
		{"itl_p95<=10ms", 58, 0, 0, unsure, "0 of 58 requests above it", 58},
		{"itl_p95<=9ms", 59, 0, 0, no, "100 % of the gaps", 0},
		{"error_rate<=1%", 299, 0, 0, yes, "", 299},
		{"error_rate<=1%", 298, 0, 0, unsure, "0 of 298 requests failed, and even with no more of them it takes 299", 298},
		{"error_rate<=1%", 290, 0, 10, no, "10 of 300 requests failed, 1 % may be", 290},
		// All must hold; a limit that is missed goes before one that is not shown.
		{"ttft_p95<=200ms,tpot_p95<=10ms,e2e_p95<=1s", 59, 0, 0, yes, "", 59},
		{"ttft_p99<=200ms,tpot_p95<=1ms", 100, 0, 0, no, "tpot_p95<=1ms is missed", 0},
		{"ttft_p99<=200ms,tpot_p95<=10ms,itl_p99<=1s", 100, 0, 0, unsure, "ttft_p99<=200ms is not shown", 100},
		{"ttft_p50<=200ms,ttft_p95<=400ms", 100, 10, 0, yes, "", 100}, // goodput takes the widest
	} {
		st := judged(t, objective(c.limits, c.n, c.over, c.failed))
		if !st.SLO.OK || st.SLO.V.Met != c.met || !strings.Contains(st.SLO.V.Text, c.text) {
			t.Errorf("%s with %d, %d, %d: %+v, want %+v with %q", c.limits, c.n, c.over, c.failed, st.SLO, c.met, c.text)
		}
		if want := float64(c.good) / 10; !st.Goodput.OK || math.Abs(st.Goodput.V-want) > 1e-12 {
			t.Errorf("%s with %d, %d, %d: goodput %+v, want %v", c.limits, c.n, c.over, c.failed, st.Goodput, want)
		}
	}
}

// Without limits, without validity and without the figure nothing is claimed.
func TestObjectivesUndefined(t *testing.T) {
	if st := judged(t, objective("", 100, 0, 0)); st.SLO.OK || st.Goodput.OK {
		t.Errorf("without limits: %+v, %+v", st.SLO, st.Goodput)
	}
	d := objective("ttft_p95<=1s", 100, 0, 0)
	st := load.Step{Concurrency: 4}
	newLevelData(d.Run, 4, d.Visits, requests{order: pointers(d.Samples)}).objectives(&st)
	if st.SLO.OK || st.Goodput.OK {
		t.Errorf("not valid: %+v, %+v", st.SLO, st.Goodput)
	}
	for i := range d.Samples {
		d.Samples[i].Chunks, d.Samples[i].ContentAt = nil, 0 // one piece: there is no TTFT
	}
	if st := judged(t, d); st.SLO.V.Met.OK || !strings.Contains(st.SLO.V.Text, "no request has this figure") || st.Goodput.OK {
		t.Errorf("one piece: %+v, %+v", st.SLO, st.Goodput)
	}
}

// A table has medians only.
func TestObjectivesOfATable(t *testing.T) {
	run := load.Run{Settings: load.Settings{SLO: "ttft_p95<=1s"}}
	c := Build(run, slots(8, 1, 2, 4, 8, 16, 32))
	for _, s := range c.Steps {
		if !s.SLO.OK || s.SLO.V.Met.OK || !strings.Contains(s.SLO.V.Text, "not enough samples") || s.Goodput.OK {
			t.Errorf("N = %d: %+v, %+v", s.Concurrency, s.SLO, s.Goodput)
		}
	}
	if r := c.Recommended; r.Concurrency.OK || r.LimitedBy != "" || !strings.Contains(r.Reason, "No level is shown to meet the SLO (N = 1: ") {
		t.Errorf("%+v", r)
	}
}

func TestRecommendWithObjectives(t *testing.T) {
	value := func(v float64) load.Opt[load.Estimate] { return load.Some(load.Estimate{Value: v, Lo: v, Hi: v}) }
	found := knee.Result{Verdict: knee.Found, Concurrency: value(25), N95: load.Some(23.75), Plateau: load.Some(1000.0)}
	levels := []int{1, 2, 4, 8, 16, 32}
	for _, c := range []struct {
		name   string
		knee   knee.Result
		met    string // for each level: y, n, or ? for not shown
		want   load.Opt[int]
		by     string
		reason string
	}{
		{"the SLO", found, "?yyynn", load.Some(8), "slo", "the most that meet the SLO (the knee is at 25 streams); at N = 16 "},
		{"the knee", found, "?yyyyy", load.Some(24), "knee", "95 % of the plateau"},
		{"none", found, "nnnnnn", load.Opt[int]{}, "", "No level is shown to meet the SLO (N = 1: "},
		{"not shown", found, "??????", load.Opt[int]{}, "", "No level is shown to meet the SLO"},
		{"a lower level misses", found, "ynyynn", load.Some(8), "slo", "note that the lower level N = 2 misses it"},
		{"first level", knee.Result{Verdict: knee.AtOrBelowFirst}, "yyynnn", load.Some(1), "knee", "buy only waiting"},
		{"first level, tie", knee.Result{Verdict: knee.AtOrBelowFirst}, "ynnnnn", load.Some(1), "slo", "buy only waiting"},
		{"first level, none", knee.Result{Verdict: knee.AtOrBelowFirst}, "nnnnnn", load.Opt[int]{}, "", "No level"},
		{"still rising", knee.Result{Verdict: knee.StillRising}, "yyyynn", load.Some(8), "slo", "the most that meet the SLO; at N = 16 "},
		{"not located", knee.Result{Verdict: knee.NotLocated}, "yyyyyy", load.Some(32), "slo", "not located within the tested levels"},
		{"not located, none", knee.Result{Verdict: knee.NotLocated}, "??nnnn", load.Opt[int]{}, "", "No level"},
		{"too few", knee.Result{Verdict: knee.TooFewLevels}, "yyyynn", load.Opt[int]{}, "", "at least 4 valid levels"},
	} {
		steps := slots(8, levels...)
		for i := range steps {
			steps[i].SLO = load.Some(load.SLO{Met: load.Opt[bool]{V: c.met[i] == 'y', OK: c.met[i] != '?'}, Text: "ttft_p95<=1s is so"})
		}
		curve := Curve{Run: load.Run{Settings: load.Settings{SLO: "ttft_p95<=1s"}}, Steps: steps, Knee: c.knee}
		got := recommend(curve, sloLevel(steps))
		if got.Concurrency != c.want || got.LimitedBy != c.by || !strings.Contains(got.Reason, c.reason) || !strings.HasSuffix(got.Reason, ".") {
			t.Errorf("%s: %+v, want %+v by %q with %q", c.name, got, c.want, c.by, c.reason)
		}
	}
}
