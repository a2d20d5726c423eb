package analysis

import (
	"errors"
	"fmt"
	"slices"

	"kneesweep/analysis/slo"
	"kneesweep/load"
)

// Restate holds the steps of a summary against the limits of d.Run, which are
// others than those they were judged by, as far as its requests allow it without
// the arrivals of their tokens.
func Restate(d *Data) error {
	limits, err := slo.Parse(d.Run.Settings.SLO)
	if err != nil {
		return err
	}
	if d.Run.Settings.Journal == load.KeepNone {
		return errors.New("the journal keeps no requests to hold against other limits than those of the run; sweep with --journal requests")
	}
	if i := slices.IndexFunc(limits, func(l slo.Limit) bool { return l.Figure == slo.ITL }); i >= 0 {
		return fmt.Errorf("%s: the journal keeps no inter-token latencies; limit TPOT instead, or sweep with --journal chunks", limits[i])
	}
	sum := *d.Summary
	sum.Steps = slices.Clone(sum.Steps)
	all, visits := d.requests(), visitsByLevel(d.Visits)
	for i := range sum.Steps {
		st := &sum.Steps[i]
		st.SLO, st.Goodput = load.Opt[load.SLO]{}, load.Opt[float64]{}
		newLevelData(d.Run, st.Concurrency, visits[st.Concurrency], all).objectives(st)
	}
	d.Summary = &sum
	return nil
}
