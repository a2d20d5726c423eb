package analysis

import (
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// pointsCurve has valid levels 2 and 6 and one at 4 that is not.
func pointsCurve() Curve {
	nan := math.NaN()
	return Curve{Steps: []load.Step{
		{Concurrency: 2, Valid: true, Throughput: load.Some(load.Estimate{Value: 100, Lo: 92, Hi: 106}), TTFT: load.Dist{P50: 0.1, Count: 9}},
		{Concurrency: 4, Throughput: load.Some(load.Estimate{Value: 900, Lo: nan, Hi: nan})},
		{Concurrency: 6, Valid: true, Throughput: load.Some(load.Estimate{Value: 200, Lo: 180, Hi: 212}), TTFT: load.Dist{P50: 0.3, Count: 9}, Decode: load.Dist{P50: 40, Count: 9}},
	}}
}

func TestReadAtInterpolates(t *testing.T) {
	r, err := ReadAt(pointsCurve(), nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	// A quarter of the way: errors 8 and 20 below, 6 and 12 above.
	want := load.Estimate{Value: 125, Lo: 125 - math.Hypot(6, 5), Hi: 125 + math.Hypot(4.5, 3)}
	if got := r.Throughput; !got.OK || math.Abs(got.V.Lo-want.Lo)+math.Abs(got.V.Hi-want.Hi)+math.Abs(got.V.Value-want.Value) > 1e-9 || r.Below != 2 || r.Above != 6 {
		t.Errorf("%+v, want %+v", r, want)
	}
	if math.Abs(r.TTFT.V.Value-0.15) > 1e-12 || !math.IsNaN(r.TTFT.V.Lo) || r.Decode.OK {
		t.Errorf("TTFT %+v, decode %+v", r.TTFT, r.Decode)
	}
	if r, err := ReadAt(pointsCurve(), nil, 6); err != nil || r.Below != 6 || r.Above != 6 || r.Throughput.V.Value != 200 || r.Decode.V.Value != 40 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadAtRefusesToExtrapolate(t *testing.T) {
	for _, n := range []int{1, 7} {
		if _, err := ReadAt(pointsCurve(), nil, n); err == nil || !strings.Contains(err.Error(), "outside of the valid levels, 2 to 6, and nothing is extrapolated") {
			t.Errorf("%d: %v", n, err)
		}
	}
	if _, err := ReadAt(Curve{}, nil, 1); err == nil {
		t.Error("a curve without levels was read")
	}
}

// A knee in the gap is said, one beside it is not.
func TestReadAtKnowsTheKnee(t *testing.T) {
	for _, k := range []struct {
		lo, value, hi float64
		between       bool
	}{{3, 4, 5, true}, {6, 7, 8, false}, {1, 1.5, 2, false}, {5, 6.5, 8, true}, {math.NaN(), 3, math.NaN(), true}} {
		c := pointsCurve()
		c.Knee.Concurrency = load.Some(load.Estimate{Value: k.value, Lo: k.lo, Hi: k.hi})
		if r, _ := ReadAt(c, nil, 5); r.KneeBetween != k.between {
			t.Errorf("knee %+v: %v", k, r.KneeBetween)
		}
	}
}

// With the single requests latencies have intervals, around the medians of the steps.
func TestReadAtWithRequests(t *testing.T) {
	const level = 4
	d := Data{Run: load.Run{Settings: load.Settings{Passes: 1}}, Visits: []load.Visit{{
		Level: load.Level{Concurrency: level, Windows: 1}, Windows: []load.Span{{From: 0, To: 100 * time.Second}},
	}}}
	for i := range 400 {
		sent := time.Duration(i) * 200 * time.Millisecond
		first := sent + time.Duration(1000+37*i%401)*10*time.Microsecond
		last := first + time.Duration(2000+91*i%401)*10*time.Microsecond
		d.Samples = append(d.Samples, load.Sample{ID: int64(i + 1), Sent: sent, End: last, OutputTokens: 2, TokenSource: load.SourceServer,
			Chunks: []load.Chunk{{At: first}, {At: last}}})
	}
	steps := Summarize(d)
	steps[0].Valid = true
	r, err := ReadAt(Curve{Steps: steps}, &d, level)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]struct {
		got  load.Opt[load.Estimate]
		want float64
	}{"TTFT": {r.TTFT, steps[0].TTFT.P50}, "decode rate": {r.Decode, steps[0].Decode.P50}} {
		if v := e.got.V; !e.got.OK || v.Value != e.want || !(v.Lo <= v.Value && v.Value <= v.Hi && v.Lo < v.Hi) {
			t.Errorf("%s: %+v around %v", name, e.got, e.want)
		}
	}
}
