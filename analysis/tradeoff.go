package analysis

import "kneesweep/load"

// Tradeoff is what a level gives to all its streams together, and to each.
type Tradeoff struct {
	Concurrency  int
	Valid, Scout bool
	Total        load.Estimate     // output tokens/s of all streams, with the interval of the step
	PerStream    float64           // Total/N, tokens/s: what one stream gets, its waiting included
	Decode       load.Opt[float64] // tokens/s of one stream while it decodes, median of 1/TPOT
}

// Tradeoffs are those of the levels of c that have a throughput, ascending.
func Tradeoffs(c Curve) []Tradeoff {
	var all []Tradeoff
	for _, s := range c.Steps {
		if !s.Throughput.OK {
			continue
		}
		t := Tradeoff{
			Concurrency: s.Concurrency, Valid: s.Valid, Scout: s.Scout,
			Total: s.Throughput.V, PerStream: s.Throughput.V.Value / float64(s.Concurrency),
		}
		if s.Decode.Count > 0 {
			t.Decode = load.Some(s.Decode.P50)
		}
		all = append(all, t)
	}
	return all
}
