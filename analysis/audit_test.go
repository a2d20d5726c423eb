package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// randomData is visits of three levels and samples of every kind across them.
func randomData(rng *rand.Rand) Data {
	d := Data{Run: load.Run{Settings: load.Settings{MaxErrorRate: 0.05, Passes: 2}}}
	for i, n := range []int{1, 2, 4, 4, 2, 1} {
		d.Visits = append(d.Visits, visit(i, n, i/3, i*3000, 500, 1+rng.IntN(5)))
	}
	causes := []load.Cause{"", "", "", "", load.CauseCanceled, load.CauseTruncated, load.CauseTimeoutIdle, "http_429"}
	for id := range 300 {
		s := load.Sample{
			ID: int64(id), Sent: time.Duration(rng.IntN(180)) * 100 * ms, Cause: causes[rng.IntN(len(causes))],
			TokenSource: load.SourceServer, Reused: rng.IntN(2) > 0, Dialled: rng.IntN(2) > 0,
		}
		at := s.Sent
		for range rng.IntN(12) {
			at += time.Duration(rng.Int64N(int64(300 * ms)))
			s.Chunks = append(s.Chunks, load.Chunk{At: at, Tokens: int32(rng.IntN(2) * rng.IntN(4))})
		}
		s.End = at + time.Duration(rng.Int64N(int64(100*ms)))
		s.HiddenTokens = rng.IntN(2) * rng.IntN(20)
		s.OutputTokens = s.HiddenTokens + len(s.Chunks)*(1+rng.IntN(3))
		if rng.IntN(4) == 0 || s.OutputTokens == 0 {
			s.TokenSource = load.SourceEstimated
		}
		if len(s.Chunks) > 0 {
			s.ContentAt = rng.IntN(len(s.Chunks) + 1)
		}
		if rng.IntN(3) == 0 {
			s.PromptTokens = load.Some(rng.IntN(50))
		}
		d.Samples = append(d.Samples, s)
	}
	return d
}

// Whatever was measured: what was started is accounted for, and no figure is
// negative or not a number.
func TestAccountsBalance(t *testing.T) {
	for seed := range uint64(200) {
		for _, s := range Summarize(randomData(rand.New(rand.NewPCG(seed, 7)))) {
			if s.Started != s.Finished+s.Failed+s.InFlightAtEnd {
				t.Fatalf("seed %d: started %d, finished %d, failed %d, in flight %d", seed, s.Started, s.Finished, s.Failed, s.InFlightAtEnd)
			}
			sum := 0
			for _, n := range s.Failures {
				sum += n
			}
			if sum != s.Failed {
				t.Fatalf("seed %d: %d failures by cause, %d in all", seed, sum, s.Failed)
			}
			for name, v := range map[string]float64{
				"throughput": s.Throughput.V.Value, "visible": s.VisibleTokens.V, "in flight": s.InFlight.Mean, "D": s.DecodeConcurrency.Mean,
				"TTFT": s.TTFT.Mean, "ITL": s.ITL.Mean, "TPOT": s.TPOT.Mean, "ICL": s.ICL.Mean, "E2E": s.E2E.Mean,
				"scaled": s.ScaledShare, "hidden": s.HiddenShare.V, "waves": s.Waves, "requests": s.Requests, "errors": s.ErrorRate.V,
			} {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Fatalf("seed %d: %s is %g", seed, name, v)
				}
			}
			if s.VisibleTokens.V > s.Throughput.V.Value*(1+1e-12) || s.ScaledShare > 1 || s.DecodeConcurrency.Mean > s.InFlight.Mean*(1+1e-12) {
				t.Fatalf("seed %d: visible %g of %g, scaled %g, D %g of %g in flight", seed, s.VisibleTokens.V, s.Throughput.V.Value, s.ScaledShare, s.DecodeConcurrency.Mean, s.InFlight.Mean)
			}
		}
	}
}

// loop is n workers with answers of exactly one second and a pause between them.
func loop(n, seconds int, pause int) []load.Sample {
	var out []load.Sample
	for w := range n {
		for sent := w * (1000 + pause) / n; sent < seconds*1000; sent += 1000 + pause {
			out = append(out, answer(int64(len(out)+1), sent, 10, every(sent+100, 100, 10)...))
		}
	}
	return out
}

