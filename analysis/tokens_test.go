package analysis

import (
	"math"
	"testing"
	"time"

	"kneesweep/load"
)

// 500 hidden and 100 visible tokens at 10 ms each: the hidden ones count in the
// throughput while they were generated, and nowhere in the latency of a token.
func TestHiddenTokens(t *testing.T) {
	s := answer(1, 0, 600, every(5010, 10, 100)...)
	s.HiddenTokens, s.ReasoningTokens = 500, load.Some(500)
	st := one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 1002, 6)}, Samples: []load.Sample{s}})
	near(t, "TPOT", st.TPOT.Mean, 0.010, 1e-9)
	near(t, "ITL", st.ITL.Mean, 0.010, 1e-9)
	near(t, "hidden share", st.HiddenShare.V, 5.0/6, 1e-9)
	for _, w := range st.Measurements[:5] {
		near(t, "tokens/s of a window before the first token", w, 500/5.010, 1e-9)
	}
	near(t, "median visible throughput", st.VisibleTokens.V, 0, 0)
	near(t, "last window", st.Measurements[5], 100/1.002, 1e-6)
	if !hasWarning(st.Warnings, load.WarnHiddenTokens) || st.ITL.Count != 99 {
		t.Errorf("warnings %+v, ITL of %d gaps", st.Warnings, st.ITL.Count)
	}
}

// A running request takes the step's tokens per chunk.
func TestRunningRequestsAreScaled(t *testing.T) {
	samples := []load.Sample{
		answer(1, 0, 30, every(100, 100, 10)...), // 3 tokens a chunk
		answer(2, 0, 10, every(100, 100, 10)...), // 1
		stopped(answer(3, 1000, 0, 1100, 1200, 1300), 2000),
	}
	st := one(t, Data{Visits: []load.Visit{visit(0, 2, 0, 0, 2000, 1)}, Samples: samples})
	near(t, "throughput", st.Throughput.V.Value, (40+3*2)/2.0, 1e-9)
	near(t, "ratio", st.TokensPerChunk.V, 2, 1e-9)
	near(t, "scaled share", st.ScaledShare, 6.0/46, 1e-9)
	if st.TokenSource != load.SourceServerScaled || hasWarning(st.Warnings, load.WarnEstimatedTokens) {
		t.Errorf("source %s, warnings %+v", st.TokenSource, st.Warnings)
	}
	if st.Finished != 2 || st.InFlightAtEnd != 1 || st.TPOT.Count != 2 || st.TTFT.Count != 3 {
		t.Errorf("finished %d, in flight %d, TPOT of %d, TTFT of %d", st.Finished, st.InFlightAtEnd, st.TPOT.Count, st.TTFT.Count)
	}

	samples[2] = stopped(answer(3, 0, 0, every(100, 100, 19)...), 2000)
	st = one(t, Data{Visits: []load.Visit{visit(0, 3, 0, 0, 2000, 1)}, Samples: samples})
	near(t, "scaled share", st.ScaledShare, 38.0/78, 1e-9)
	if !hasWarning(st.Warnings, load.WarnEstimatedTokens) {
		t.Errorf("half of the tokens scaled, warnings %+v", st.Warnings)
	}
}

// An answer that outlasts the window but came with its count needs no ratio, and
// the step says where its tokens are from.
func TestAnswersLongerThanTheWindow(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 1000, 1000, 2)},
		Samples: []load.Sample{answer(1, 0, 100, every(100, 100, 50)...)},
	})
	near(t, "throughput", st.Throughput.V.Value, 20, 1e-9)
	if st.TokenSource != load.SourceServer || st.ScaledShare != 0 {
		t.Errorf("source %q, scaled %g", st.TokenSource, st.ScaledShare)
	}
	st = one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 1000, 1000, 2)},
		Samples: []load.Sample{stopped(answer(1, 0, 0, every(100, 100, 29)...), 3000)},
	})
	near(t, "throughput", st.Throughput.V.Value, 10, 1e-9)
	if st.TokenSource != load.SourceEstimated {
		t.Errorf("chunks counted for want of a ratio: source %q", st.TokenSource)
	}
}

