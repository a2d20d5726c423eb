package sweep

import (
	"context"
	"time"

	"kneesweep/load"
	"kneesweep/sweep/pace"
)

// Replay sends the requests of a trace at their times, in one phase without a warm-up.
// All of them are waited for, and those that found no free stream are sent late: the
// measured span ends with the last answer.
type Replay struct {
	Open         Open
	Trace        pace.Process
	Lasts        time.Duration // from the first request to the last
	Rate         float64       // mean arrivals/s
	Windows      int           // that the span is cut into
	MaxErrorRate float64
	Health       *Health // watches the measuring process; nil = not watched
}

// Run replays the trace. It ends early when too many requests fail.
func (r *Replay) Run(ctx context.Context) (Outcome, error) {
	tally := &openTally{limit: r.MaxErrorRate}
	o := r.Open
	o.Ended, o.Whole = tally.add, true
	begin := time.Since(o.Epoch)
	report := func(p load.OpenPhase) {
		if o.Sink != nil {
			o.Sink(Event{Open: &p})
		}
	}
	report(load.OpenPhase{
		Rate: r.Rate, Streams: o.Streams, Started: begin, Windows: r.Windows,
		Measured: load.Span{From: begin, To: begin + r.Lasts}, Ended: load.EndedRunning,
	})
	if r.Health != nil {
		r.Health.begin()
	}
	p, err := o.Run(ctx, r.Trace, 0, r.Lasts+1) // the last request comes at its end
	if err != nil {
		return Outcome{load.StatusStopped, err.Error()}, err
	}
	if r.Health != nil {
		p.Client = r.Health.end()
	}
	p.Rate, p.Windows, p.Ended = r.Rate, r.Windows, tally.ended()
	if ctx.Err() != nil {
		p.Ended = load.EndedInterrupted
	}
	report(p)
	switch p.Ended {
	case "":
		return Outcome{Status: load.StatusComplete}, nil
	case load.EndedInterrupted:
		return Outcome{load.StatusInterrupted, "interrupted"}, nil
	}
	return stopped("the replay ended as %s", p.Ended), nil
}
