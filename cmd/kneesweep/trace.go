package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"kneesweep/sweep"
	"kneesweep/workload"
)

// traceShape names the flags whose place the lengths of a trace take.
var traceShape = []string{"prompts", "input-tokens", "output-tokens"}

// readTrace reads a file of lengths, times, or both, once for all flags that name it.
func readTrace(c *cli.Context, path string) (*workload.Trace, error) {
	key := "trace " + path
	if t, ok := c.App.Metadata[key].(*workload.Trace); ok {
		return t, nil
	}
	var t *workload.Trace
	err := readInput(path, "give a CSV file with the columns input,output", func(r io.Reader) (err error) {
		t, err = workload.ReadTrace(r, path, c.Bool("skip-bad-lines"))
		return err
	})
	if err != nil {
		return nil, err
	}
	sayLeftOut(c, t)
	c.App.Metadata[key] = t
	return t, nil
}

// traceLengths are the lengths of --trace; what other flags say of them wins.
func traceLengths(c *cli.Context) (in, out workload.Length, err error) {
	t, err := readTrace(c, c.String("trace"))
	if err != nil {
		return nil, nil, flagged("--trace", err)
	}
	rows := func(flag string, of func() (*workload.Rows, error)) (workload.Length, error) {
		if c.IsSet(flag) {
			return nil, nil
		}
		lengths, err := of()
		if err != nil {
			return nil, fmt.Errorf("--trace: %w; or give --%s", err, flag)
		}
		return lengths, nil
	}
	in, inErr := rows("input-tokens", t.Inputs)
	out, outErr := rows("output-tokens", t.Outputs)
	return in, out, errors.Join(inErr, outErr)
}

// addBusy makes the p95 of what was in flight in a trace one of the levels, if the
// trace tells how long requests took.
func (p *levelPlan) addBusy(c *cli.Context) error {
	if !c.IsSet("trace") {
		return nil
	}
	t, err := readTrace(c, c.String("trace"))
	if err != nil {
		return nil // the request shape says so
	}
	crowd, ok := t.InFlight()
	switch {
	case !ok && !slices.ContainsFunc(traceShape, func(flag string) bool { return !c.IsSet(flag) }):
		return errors.New("--trace: every length is given by other flags, and it does not tell when requests came and how long they took; leave it out")
	case !ok || crowd.P95 < 1:
		return nil
	case crowd.P95 > sweep.MaxConcurrency:
		return fmt.Errorf("--trace: %d requests were in flight at its p95, at most %d streams can be measured", crowd.P95, sweep.MaxConcurrency)
	}
	fmt.Fprintf(c.App.ErrWriter, "hint: --trace had %.1f requests in flight on average, %d at the median, %d at the p95 and %d at most; %d becomes a level\n",
		crowd.Mean, crowd.P50, crowd.P95, crowd.Max, crowd.P95)
	p.busy = crowd.P95
	if !p.adaptive {
		p.levels = append(p.levels, p.busy)
		slices.Sort(p.levels)
		p.levels = slices.Compact(p.levels)
	}
	return nil
}
