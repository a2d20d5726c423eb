package report

import (
	"kneesweep/analysis"
	"kneesweep/load"
)

// confirmJSON is the open loop that followed the sweep; null without one.
type confirmJSON struct {
	Level      int           `json:"concurrency"`
	Rate       number        `json:"rate_requests_per_second"`
	Process    string        `json:"process"`
	Streams    int           `json:"streams"`
	FromMS     number        `json:"from_ms"`
	ToMS       number        `json:"to_ms"`
	Windows    int           `json:"windows"`
	Arrivals   int           `json:"arrivals"`
	Waited     int           `json:"waited"`
	Unsent     int           `json:"unsent"`
	Failed     int           `json:"failed"`
	Throughput *intervalJSON `json:"output_tokens_per_second"`
	Requests   number        `json:"requests_per_second"`
	InFlight   inFlightJSON  `json:"in_flight"`
	TTFT       distJSON      `json:"ttft_ms"`
	E2E        distJSON      `json:"e2e_ms"`
	FromPlan   distJSON      `json:"ttft_from_schedule_ms"`
	E2EPlan    distJSON      `json:"e2e_from_schedule_ms"`
	Delay      distJSON      `json:"dispatch_delay_ms"`
	Closed     number        `json:"closed_loop_tokens_per_second"`
	Difference number        `json:"difference"`
	Holds      bool          `json:"holds"`
	Text       string        `json:"text"`
}

func confirmOf(c *analysis.Confirmation) *confirmJSON {
	if c == nil {
		return nil
	}
	o, p := c.Open, c.Open.Phase
	return &confirmJSON{
		Level: p.Level, Rate: finite(p.Rate), Process: p.Process, Streams: p.Streams, FromMS: millisOf(p.Measured.From), ToMS: millisOf(p.Measured.To),
		Windows: p.Windows, Arrivals: p.Arrivals, Waited: p.Waited, Unsent: p.Unsent, Failed: o.Failed,
		Throughput: intervalOrNull(o.Throughput), Requests: finite(o.Requests), InFlight: inFlightOf(o.InFlight),
		TTFT: millisDist(o.TTFT), E2E: millisDist(o.E2E), FromPlan: millisDist(o.ScheduledTTFT), E2EPlan: millisDist(o.ScheduledE2E),
		Delay: millisDist(o.Delay), Closed: finite(c.Closed), Difference: finite(c.Difference), Holds: c.Holds, Text: c.Text,
	}
}

func (j *confirmJSON) load() *analysis.Confirmation {
	if j == nil {
		return nil
	}
	return &analysis.Confirmation{
		Open: load.OpenStep{
			Phase: load.OpenPhase{
				Level: j.Level, Rate: j.Rate.V, Process: j.Process, Streams: j.Streams,
				Measured: load.Span{From: duration(j.FromMS), To: duration(j.ToMS)},
				Windows:  j.Windows, Arrivals: j.Arrivals, Waited: j.Waited, Unsent: j.Unsent,
			},
			Failed: j.Failed, Throughput: j.Throughput.opt(), Requests: j.Requests.V, InFlight: j.InFlight.load(),
			TTFT: j.TTFT.load(1e3), E2E: j.E2E.load(1e3), ScheduledTTFT: j.FromPlan.load(1e3), ScheduledE2E: j.E2EPlan.load(1e3), Delay: j.Delay.load(1e3),
		},
		Closed: j.Closed.V, Difference: j.Difference.V, Holds: j.Holds, Text: j.Text,
	}
}
