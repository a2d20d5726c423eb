package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

func replayFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: category, Name: "replay", Usage: "in place of levels: send the requests of a trace `FILE` (CSV or JSON lines) at their times and with their lengths, whatever the answers do, at most --max-concurrency in flight"},
		&cli.Float64Flag{Category: category, Name: "replay-speed", Value: 1, Usage: "times the speed of the trace"},
	}
}

// replayed is the trace of --replay.
type replayed struct {
	times []time.Duration
	speed float64
	name  string
}

// fastest is the highest speed of a replay.
const fastest = 1e6

// notReplayed are flags that say what a trace says.
var notReplayed = []struct{ flag, why string }{
	{"rates", "a trace has its own times"},
	{"arrivals", "a trace has its own times"},
	{"trace", "--replay takes the lengths of its own trace"},
	{"prompts", "a trace has its own lengths"},
	{"passes", "a trace is replayed once"},
}

// newReplay reads the flags.
func newReplay(c *cli.Context) (*replayed, error) {
	errs := []error{refuseClosed(c, "replay")}
	for _, f := range notReplayed {
		if c.IsSet(f.flag) {
			errs = append(errs, fmt.Errorf("--replay and --%s: give one of them; %s", f.flag, f.why))
		}
	}
	r := &replayed{speed: c.Float64("replay-speed"), name: filepath.Base(c.String("replay"))}
	if !(r.speed > 0) || r.speed > fastest {
		errs = append(errs, fmt.Errorf("--replay-speed: %g, need more than 0 and at most %.0f", r.speed, fastest))
	}
	if t, err := readTrace(c, c.String("replay")); err == nil { // else the request shape says so
		if r.times, err = t.Times(); err != nil {
			errs = append(errs, flagged("--replay", err))
		}
	}
	return r, errors.Join(errs...)
}

// lasts is the time from the first request to the last.
func (r *replayed) lasts() time.Duration {
	return time.Duration(float64(r.times[len(r.times)-1]-r.times[0]) / r.speed)
}

// rate is the mean rate in requests/s: the gaps over their time.
func (r *replayed) rate() float64 { return float64(len(r.times)-1) / r.lasts().Seconds() }

// words say how requests come.
func (r *replayed) words() string {
	if r.speed == 1 {
		return "at the times of " + r.name
	}
	return fmt.Sprintf("at the times of %s, %g times as fast", r.name, r.speed)
}

// replayPrompts are prompts of the lengths of the trace; what other flags say wins.
func replayPrompts(c *cli.Context, output int) (workload.Prompts, error) {
	t, err := readTrace(c, c.String("replay"))
	if err != nil {
		return nil, flagged("--replay", err)
	}
	length := func(flag string, otherwise int, of func() (*workload.Rows, error)) (workload.Length, error) {
		if rows, err := of(); err == nil && !c.IsSet(flag) {
			return rows, nil
		}
		return parseLength(c, flag, otherwise)
	}
	in, inErr := length("input-tokens", defaultInput, t.Inputs)
	out, outErr := length("output-tokens", output, t.Outputs)
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	r := workload.Replay{Synthetic: workload.Synthetic{Input: in, Output: out, Seed: c.Uint64("seed")}, Trace: t}
	return r, r.Validate()
}

// replay sends the requests of the trace: one phase, whose measured span lasts from the
// first request until the last one has ended.
func (o *sweepOptions) replay(ctx context.Context, c *cli.Context, cl *client.Client, health *sweep.Health, sink sweep.Sink) (sweep.Outcome, error) {
	r := o.open.replay
	if !o.quiet {
		fmt.Fprintf(c.App.ErrWriter, "replaying %d requests in %v, %.4g requests/s on average\n", len(r.times), r.lasts().Round(100*time.Millisecond), r.rate())
	}
	run := sweep.Replay{
		Open:  sweep.Open{Sender: cl, Source: o.target.source, Sink: sink, Epoch: o.target.config.Epoch, Streams: o.open.streams, Sleep: sweep.Punctual},
		Trace: pace.NewTrace(r.times, r.speed), Lasts: r.lasts(), Rate: r.rate(), Windows: o.settings.Measurements,
		MaxErrorRate: o.settings.MaxErrorRate, Health: health,
	}
	return run.Run(ctx)
}

// setOpen notes in the settings of a run that it is an open loop.
func (o openOptions) setOpen(s *load.Settings) {
	s.Rates, s.Arrivals = o.rates, o.arrivals.name
	if o.replay != nil && len(o.replay.times) > 0 {
		s.Rates, s.Arrivals, s.Replay, s.Passes = []float64{o.replay.rate()}, o.replay.words(), true, 1
	}
}
