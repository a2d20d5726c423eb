package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// drifting are two runs that were measured in turn, the second at ratio times the
// speed of the first, while both get slower by drift in all. Windows scatter by cv.
func drifting(label string, ratio, drift, cv float64, seed uint64) (a, b Run) {
	const windows, width = 5, time.Second
	var data [2]analysis.Data
	for i := range data {
		data[i].Run = load.Run{Label: label[i : i+1], Seed: seed + uint64(i)}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	levels := []int{1, 2, 4, 8, 16, 32, 64, 64, 32, 16, 8, 4, 2, 1}
	at, end := time.Duration(0), time.Duration(2*windows*len(levels))*width
	for k, n := range levels {
		for turn := range data {
			i := (turn + k) % 2
			v := load.Visit{Index: k, Level: load.Level{Concurrency: n, Windows: windows, Pass: 2 * k / len(levels)}, Started: at}
			for range windows {
				v.Windows = append(v.Windows, load.Span{From: at, To: at + width})
				rate := 1000 * float64(min(n, 16)) * (1 + drift*at.Seconds()/end.Seconds()) * math.Exp(cv*rng.NormFloat64())
				if i == 1 {
					rate *= ratio
				}
				s := load.Sample{Sent: at, End: at + width - 1, Streaming: true, OutputTokens: int(rate), TokenSource: load.SourceServer, Visit: k}
				for c := range 10 {
					s.Chunks = append(s.Chunks, load.Chunk{At: at + time.Duration(c)*width/10})
				}
				data[i].Samples = append(data[i].Samples, s)
				at += width
			}
			data[i].Visits = append(data[i].Visits, v)
		}
	}
	for i, r := range []*Run{&a, &b} {
		steps := analysis.Summarize(data[i])
		for k := range steps { // one request after the other is no load of its concurrency
			steps[k].Valid = true
		}
		*r = curveOf(data[i].Run, steps)
		r.Data = &data[i]
	}
	return a, b
}

// What drifts under both cancels, whatever is left of it between two visits. That the
// plateaus are equivalent takes windows that do not drift.
func TestPaired(t *testing.T) {
	for _, c := range []struct {
		ratio, drift float64
		want         Verdict
	}{
		{1, 0, Equivalent}, {1, -0.4, NoEvidence}, {0.9, 0, Regression}, {0.9, -0.4, Regression}, {1.1, 0.4, Improvement},
	} {
		a, b := drifting("ab", c.ratio, c.drift, 0.02, 1)
		got := Paired(a, b, Options{})
		f := figureOf(t, got, FigureThroughput)
		r := f.Change.Ratio
		if got.Verdict != c.want || !near(r.Value, c.ratio, 0.01) || r.Lo > c.ratio || r.Hi < c.ratio || r.Hi-r.Lo > 0.03 {
			t.Errorf("ratio %g under a drift of %g: %s, %+v", c.ratio, c.drift, got.Verdict, r)
		}
		if !got.Paired || got.OldName != "a" || got.NewName != "b" || len(got.Levels) != 7 {
			t.Errorf("%q against %q, paired %v, %d levels", got.NewName, got.OldName, got.Paired, len(got.Levels))
		}
	}
}

// Two models are listed and compared, other lengths are not the same work.
func TestPairedWork(t *testing.T) {
	a, b := drifting("ab", 1, 0, 0.02, 1)
	a.Curve.Run.Model, b.Curve.Run.Model = "m:8b", "m-8b"
	if c := Paired(a, b, Options{}); c.Forced() || c.Differences[0].Field != "model" {
		t.Errorf("forced %v, differences %+v", c.Forced(), c.Differences)
	}
	b.Curve.Run.Request.OutputTokensAsked, a.Curve.Run.Request.OutputTokensAsked = 10, 20
	if c := Paired(a, b, Options{}); !c.Forced() {
		t.Errorf("differences %+v", c.Differences)
	}
}
