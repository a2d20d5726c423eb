package analysis

import (
	"math"
	"testing"
	"time"

	"kneesweep/load"
)

// A visit of two streams: a warm-up of 1 s and two windows of 1 s, in which each
// stream makes a token every 5 ms, with a pause of 15 ms between two requests.
func twoStreams() Data {
	d := Data{Visits: []load.Visit{visit(0, 2, 0, 2000, 1000, 2)}}
	d.Visits[0].Started = 1000 * ms
	for i := range 10 {
		at := 1000 + 320*i
		for k := range 2 {
			d.Samples = append(d.Samples, answer(int64(2*i+k), at, 60, every(at+5, 5, 60)...))
		}
	}
	return d
}

func TestTimeline(t *testing.T) {
	d := twoStreams()
	line, ok := NewTimeline(d, 2)
	if !ok || line.Concurrency != 2 || len(line.Visits) != 1 {
		t.Fatalf("%v %+v", ok, line)
	}
	v := line.Visits[0]
	near(t, "length", v.Seconds, 3, 1e-9)
	near(t, "bin", v.Bin, 0.05, 1e-9)
	if len(v.Tokens) != 60 || len(v.InFlight) != 60 || len(v.Decoding) != 60 {
		t.Fatalf("%d, %d and %d bins, want 60", len(v.Tokens), len(v.InFlight), len(v.Decoding))
	}
	st := one(t, d)
	for i, w := range v.Windows {
		near(t, "window begins", w.From, 1+float64(i), 1e-9)
		near(t, "window ends", w.To, 2+float64(i), 1e-9)
		near(t, "tokens/s of the window", w.Tokens, st.Measurements[i], 1e-9)
		tokens, flight, decoding := 0.0, 0.0, 0.0
		for b := 20 * (i + 1); b < 20*(i+2); b++ {
			tokens += v.Tokens[b] / 20
			flight += v.InFlight[b] / 20
			decoding += v.Decoding[b] / 20
		}
		near(t, "mean of its bins", tokens, w.Tokens, 1e-9)
		if flight < 1.8 || flight > 2 || decoding >= flight || decoding < 1.7 {
			t.Errorf("window %d: %.3g in flight, %.3g decoding", i, flight, decoding)
		}
	}
	near(t, "in flight", (sum(v.InFlight[20:40])+sum(v.InFlight[40:]))/40, st.InFlight.Mean, 1e-9)
	near(t, "decoding", (sum(v.Decoding[20:40])+sum(v.Decoding[40:]))/40, st.DecodeConcurrency.Mean, 1e-9)
	if _, ok := NewTimeline(d, 3); ok {
		t.Error("a level that was not visited has a timeline")
	}
}

func sum(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

// Bins hold ten tokens or more where half a window does, whatever the speed.
func TestTimelineOfASlowStream(t *testing.T) {
	d := Data{Visits: []load.Visit{visit(0, 1, 0, 0, 4000, 2)}, Samples: []load.Sample{answer(1, 0, 80, every(100, 100, 80)...)}}
	line, _ := NewTimeline(d, 1)
	near(t, "bin", line.Visits[0].Bin, 1, 0.05)
	d.Samples = []load.Sample{answer(1, 0, 8, every(1000, 1000, 8)...)}
	line, _ = NewTimeline(d, 1)
	near(t, "bin", line.Visits[0].Bin, 2, 1e-9)
}

// A visit that failures ended before its first window is shown to its last
// request, answers in one piece are spread over their time, and nothing breaks a
// visit of no length.
func TestTimelineOfOddVisits(t *testing.T) {
	cut := load.Visit{Level: load.Level{Concurrency: 4}, Started: 500 * ms, Ended: load.EndedFailing}
	whole := load.Sample{ID: 1, Sent: 600 * ms, End: 1500 * ms, OutputTokens: 90, TokenSource: load.SourceServer, FinishReason: "stop"}
	broken := load.Sample{ID: 2, Sent: 700 * ms, End: 800 * ms, Cause: load.CauseReset}
	line, ok := NewTimeline(Data{Visits: []load.Visit{cut}, Samples: []load.Sample{broken, whole}}, 4)
	if !ok || len(line.Visits[0].Windows) != 0 || line.Visits[0].Ended != load.EndedFailing {
		t.Fatalf("%v, %+v", ok, line)
	}
	v := line.Visits[0]
	near(t, "length", v.Seconds, 1, 1e-9)
	near(t, "tokens", sum(v.Tokens)*v.Bin, 90, 1e-9)
	near(t, "time in flight", sum(v.InFlight)*v.Bin, 1.0, 1e-9)
	if _, ok := NewTimeline(Data{Visits: []load.Visit{{Level: load.Level{Concurrency: 4}}}}, 4); ok {
		t.Error("a visit of no length has a timeline")
	}
	long := visit(0, 1, 0, int(time.Hour/ms), 10, 1)
	line, ok = NewTimeline(Data{Visits: []load.Visit{long}}, 1)
	if !ok || len(line.Visits[0].Tokens) > binsPerVisit {
		t.Errorf("%v, %d bins", ok, len(line.Visits[0].Tokens))
	}
}

func TestNearKnee(t *testing.T) {
	c := Curve{}
	if n, ok := NearKnee(c); ok {
		t.Errorf("no levels: %d", n)
	}
	for i, n := range []int{1, 4, 16, 64} {
		s := load.Step{Concurrency: n, Valid: true, Throughput: load.Some(load.Estimate{Value: []float64{10, 40, 80, 70}[i]})}
		c.Steps = append(c.Steps, s)
	}
	want := func(what string, level int) {
		t.Helper()
		if n, ok := NearKnee(c); !ok || n != level {
			t.Errorf("%s: %d, want %d", what, n, level)
		}
	}
	want("no knee: the highest throughput", 16)
	c.Knee.Concurrency = load.Some(load.Estimate{Value: 7})
	want("knee at 7, by ratio", 4)
	c.Knee.Concurrency = load.Some(load.Estimate{Value: 60})
	want("knee at 60", 64)
	c.Knee.Concurrency = load.Some(load.Estimate{Value: math.NaN()})
	want("a knee that is no number", 16)
	c.Knee.Concurrency.OK = false
	for i := range c.Steps {
		c.Steps[i] = load.Step{Concurrency: c.Steps[i].Concurrency}
	}
	want("nothing measured: the last", 64)
}
