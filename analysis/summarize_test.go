package analysis

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"kneesweep/load"
)

const ms = time.Millisecond

// answer is a successful stream: sent, with one chunk at each of the times (in
// ms), tokens by the server's count, ended with the last chunk.
func answer(id int64, sent int, tokens int, at ...int) load.Sample {
	s := load.Sample{
		ID: id, Sent: time.Duration(sent) * ms, Streaming: true, Status: 200,
		OutputTokens: tokens, TokenSource: load.SourceServer, FinishReason: "stop", Reused: true,
	}
	for _, t := range at {
		s.ContentAt = 1
		s.Chunks = append(s.Chunks, load.Chunk{At: time.Duration(t) * ms})
		s.End = time.Duration(t) * ms
	}
	return s
}

// every returns the times first, first+gap, …, count of them.
func every(first, gap, count int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = first + i*gap
	}
	return out
}

// stopped is a sample that was still running when the sweep ended.
func stopped(s load.Sample, end int) load.Sample {
	s.Cause, s.End, s.TokenSource, s.OutputTokens = load.CauseCanceled, time.Duration(end)*ms, load.SourceEstimated, len(s.Chunks)
	return s
}

// visit is a complete stay at n streams, with windows of width from a time on (in ms).
func visit(index, n, pass, from, width, windows int) load.Visit {
	v := load.Visit{Index: index, Level: load.Level{Concurrency: n, Windows: windows, Pass: pass}}
	for i := range windows {
		v.Windows = append(v.Windows, load.Span{From: time.Duration(from+i*width) * ms, To: time.Duration(from+(i+1)*width) * ms})
	}
	return v
}

func one(t *testing.T, d Data) load.Step {
	t.Helper()
	steps := Summarize(d)
	if len(steps) != 1 {
		t.Fatalf("%d steps, want 1", len(steps))
	}
	return steps[0]
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)+1e-12) {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

// Of an answer of one token there is no time per token: it leaves means alone.
func TestOneTokenAnswerHasNoITL(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 2, 0, 0, 1000, 1)},
		Samples: []load.Sample{answer(1, 0, 3, 200, 300, 400), answer(2, 0, 1, 120)},
	})
	near(t, "mean ITL", st.ITL.Mean, 0.100, 1e-9)
	near(t, "mean TPOT", st.TPOT.Mean, 0.100, 1e-9)
	near(t, "mean TTFT", st.TTFT.Mean, 0.160, 1e-9)
	if st.TPOT.Count != 1 || st.Decode.Count != 1 || st.TTFT.Count != 2 || st.ITL.Count != 2 || st.Finished != 2 {
		t.Errorf("counts: TPOT %d decode %d TTFT %d ITL %d finished %d", st.TPOT.Count, st.Decode.Count, st.TTFT.Count, st.ITL.Count, st.Finished)
	}
	only := one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 1000, 1)}, Samples: []load.Sample{answer(2, 0, 1, 120)}})
	if only.TPOT.Count != 0 || only.ITL.Count != 0 || only.ICL.Count != 0 || only.DecodeConcurrency.OK {
		t.Errorf("a step of one-token answers has TPOT %+v, ITL %+v, D %+v", only.TPOT, only.ITL, only.DecodeConcurrency)
	}
}

// Time per output token weights requests equally, inter-token latency weights
// tokens equally: the same two answers, two figures.
func TestTPOTAndITLWeighDifferently(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 0, 1200, 1)},
		Samples: []load.Sample{answer(1, 0, 10, every(200, 100, 10)...)},
	})
	near(t, "TPOT of ten tokens", st.TPOT.Mean, 0.100, 1e-9)
	st = one(t, Data{
		Visits:  []load.Visit{visit(0, 2, 0, 0, 1200, 1)},
		Samples: []load.Sample{answer(1, 0, 2, 100, 500), answer(2, 0, 101, every(100, 10, 101)...)},
	})
	near(t, "TPOT over requests", st.TPOT.Mean, 0.205, 1e-9)
	near(t, "ITL over tokens", st.ITL.Mean, 1.4/101, 1e-9)
	if st.TPOT.Count != 2 || st.ITL.Count != 101 {
		t.Errorf("TPOT of %d requests, ITL of %d gaps; want 2 and 101", st.TPOT.Count, st.ITL.Count)
	}
}

