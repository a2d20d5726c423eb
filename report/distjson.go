package report

import "kneesweep/load"

// distJSON is a distribution. Without values its members are null and its
// count is 0.
type distJSON struct {
	P50   number `json:"p50"`
	P90   number `json:"p90"`
	P95   number `json:"p95"`
	P99   number `json:"p99"`
	Mean  number `json:"mean"`
	Count int    `json:"count"`
}

// distOf writes d with each member converted by unit.
func distOf(d load.Dist, unit func(float64) number) distJSON {
	if d.Count == 0 {
		return distJSON{}
	}
	return distJSON{
		P50: unit(d.P50), P90: unit(d.P90), P95: unit(d.P95), P99: unit(d.P99),
		Mean: unit(d.Mean), Count: d.Count,
	}
}

// millisDist is a distribution of seconds in milliseconds.
func millisDist(d load.Dist) distJSON { return distOf(d, millis) }

// load reads the distribution back; scale is what one unit in JSON is worth.
// A document without counts still holds a distribution if its median is known.
func (j distJSON) load(scale float64) load.Dist {
	if !j.P50.OK && !j.Mean.OK {
		return load.Dist{}
	}
	back := func(n number) float64 { return orNaN(n) / scale }
	return load.Dist{
		P50: back(j.P50), P90: back(j.P90), P95: back(j.P95), P99: back(j.P99),
		Mean: back(j.Mean), Count: max(j.Count, 1),
	}
}
