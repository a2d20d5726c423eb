package analysis

import (
	"fmt"
	"math"
	"time"

	"kneesweep/load"
)

// confirmed is how far the throughput of an open loop may be from that of the
// closed loop that it confirms.
const confirmed = 0.05

// Confirmation is what an open loop at the rate of the recommended level says of
// the recommendation.
type Confirmation struct {
	Open       load.OpenStep
	Closed     float64 // tokens/s of the closed loop at that level, by the fit
	Difference float64 // of the open loop's throughput from it, as a fraction
	Holds      bool
	Text       string
}

// OpenRate is the rate that a closed loop at the recommended level reaches, in
// requests/s, by Little's law: the fitted throughput there over the mean length of
// an answer. It is undefined without a recommendation or a fit.
func OpenRate(c Curve) (level int, rate load.Opt[float64]) {
	n := c.Recommended.Concurrency
	length := answerLength(c)
	if !n.OK || c.Knee.Fit == nil || !length.OK || length.V <= 0 {
		return 0, load.Opt[float64]{}
	}
	if x := c.Knee.Fit.At(float64(n.V)); x > 0 {
		return n.V, load.Some(x / length.V)
	}
	return n.V, load.Opt[float64]{}
}

// answerLength is the mean length of an answer over the valid levels, in tokens.
func answerLength(c Curve) load.Opt[float64] {
	sum, n := 0.0, 0
	for _, s := range c.Steps {
		if s.Valid && s.OutputLengthMean.OK {
			sum += s.OutputLengthMean.V * float64(s.Finished)
			n += s.Finished
		}
	}
	if n == 0 {
		return load.Opt[float64]{}
	}
	return load.Some(sum / float64(n))
}

// confirm judges an open phase against the curve; nil without one.
func confirm(d Data, c Curve) *Confirmation {
	if d.Open == nil || c.Knee.Fit == nil {
		return nil
	}
	open := openStep(d, *d.Open)
	out := &Confirmation{Open: open, Closed: c.Knee.Fit.At(float64(d.Open.Level))}
	if !open.Throughput.OK {
		out.Text = fmt.Sprintf("an open loop at %.4g requests/s brought no tokens", d.Open.Rate)
		return out
	}
	out.Difference = open.Throughput.V.Value/out.Closed - 1
	out.Holds = math.Abs(out.Difference) <= confirmed && open.Phase.Unsent == 0
	verdict := "the recommendation holds"
	if !out.Holds {
		verdict = "the recommendation does not hold at a fixed rate"
	}
	out.Text = fmt.Sprintf("an open loop at %.4g requests/s (%s), the rate of %d streams, gave %.4g tokens/s, %+.1f %% against the closed loop, "+
		"with %.3g requests in flight and a TTFT p95 of %.3g ms from the schedule; %d of %d arrivals found no free stream: %s",
		d.Open.Rate, d.Open.Process, d.Open.Level, open.Throughput.V.Value, 100*out.Difference,
		open.InFlight.Mean, 1e3*open.ScheduledTTFT.P95, open.Phase.Waited, open.Phase.Arrivals, verdict)
	return out
}

// openStep computes the figures of an open phase as if it were a visit, and beside
// them the latencies from the schedule. These belong to the span in which their
// closing event falls, as all others do.
func openStep(d Data, phase load.OpenPhase) load.OpenStep {
	visit := load.Visit{Index: -1, Level: load.Level{Concurrency: phase.Streams, Windows: phase.Windows}}
	length := (phase.Measured.To - phase.Measured.From) / time.Duration(max(1, phase.Windows))
	for i := range time.Duration(phase.Windows) {
		from := phase.Measured.From + i*length
		visit.Windows = append(visit.Windows, load.Span{From: from, To: from + length})
	}
	level := newLevelData(d.Run, phase.Streams, []load.Visit{visit}, d.requests())
	st := level.step()
	out := load.OpenStep{
		Phase: phase, Throughput: st.Throughput, Requests: st.Requests, InFlight: st.InFlight, Failed: st.Failed, TTFT: st.TTFT, E2E: st.E2E,
	}
	var ttft, e2e, delay []float64
	level.each(func(s *load.Sample, span load.Span) {
		late := s.FromSchedule()
		if !late.OK || s.Failed() {
			return
		}
		if span.Holds(s.Sent) {
			delay = append(delay, late.V.Seconds())
		}
		if within(s.FirstToken(), span) {
			ttft = append(ttft, (s.TTFT().V + late.V).Seconds())
		}
		if span.Holds(s.End) {
			e2e = append(e2e, (s.E2E() + late.V).Seconds())
		}
	})
	out.ScheduledTTFT, out.ScheduledE2E, out.Delay = dist(ttft), dist(e2e), dist(delay)
	return out
}