// A chunk is not a token: nine tokens in three chunks.
func TestSeveralTokensInAChunk(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 0, 1000, 1)},
		Samples: []load.Sample{answer(1, 0, 9, 100, 130, 160)},
	})
	near(t, "throughput", st.Throughput.V.Value, 9, 1e-9)
	near(t, "TPOT", st.TPOT.Mean, 0.0075, 1e-9)
	near(t, "ITL", st.ITL.P50, 0.010, 1e-9)
	near(t, "ICL", st.ICL.Mean, 0.030, 1e-9)
	near(t, "tokens per chunk", st.TokensPerChunk.V, 3, 1e-9)
	if st.ITL.Count != 6 || st.ICL.Count != 2 {
		t.Errorf("ITL of %d gaps, ICL of %d; want 6 and 2", st.ITL.Count, st.ICL.Count)
	}
}

// With usage that grows per chunk, each chunk counts its own increment where it
// arrived, and the gap before it is split accordingly.
func TestGrowingUsage(t *testing.T) {
	s := answer(1, 0, 9, 900, 1100, 1400)
	for i, n := range []int32{2, 1, 6} {
		s.Chunks[i].Tokens = n
	}
	st := one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 1000, 2)}, Samples: []load.Sample{s}})
	if want := []float64{2, 7}; !reflect.DeepEqual(st.Measurements, want) {
		t.Errorf("windows %v, want %v", st.Measurements, want)
	}
	near(t, "TPOT", st.TPOT.Mean, 0.5/7, 1e-9)
	near(t, "ITL mean", st.ITL.Mean, 0.5/7, 1e-9)
	near(t, "ITL median", st.ITL.P50, 0.050, 1e-9)
	near(t, "ITL p99", st.ITL.P99, 0.200, 1e-9)
	if st.ITL.Count != 7 || st.TokenSource != load.SourceServer {
		t.Errorf("ITL of %d gaps from %s", st.ITL.Count, st.TokenSource)
	}
}

// A request counts with the events that fall into the window, and with no others.
func TestEventsAreCreditedNotRequests(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 10_000, 10_000, 1)},
		Samples: []load.Sample{answer(1, 5000, 10, every(6000, 1000, 10)...)},
	})
	near(t, "throughput", st.Throughput.V.Value, 0.6, 1e-9)
	if st.TTFT.Count != 0 || st.ITL.Count != 6 || st.ICL.Count != 6 || st.TPOT.Count != 1 || st.E2E.Count != 1 {
		t.Errorf("TTFT %d, ITL %d, ICL %d, TPOT %d, E2E %d; want 0, 6, 6, 1, 1", st.TTFT.Count, st.ITL.Count, st.ICL.Count, st.TPOT.Count, st.E2E.Count)
	}
	st = one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 5000, 1000, 1)},
		Samples: []load.Sample{answer(1, 5000, 2, 5999, 6000)},
	})
	if st.TTFT.Count != 1 || st.TPOT.Count != 0 || st.E2E.Count != 0 || st.Measurements[0] != 1 {
		t.Errorf("a window is [from, to): TTFT %d TPOT %d E2E %d, %v tokens/s", st.TTFT.Count, st.TPOT.Count, st.E2E.Count, st.Measurements)
	}
}

// backToBack is n workers without a pause, each request of life ms with tokens
// evenly inside it, until a time at which the last ones are stopped.
func backToBack(n, tokens, life, until int) []load.Sample {
	var out []load.Sample
	for w := range n {
		for sent := -w * life / n; sent < until; sent += life {
			s := answer(int64(len(out)+1), sent, tokens, every(sent+life/tokens, life/tokens, tokens)...)
			for len(s.Chunks) > 0 && s.Chunks[len(s.Chunks)-1].At > time.Duration(until)*ms {
				s.Chunks = s.Chunks[:len(s.Chunks)-1]
			}
			if len(s.Chunks) < tokens {
				s = stopped(s, until)
			}
			out = append(out, s)
		}
	}
	return out
}

