package analysis

import (
	"math"
	"testing"

	"kneesweep/load"
)

// Spreads from single requests agree with the percentiles of the step, and hold
// those below the median too; without requests they are unknown.
func TestSpreads(t *testing.T) {
	d := Data{Visits: []load.Visit{visit(0, 1, 0, 0, 100_000, 1), visit(1, 2, 0, 200_000, 1000, 1)}}
	for i := range 101 { // TTFT 10, 11, …, 110 ms; gaps of 20 ms for one token, of 5 ms for each of four
		at := 500 * i
		s := answer(int64(i), at, 6, at+10+i, at+30+i, at+50+i)
		for k, n := range []int32{1, 1, 4} {
			s.Chunks[k].Tokens = n
		}
		d.Samples = append(d.Samples, s)
	}
	c := Curve{Steps: Summarize(d)}
	exact, known := Spreads(c, &d, LatencyTTFT), Spreads(c, nil, LatencyTTFT)
	if len(exact) != 2 || len(known) != 2 {
		t.Fatalf("%d and %d spreads, want one a level", len(exact), len(known))
	}
	s := exact[0]
	for p, got := range map[float64]float64{5: s.P5, 10: s.P10, 25: s.P25, 50: s.P50, 75: s.P75, 90: s.P90, 95: s.P95, 99: s.P99} {
		near(t, "TTFT quantile", got, (10+p)/1000, 1e-9)
	}
	k := known[0]
	if k.P50 != s.P50 || k.P90 != s.P90 || k.P95 != s.P95 || k.P99 != s.P99 || !math.IsNaN(k.P5) || !math.IsNaN(k.P75) || k.Count != 101 {
		t.Errorf("from the step %+v, from the requests %+v", k, s)
	}
	if e := exact[1]; e.Count != 0 || !math.IsNaN(e.P50) || e.Concurrency != 2 {
		t.Errorf("a level without requests has %+v", e)
	}
	itl := Spreads(c, &d, LatencyITL)[0]
	if itl.Count != 505 {
		t.Errorf("%d gaps, want one for every token after the first chunk", itl.Count)
	}
	near(t, "p75 of ITL: four of five tokens come after 5 ms", itl.P75, 0.005, 1e-9)
	near(t, "p90 of ITL", itl.P90, 0.020, 1e-9)
	near(t, "p99 of ITL is that of the step", itl.P99, c.Steps[0].ITL.P99, 1e-12)
}

func TestTradeoffs(t *testing.T) {
	c := Curve{Steps: []load.Step{
		{Concurrency: 4, Valid: true, Throughput: load.Some(load.Estimate{Value: 100}), Decode: load.Dist{P50: 30, Count: 5}},
		{Concurrency: 8, InvalidReason: "no tokens"},
		{Concurrency: 16, Valid: true, Scout: true, Throughput: load.Some(load.Estimate{Value: 160})},
	}}
	all := Tradeoffs(c)
	if len(all) != 2 || all[0].PerStream != 25 || all[0].Decode != load.Some(30.0) || all[1].PerStream != 10 || all[1].Decode.OK || !all[1].Scout {
		t.Errorf("%+v", all)
	}
}
