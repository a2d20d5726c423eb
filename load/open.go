package load

import "time"

// OpenPhase is one run of an open loop: requests sent at a rate, whatever became of
// those before.
type OpenPhase struct {
	Index    int           // the phases of a run are counted from 0
	Level    int           // the level of a closed loop that it confirms; 0 = a rate of a sweep over rates
	Rate     float64       // arrivals/s asked for
	Process  string        // how they arrive, in words
	Streams  int           // most requests in flight; arrivals beyond waited
	Pass     int           // over the rates of a sweep; 0 = the first
	Started  time.Duration // when its warm-up began
	Measured Span          // after the warm-up
	Windows  int           // that the span is cut into
	Arrivals int           // inside the measured span
	Waited   int           // of those, found no free stream and were sent late
	Unsent   int           // of those, still waiting when the phase ended
	Ended    string        // empty = measured to its end; else why not: one of the Ended constants
	Client   Process
}

// Spans are the windows of the phase: equal parts of its measured span.
func (p *OpenPhase) Spans() []Span {
	n := time.Duration(p.Windows)
	if n < 1 || p.Measured.To-p.Measured.From < n {
		return nil
	}
	length := (p.Measured.To - p.Measured.From) / n
	spans := make([]Span, n)
	for i := range spans {
		from := p.Measured.From + time.Duration(i)*length
		spans[i] = Span{From: from, To: from + length}
	}
	return spans
}

// UpsertPhase puts p into list, in place of an earlier state of the same phase.
func UpsertPhase(list []OpenPhase, p OpenPhase) []OpenPhase {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Index == p.Index {
			list[i] = p
			return list
		}
	}
	return append(list, p)
}

// OpenStep is what an open loop measured. Times are seconds.
type OpenStep struct {
	Phase      OpenPhase
	Throughput Opt[Estimate] // output tokens/s, median of the windows with its 95 % interval
	Requests   float64       // completed requests/s
	InFlight   CountStat
	Failed     int

	TTFT, E2E                   Dist // from the send
	ScheduledTTFT, ScheduledE2E Dist // from the time at which the request was meant to be sent
	Delay                       Dist // from that time to the send
}

// RateStep is one offered rate of an open loop, all its phases pooled. Times are
// seconds. Latencies exist twice: from the send, and from the time at which the
// request was meant to be sent, which holds the wait for a free stream.
type RateStep struct {
	Rate          float64 // arrivals/s asked for
	Valid         bool
	InvalidReason string

	Measured     time.Duration
	Window       time.Duration
	Measurements []float64     // output tokens/s of each window, in the order measured
	Throughput   Opt[Estimate] // their median, with its 95 % interval
	Drift        Opt[float64]  // (last pass - first pass) / their mean, of the window medians
	Requests     float64       // completed requests/s: the rate achieved
	InFlight     CountStat

	Arrivals int // inside the measured time
	Waited   int // of those, found no free stream and were sent late, if at all
	Unsent   int // of those, still waiting when the phase ended
	Finished int
	Failed   int
	Failures map[string]int

	ErrorRate        Opt[float64]
	OutputLengthMean Opt[float64]
	TTFT, TPOT, E2E  Dist // from the send
	ScheduledTTFT    Dist
	ScheduledE2E     Dist
	Delay            Dist // from the scheduled time to the send
	Client           Opt[ClientHealth]
}

// Offered is the rate at which requests came while it was measured, which differs from
// the one asked for by chance.
func (s *RateStep) Offered() float64 {
	if s.Measured <= 0 {
		return 0
	}
	return float64(s.Arrivals) / s.Measured.Seconds()
}
