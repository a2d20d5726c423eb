package load

// OpenPhase is one run of an open loop: requests sent at a rate, whatever became of
// those before.
type OpenPhase struct {
	Level    int     // the level that it stands for
	Rate     float64 // arrivals/s asked for
	Process  string  // how they arrive, in words
	Streams  int     // most requests in flight; arrivals beyond waited
	Measured Span    // after the warm-up
	Windows  int     // that the span is cut into
	Arrivals int     // inside the measured span
	Waited   int     // of those, found no free stream and were sent late
	Unsent   int     // of those, still waiting when the phase ended
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
