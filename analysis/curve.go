// Package analysis turns samples into steps, and steps into a curve with a
// knee, its cause and a recommendation. It is pure: no I/O, no clock, and the
// same input gives the same output bit for bit.
package analysis

import (
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Curve is the answer of a sweep.
type Curve struct {
	Run         load.Run
	Steps       []load.Step // ascending in concurrency, invalid ones included
	Knee        knee.Result
	Estimates   []knee.Estimate
	Admission   load.Opt[load.Estimate] // K_admit; undefined = no admission limit seen
	Cause       *Cause                  // nil without a knee
	Recommended Recommended
	Warnings    []load.Warning
}

// Cause names what saturated, with the evidence in words and figures.
type Cause struct {
	Name     string // admission, compute, prefill, throttled, network, client or unknown
	Evidence []string
}

// Recommended is how many parallel streams to allow.
type Recommended struct {
	Concurrency load.Opt[int]
	LimitedBy   string // "knee", "admission", "slo", or empty
	Reason      string
}
