package analysis

import (
	"math"
	"slices"

	"kneesweep/load"
)

// Latency names a latency whose distribution can be asked for.
type Latency uint8

// The latencies of [Spreads].
const (
	LatencyTTFT Latency = iota // time to first token, one value a request
	LatencyITL                 // inter-token latency, one value a token
)

// Spread is the distribution of one latency at one level: its quantiles in
// seconds, NaN where they are not known.
type Spread struct {
	Concurrency                           int
	Valid                                 bool
	Count                                 int // values; 0 = none, and no quantile is known
	P5, P10, P25, P50, P75, P90, P95, P99 float64
}

// Spreads are the distributions of a latency at the levels of c, in their order.
// With the requests that c was made of, all quantiles are computed from them,
// by the definitions of the step; without (d is nil) they are those that the
// steps hold: p50, p90, p95 and p99.
func Spreads(c Curve, d *Data, l Latency) []Spread {
	var kept requests
	var visits map[int][]load.Visit
	if d != nil {
		kept, visits = d.requests(), visitsByLevel(d.Visits)
	}
	all := make([]Spread, 0, len(c.Steps))
	for _, s := range c.Steps {
		p := knownSpread(s, l)
		if v := visits[s.Concurrency]; p.Count > 0 && len(v) > 0 {
			p.refine(newLevelData(d.Run, s.Concurrency, v, kept), l)
		}
		all = append(all, p)
	}
	return all
}

// knownSpread is what a step says.
func knownSpread(s load.Step, l Latency) Spread {
	d := s.TTFT
	if l == LatencyITL {
		d = s.ITL
	}
	nan := math.NaN()
	p := Spread{
		Concurrency: s.Concurrency, Valid: s.Valid, Count: d.Count,
		P5: nan, P10: nan, P25: nan, P50: nan, P75: nan, P90: nan, P95: nan, P99: nan,
	}
	if d.Count > 0 {
		p.P50, p.P90, p.P95, p.P99 = d.P50, d.P90, d.P95, d.P99
	}
	return p
}

// refine computes all quantiles from single values.
func (p *Spread) refine(d *levelData, l Latency) {
	shares := []float64{0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99}
	var q []float64
	if l == LatencyITL {
		gaps := d.gaps(true, nil)
		q = gaps.quantiles(shares...)
	} else {
		ttft := d.values().ttft
		slices.Sort(ttft)
		q = quantiles(ttft, shares)
	}
	p.P5, p.P10, p.P25, p.P50, p.P75, p.P90, p.P95, p.P99 = q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
}