// Requests still running at the end count with the tokens that they had.
func TestRunningRequestsAreNotDropped(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 4, 0, 0, 10_000, 1)},
		Samples: backToBack(4, 40, 4000, 10_000),
	})
	near(t, "throughput", st.Throughput.V.Value, 40, 0.02)
	if st.TokenSource != load.SourceServerScaled || st.InFlightAtEnd == 0 || st.ScaledShare <= 0 {
		t.Errorf("source %s, %d in flight at the end, scaled share %g", st.TokenSource, st.InFlightAtEnd, st.ScaledShare)
	}
	near(t, "mean in flight", st.InFlight.Mean, 4, 1e-9)
	if st.InFlight.Peak != 4 || !st.Valid {
		t.Errorf("in flight %+v, valid %v: %s", st.InFlight, st.Valid, st.InvalidReason)
	}
}

// The pooled windows of two passes: median, order, drift, and the waves of E5.
func TestPassesArePooledAndCompared(t *testing.T) {
	samples := backToBack(2, 10, 1000, 4000) // 20 tokens/s
	for _, s := range backToBack(2, 10, 500, 4000) {
		s.ID += 1000 // 40 tokens/s on the second pass
		shift(&s, 10*time.Second)
		samples = append(samples, s)
	}
	st := one(t, Data{
		Run:     load.Run{Settings: load.Settings{MaxErrorRate: 0.05}},
		Visits:  []load.Visit{visit(1, 2, 1, 10_000, 1000, 4), visit(0, 2, 0, 0, 1000, 4)},
		Samples: samples,
	})
	if len(st.Measurements) != 8 || st.Measurements[0] >= st.Measurements[7] {
		t.Fatalf("windows %v, want those of the first visit first", st.Measurements)
	}
	near(t, "drift", st.Drift.V, (40.0-20)/30, 0.05)
	if !st.Drift.OK || st.Throughput.V.Lo > st.Throughput.V.Value || st.Throughput.V.Hi < st.Throughput.V.Value {
		t.Errorf("drift %+v, throughput %+v", st.Drift, st.Throughput)
	}
	single := one(t, Data{Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 4)}, Samples: samples})
	if single.Drift.OK {
		t.Errorf("drift %+v of one pass", single.Drift)
	}
}

// shift moves a sample in time.
func shift(s *load.Sample, by time.Duration) {
	s.Sent, s.End = s.Sent+by, s.End+by
	s.Chunks = append([]load.Chunk(nil), s.Chunks...)
	for i := range s.Chunks {
		s.Chunks[i].At += by
	}
}

// A fixed number of requests is one wave at many streams, and the step says so.
func TestOneWaveIsSaid(t *testing.T) {
	for _, n := range []int{1, 64} {
		var samples []load.Sample
		for i := range 64 {
			start := i / n * 1000
			samples = append(samples, answer(int64(i+1), start, 10, every(start+100, 99, 10)...))
		}
		st := one(t, Data{Visits: []load.Visit{visit(0, n, 0, 0, 64_000/n, 1)}, Samples: samples})
		near(t, "waves", st.Waves, 64/float64(n), 1e-9)
		if got := hasWarning(st.Warnings, load.WarnOneWave); got != (n == 64) {
			t.Errorf("%d streams, %g waves: warning %v", n, st.Waves, got)
		}
	}
}

// The same samples in another order give the same steps to the last bit.
func TestOrderOfSamplesDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	d := randomData(rng)
	want := Summarize(d)
	for range 20 {
		rng.Shuffle(len(d.Samples), func(i, j int) { d.Samples[i], d.Samples[j] = d.Samples[j], d.Samples[i] })
		rng.Shuffle(len(d.Visits), func(i, j int) { d.Visits[i], d.Visits[j] = d.Visits[j], d.Visits[i] })
		if got := Summarize(d); !reflect.DeepEqual(got, want) {
			t.Fatal("the order of samples or visits changed a step")
		}
	}
	if again := Analyze(d); !reflect.DeepEqual(again, Analyze(d)) {
		t.Error("the same data gave two curves")
	}
}