// An answer in one piece is spread over its life, and so is one that was still
// being made when the sweep ended, at the rate of the others.
func TestUnstreamedAnswersAreSpread(t *testing.T) {
	whole := func(id int64, sent, end, tokens, hidden int) load.Sample {
		return load.Sample{ID: id, Sent: time.Duration(sent) * ms, End: time.Duration(end) * ms, OutputTokens: tokens, HiddenTokens: hidden, TokenSource: load.SourceServer}
	}
	running := whole(3, 2000, 3000, 0, 0)
	running.Cause, running.TokenSource = load.CauseCanceled, ""
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 0, 1000, 3)},
		Samples: []load.Sample{whole(1, 0, 2000, 100, 40), running},
	})
	for i, want := range []float64{50, 50, 50} {
		near(t, "window", st.Measurements[i], want, 1e-9)
	}
	near(t, "visible", st.VisibleTokens.V, 30, 1e-9)
	near(t, "scaled share", st.ScaledShare, 1.0/3, 1e-9)
	near(t, "hidden share", st.HiddenShare.V, 0.4, 1e-9)
	if st.TTFT.Count+st.TPOT.Count+st.ITL.Count != 0 || st.E2E.Count != 1 || st.DecodeConcurrency.OK {
		t.Errorf("TTFT %d, TPOT %d, ITL %d, E2E %d, D %v", st.TTFT.Count, st.TPOT.Count, st.ITL.Count, st.E2E.Count, st.DecodeConcurrency.OK)
	}
}

// A stream that thinks unseen when the sweep ends is credited what its like had
// made by then.
func TestRunningHiddenTokens(t *testing.T) {
	done := answer(1, 0, 110, every(1000, 10, 10)...)
	done.HiddenTokens = 100
	thinking := stopped(answer(2, 1500, 0), 2000)
	thinking.TokenSource = ""
	st := one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 2000, 1)}, Samples: []load.Sample{done, thinking}})
	near(t, "throughput", st.Throughput.V.Value, (110+50)/2.0, 1e-9)
	near(t, "visible", st.VisibleTokens.V, 5, 1e-9)
	if st.TokenSource != load.SourceServerScaled {
		t.Errorf("source %s", st.TokenSource)
	}
	speaking := stopped(answer(2, 500, 0, 1600, 1700), 2000)
	st = one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 2000, 1)}, Samples: []load.Sample{done, speaking}})
	near(t, "throughput with one that has begun to speak", st.Throughput.V.Value, (110+100+2)/2.0, 1e-9)
	near(t, "visible", st.VisibleTokens.V, 6, 1e-9)
}

// The ratio is that of requests that had ended when measuring did.
func TestRatioIsOfFinishedRequests(t *testing.T) {
	st := one(t, Data{Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 1)}, Samples: []load.Sample{
		answer(1, 0, 20, every(50, 50, 10)...),
		answer(2, 100, 400, every(150, 100, 40)...), // ends later, with ten tokens a chunk
		stopped(answer(3, 600, 0, 700, 800), 1000),
	}})
	near(t, "ratio", st.TokensPerChunk.V, 2, 1e-9)
	near(t, "throughput", st.Throughput.V.Value, 20+90+2*2, 1e-9)
}

// Without usage from anybody chunks are counted, and that is said.
func TestEstimatedTokens(t *testing.T) {
	s := answer(1, 0, 10, every(100, 10, 10)...)
	s.TokenSource = load.SourceEstimated
	st := one(t, Data{Visits: []load.Visit{visit(0, 1, 0, 0, 1000, 1)}, Samples: []load.Sample{s}})
	if st.TokenSource != load.SourceEstimated || st.TokensPerChunk.OK || st.Throughput.V.Value != 10 || !hasWarning(st.Warnings, load.WarnEstimatedTokens) {
		t.Errorf("source %s, ratio %+v, %g tokens/s, warnings %+v", st.TokenSource, st.TokensPerChunk, st.Throughput.V.Value, st.Warnings)
	}
}

// The tokens of the bins are those of the windows, wherever they came from.
func TestBinsHoldWhatWindowsHold(t *testing.T) {
	v := visit(0, 1, 0, 1000, 300, 4)
	g := newGrid(v.Windows)
	g.spread(load.Span{From: 500 * ms, To: 2100 * ms}, 160, 80)
	for i := range 3000 {
		g.add(time.Duration(i)*ms, 0.25)
	}
	sum := func(v []float64) (s float64) {
		for _, x := range v {
			s += x
		}
		return s
	}
	inside := 1100.0 / 1600
	near(t, "visible", sum(g.tokens), 160*inside+0.25*1200, 1e-9)
	near(t, "hidden", sum(g.hidden), 80*inside, 1e-9)
	near(t, "bins", sum(g.bins), sum(g.tokens)+sum(g.hidden), 1e-9)
	for i := range g.bins {
		if math.IsNaN(g.bins[i]) || g.bins[i] < 0.25*14 {
			t.Errorf("bin %d holds %g", i, g.bins[i])
		}
	}
}
