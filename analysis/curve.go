// Package analysis turns samples into steps, and steps into a curve with a
// knee, its cause and a recommendation. It is pure: no I/O, no clock, and the
// same input gives the same output bit for bit.
package analysis

import (
	"fmt"
	"slices"

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
	Used        *load.Used    // nil for a run that was not measured here
	Account     *Account      // nil without prices
	Confirm     *Confirmation // nil when no open loop was run
	Rates       *RateSweep    // nil unless rates were swept; then there are no Steps
	At          *Reading      // nil unless a number of streams was asked about
	Warnings    []load.Warning
}

// Unusable says why the data make no curve: no level is valid, or the
// endpoint's failures ended the sweep with fewer than four valid levels. It is
// empty when they do, whatever the verdict.
func Unusable(d Data, c Curve) string {
	valid := 0
	for i := range c.Steps {
		if c.Steps[i].Valid {
			valid++
		}
	}
	if c.Rates != nil {
		return unusableRates(c)
	}
	switch {
	case valid == 0 && c.Run.StopReason != "":
		return fmt.Sprintf("no level could be measured, since %s; the causes are in the table", c.Run.StopReason)
	case valid == 0:
		return "no level could be measured; the causes are in the table"
	case valid < 4 && c.Run.Status == load.StatusStopped && slices.ContainsFunc(d.Visits, refused):
		return fmt.Sprintf("stopped with %d valid levels: %s", valid, c.Run.StopReason)
	}
	return ""
}

// refused reports whether the endpoint's failures ended a visit.
func refused(v load.Visit) bool {
	return v.Ended == load.EndedFailing || v.Ended == load.EndedThrottled
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