func TestLittlesLaw(t *testing.T) {
	tests := []struct {
		name       string
		n, seconds int
		pause      int
		want       float64 // 0 = not judged
	}{
		{"enough", 4, 42, 0, 1},
		{"fewer than 100 completions", 4, 22, 0, 0},
		{"fewer than 5 per stream", 40, 6, 0, 0},
		{"with think time", 4, 82, 1000, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			st := one(t, Data{
				Run:     load.Run{Settings: load.Settings{Think: time.Duration(test.pause) * ms}},
				Visits:  []load.Visit{visit(0, test.n, 0, 2000, 1000, test.seconds-2)},
				Samples: loop(test.n, test.seconds, test.pause),
			})
			if st.LittlesLaw.OK != (test.want > 0) {
				t.Fatalf("%+v with %d completions of %d streams", st.LittlesLaw, st.Finished, test.n)
			}
			if test.want > 0 {
				near(t, "X·(R+Z)/N", st.LittlesLaw.V, test.want, 0.005)
			}
			if !st.Valid {
				t.Errorf("not valid: %s", st.InvalidReason)
			}
			near(t, "requests/s", st.Requests, float64(test.n)/(1+float64(test.pause)/1000), 0.03)
		})
	}
}

// Think time lowers what is expected in flight; idle workers do not.
func TestExpectedInFlight(t *testing.T) {
	d := Data{Visits: []load.Visit{visit(0, 4, 0, 4000, 1000, 20)}, Samples: loop(4, 24, 1000)}
	if st := one(t, d); st.Valid || !strings.Contains(st.InvalidReason, "2 requests in flight of 4 expected") {
		t.Errorf("half idle without think time: valid %v, %q", st.Valid, st.InvalidReason)
	}
	d.Run.Settings.Think = time.Second
	if st := one(t, d); !st.Valid {
		t.Errorf("with a think time of 1 s: %q", st.InvalidReason)
	}
}

func TestValidity(t *testing.T) {
	complete := visit(0, 2, 0, 0, 1000, 4)
	ended := func(why string, index int) load.Visit {
		v := visit(index, 2, 1, 4000, 1000, 1)
		v.Ended = why
		return v
	}
	samples := backToBack(2, 10, 1000, 8000)
	bound := complete
	bound.Client = load.Process{CPU: 0.97, Cores: 2}
	tests := []struct {
		name    string
		visits  []load.Visit
		reason  string // empty = valid
		windows int
	}{
		{"complete", []load.Visit{complete}, "", 4},
		{"interrupted beside a complete one", []load.Visit{complete, ended(load.EndedInterrupted, 1)}, "", 4},
		{"running beside a complete one", []load.Visit{complete, ended(load.EndedRunning, 1)}, "", 4},
		{"interrupted alone", []load.Visit{ended(load.EndedInterrupted, 0)}, "interrupted", 1},
		{"running alone", []load.Visit{ended(load.EndedRunning, 0)}, "interrupted", 1},
		{"throttled", []load.Visit{complete, ended(load.EndedThrottled, 1)}, "throttled", 5},
		{"failing", []load.Visit{ended(load.EndedFailing, 0)}, "failing", 1},
		{"client bound", []load.Visit{bound}, "the client was at its limit: it used 97 % of the 2 cores that it may use", 4},
		{"no window", []load.Visit{{Level: load.Level{Concurrency: 2}}}, "no window was measured", 0},
		{"nothing arrived", []load.Visit{visit(0, 2, 0, 60_000, 1000, 2)}, "no tokens; 0 requests in flight of 2 expected", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			st := one(t, Data{Visits: test.visits, Samples: samples})
			if st.Valid != (test.reason == "") || st.InvalidReason != test.reason || len(st.Measurements) != test.windows {
				t.Errorf("valid %v, %q, %d windows; want %q, %d", st.Valid, st.InvalidReason, len(st.Measurements), test.reason, test.windows)
			}
		})
	}
}

