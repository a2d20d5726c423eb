package analysis

import (
	"math"
	"testing"

	"kneesweep/load"
)

// answered is a level measured for 10 windows of 10 s, with 400 answers whose
// TTFT is 10, 11, …, 409 ms, the i-th of them at place(i).
func answered(n int, place func(i int) int) Data {
	d := Data{Visits: []load.Visit{visit(0, 1, 0, 0, 10_000, 10)}}
	for i := range n {
		at := place(i) * 200
		d.Samples = append(d.Samples, answer(int64(i), at, 3, every(at+10+i, 10, 3)...))
	}
	return d
}

// Order statistics bound a quantile; requests that are slow together count for
// fewer, and too few give no bound.
func TestTTFTIntervals(t *testing.T) {
	mixed := TTFTIntervals(answered(400, func(i int) int { return i * 77 % 400 }), 0.50, 0.95)[1]
	if len(mixed) != 2 {
		t.Fatalf("%d quantiles, want 2", len(mixed))
	}
	near(t, "p50", mixed[0].Value, 0.2095, 1e-9)
	// 1.96·√(0.25/400) = 0.049 of 400 ms at each side.
	near(t, "lower bound of p50", mixed[0].Lo, 0.2095-0.0196, 0.0005)
	near(t, "upper bound of p50", mixed[0].Hi, 0.2095+0.0196, 0.0005)
	near(t, "p95", mixed[1].Value, 0.38905, 1e-9)
	if !(mixed[1].Lo < mixed[1].Value && mixed[1].Value < mixed[1].Hi) {
		t.Errorf("p95 %+v", mixed[1])
	}
	sorted := TTFTIntervals(answered(400, func(i int) int { return i }), 0.50, 0.95)[1]
	if wide, narrow := sorted[0].Hi-sorted[0].Lo, mixed[0].Hi-mixed[0].Lo; wide < 2*narrow {
		t.Errorf("slow ones together: interval of %g s, spread out: %g s", wide, narrow)
	}
	few := TTFTIntervals(answered(40, func(i int) int { return i * 7 % 40 }), 0.95)[1]
	if !math.IsNaN(few[0].Hi) || math.IsNaN(few[0].Lo) {
		t.Errorf("p95 of 40 requests: %+v, want no upper bound", few[0])
	}
	if all := TTFTIntervals(Data{Visits: []load.Visit{visit(0, 1, 0, 0, 1000, 1)}}, 0.5); len(all) != 0 {
		t.Errorf("without requests: %v", all)
	}
}
