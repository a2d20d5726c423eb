package analysis

import (
	"fmt"
	"math"
	"slices"

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
	i := slices.IndexFunc(d.Open, func(p load.OpenPhase) bool { return p.Level > 0 })
	if i < 0 || c.Knee.Fit == nil {
		return nil
	}
	phase := d.Open[i]
	open := openStep(d, phase)
	out := &Confirmation{Open: open, Closed: c.Knee.Fit.At(float64(phase.Level))}
	if !open.Throughput.OK {
		out.Text = fmt.Sprintf("an open loop at %.4g requests/s brought no tokens", phase.Rate)
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
		phase.Rate, phase.Process, phase.Level, open.Throughput.V.Value, 100*out.Difference,
		open.InFlight.Mean, 1e3*open.ScheduledTTFT.P95, open.Phase.Waited, open.Phase.Arrivals, verdict)
	return out
}

// openStep computes the figures of an open phase as if it were a visit, and beside
// them the latencies from the schedule.
func openStep(d Data, phase load.OpenPhase) load.OpenStep {
	level := openLevel(d.Run, []load.OpenPhase{phase}, d.requests())
	st := level.step()
	out := load.OpenStep{
		Phase: phase, Throughput: st.Throughput, Requests: st.Requests, InFlight: st.InFlight, Failed: st.Failed, TTFT: st.TTFT, E2E: st.E2E,
	}
	out.ScheduledTTFT, out.ScheduledE2E, out.Delay = level.fromSchedule()
	return out
}
