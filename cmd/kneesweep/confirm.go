package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
)

const (
	confirmWarmup  = 3  // answers of a stream, after which the open loop is measured
	confirmLeast   = 10 // answers of a stream, at least, while it is measured
	confirmStreams = 2  // times the level, as room for arrivals that come while others are late
	confirmPass    = 1 << 20
)

// openLoop sends at the rate of the recommended level for as long as a level was
// measured, so that a closed loop's figure is checked by an open one.
func (o *sweepOptions) openLoop(ctx context.Context, c *cli.Context, cl *client.Client, data analysis.Data, sink sweep.Sink) error {
	curve := analysis.Analyze(data)
	n, rate := analysis.OpenRate(curve)
	if !rate.OK {
		fmt.Fprintln(c.App.ErrWriter, "hint: --confirm: there is no recommended level whose rate could be tried")
		return nil
	}
	answer := time.Duration(float64(n) / rate.V * float64(time.Second)) // Little's law
	measured := max(confirmLeast*answer, time.Duration(o.settings.Measurements)*windowOf(curve))
	fmt.Fprintf(c.App.ErrWriter, "confirming: %.3g requests/s, the rate of %d streams, for %v\n", rate.V, n, (measured + confirmWarmup*answer).Round(time.Second))
	open := sweep.Open{
		Sender: cl, Source: o.target.source, Sink: sink, Epoch: o.target.config.Epoch,
		Streams: max(n+1, min(confirmStreams*n, o.plan.highest())), Pass: confirmPass,
	}
	phase, err := open.Run(ctx, &pace.Constant{Rate: rate.V}, confirmWarmup*answer, measured)
	if err != nil || ctx.Err() != nil {
		return err
	}
	phase.Level, phase.Rate, phase.Process, phase.Windows = n, rate.V, "evenly spaced", max(1, o.settings.Measurements)
	sink(sweep.Event{Open: &phase})
	return nil
}

// windowOf is the length of a window at the levels of a curve.
func windowOf(c analysis.Curve) time.Duration {
	var w time.Duration
	for _, s := range c.Steps {
		w = max(w, s.Window)
	}
	return max(w, 100*time.Millisecond)
}