// A failure credits no token and no latency, takes part in the error rate, and
// its cause is told.
func TestFailuresCreditNothing(t *testing.T) {
	samples := backToBack(2, 10, 1000, 4000)
	clean := one(t, Data{Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 4)}, Samples: samples})
	for i := range 3 {
		s := answer(int64(900+i), 1000*i, 10, every(1000*i+50, 7, 10)...)
		s.Cause = load.CauseStreamError
		samples = append(samples, s)
	}
	limit := func(rate float64) load.Step {
		return one(t, Data{
			Run:    load.Run{Settings: load.Settings{MaxErrorRate: rate}},
			Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 4)}, Samples: samples,
		})
	}
	st := limit(0.5)
	if st.Throughput != clean.Throughput || st.TTFT != clean.TTFT || st.ITL != clean.ITL || st.E2E != clean.E2E || st.TokenSource != clean.TokenSource {
		t.Error("failed requests changed a throughput or a latency")
	}
	if st.Failed != 3 || st.Failures["stream_error"] != 3 || !st.Valid {
		t.Errorf("failed %d %v, valid %v %q", st.Failed, st.Failures, st.Valid, st.InvalidReason)
	}
	near(t, "error rate", st.ErrorRate.V, 3/float64(st.Finished+3), 1e-9)
	if st := limit(0.05); st.Valid || !strings.Contains(st.InvalidReason, "over the limit of 5.0 % (3 stream_error)") {
		t.Errorf("valid %v, %q", st.Valid, st.InvalidReason)
	}
	if st := limit(0); st.Valid || !strings.Contains(st.InvalidReason, "over the limit of 0.0 %") {
		t.Errorf("a limit of 0: valid %v, %q", st.Valid, st.InvalidReason)
	}
}

// Every doubt that a step can carry, by what brings it.
func TestStepWarnings(t *testing.T) {
	tests := []struct {
		code, text string
		change     func(d *Data, s *load.Sample)
	}{
		{load.WarnEstimatedTokens, "counted chunks", func(_ *Data, s *load.Sample) { s.TokenSource = load.SourceEstimated }},
		{load.WarnHiddenTokens, "33 %", func(_ *Data, s *load.Sample) { s.HiddenTokens, s.OutputTokens = 5, 15 }},
		{load.WarnHighCacheShare, "75 %", func(_ *Data, s *load.Sample) { s.PromptTokens, s.CachedTokens = load.Some(40), load.Some(30) }},
		{load.WarnShortOutput, "10 tokens of the 20", func(d *Data, _ *load.Sample) { d.Run.Request.OutputTokensAsked = 20 }},
		{load.WarnMixedModels, "2 models", func(_ *Data, s *load.Sample) { s.Model = []string{"a", "b"}[s.ID%2] }},
		{load.WarnReplayed, "sent again", func(_ *Data, s *load.Sample) { s.Replayed = 1 }},
		{load.WarnStarved, "1 streams", func(d *Data, _ *load.Sample) { d.Visits[0].Starved = 1 }},
		{load.WarnClientBound, "kneesweep ceiling", func(d *Data, _ *load.Sample) { d.Visits[0].Client = load.Process{CPU: 0.97, Cores: 2} }},
		{load.WarnBuffered, "the first: at once in 62", func(_ *Data, s *load.Sample) {
			s.Warnings = []load.Warning{{Code: load.WarnBuffered, Text: fmt.Sprintf("at once in %d", s.ID)}}
		}},
		{load.WarnFewSamples, "7 answers", func(d *Data, _ *load.Sample) { d.Visits[0].Windows = d.Visits[0].Windows[:4] }},
	}
	for _, test := range tests {
		t.Run(test.code, func(t *testing.T) {
			d := Data{Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 60)}, Samples: backToBack(2, 10, 1000, 61_000)}
			if st := one(t, d); len(st.Warnings) > 0 || !st.Valid {
				t.Fatalf("a clean step warns: %+v, %s", st.Warnings, st.InvalidReason)
			}
			for i := range d.Samples {
				test.change(&d, &d.Samples[i])
			}
			st := one(t, d)
			if len(st.Warnings) != 1 || st.Warnings[0].Code != test.code || !strings.Contains(st.Warnings[0].Text, test.text) {
				t.Errorf("warnings %+v, want %s with %q", st.Warnings, test.code, test.text)
			}
		})
	}
}
