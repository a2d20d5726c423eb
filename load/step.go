package load

import "time"

// Estimate is a value with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Dist summarises a distribution; with Count 0 the other fields mean nothing.
type Dist struct {
	P50, P90, P95, P99, Mean float64
	Count                    int
}

// Step is one concurrency level, all its visits pooled. Times are seconds.
type Step struct {
	Concurrency   int
	Valid         bool
	InvalidReason string
	Steady        bool
	Scout         bool         // scouting level of the adaptive policy: few windows
	Imported      bool         // from a file of summaries: what it does not tell is zero or undefined; Finished counts when above 0, Failed when there is an ErrorRate
	Drift         Opt[float64] // (last pass - first pass) / their mean, of the window medians

	Window        time.Duration // length of its windows; 0 = it was not measured here
	Measurements  []float64     // tokens/s of each window, in the order measured
	Throughput    Opt[Estimate] // median of Measurements; Lo and Hi bound the median at 95 % (docs/method.md)
	VisibleTokens Opt[float64]  // tokens/s without hidden tokens, same median
	Requests      float64       // completed requests/s over the measured span
	SLO           Opt[SLO]      // undefined without limits, and where the step is not valid
	Goodput       Opt[float64]  // completed requests/s that met every limit; undefined without limits
	Cost          Opt[Cost]     // undefined without prices

	Decode  Dist // tokens/s of one stream, 1/TPOT
	TTFT    Dist
	TTFC    Dist
	Hits    Dist // TTFT of requests of which a cache had half of the prompt or more, by the server's usage
	Misses  Dist // TTFT of the others whose usage tells of a cache
	Connect Dist
	TPOT    Dist
	ITL     Dist
	ICL     Dist
	E2E     Dist

	InFlight          CountStat   // requests in flight
	DecodeConcurrency Concurrency // streams between first and last token
	LittlesLaw        Opt[float64]
	Waves             float64 // completed requests per stream

	Started       int // in flight when the span began, or sent inside it
	Finished      int
	Failed        int
	InFlightAtEnd int
	Failures      map[string]int
	ErrorRate     Opt[float64]
	Backoff       time.Duration

	TokenSource      TokenSource
	ScaledShare      float64 // share of tokens that were scaled from tokens per chunk
	TokensPerChunk   Opt[float64]
	HiddenShare      Opt[float64]
	CachedShare      Opt[float64]
	OutputLengthMean Opt[float64]
	PromptTokensMean Opt[float64]
	Models           map[string]int
	Fingerprints     map[string]int
	Headers          map[string]int // by "Name: value", those that were recorded

	Canary Opt[Canary] // undefined without questions with known answers

	ConnectionsOpened, ConnectionsReused int
	Replayed, Retries                    int
	DispatchDelay                        Dist // time a worker took from one request's end to its next send, think time excluded
	Client                               Opt[ClientHealth]
	Server                               Opt[ServerStats] // undefined without the server's own metrics
	Warnings                             []Warning
}

// Canary is what came of the questions with known answers in a step.
type Canary struct {
	Asked    int // that got an answer
	Passed   int // answered as expected
	Rate     float64
	Lo, Hi   float64 // its 95 % interval by Wilson's score
	Length   float64 // mean output tokens
	LengthSD float64 // 0 with one answer
}

// ClientHealth says how far the measuring client, not the endpoint, was behind in a
// step, and whether a figure of the step is wrong because of it. Of what was measured
// per visit it holds the worst. Times are seconds.
type ClientHealth struct {
	CPU     float64 // share used of the cores that it may use, 0…1
	Cores   int     // that it may use at once
	GCPause float64 // stop-the-world pauses

	LagP50, LagP99   float64      // from the arrival of a chunk until it was read
	LagClock         string       // ClockKernel: of the chunks themselves; ClockUser: not known, WakeP50 and WakeP99 instead
	WakeP50, WakeP99 float64      // how late the process woke up: the larger of its timers (beyond 1 ms, which is their grain) and its scheduler
	Coalesced        Opt[float64] // share of the chunks that shared their read, and so their stamp, with an earlier one
	Refill           Opt[float64] // share of the load that was missing because streams stood empty between two requests

	Bound  bool
	Reason string // in words, with the figure; empty unless Bound
}

// SLO says whether a step meets the limits of [Settings].SLO.
type SLO struct {
	Met  Opt[bool] // undefined: too few requests to tell
	Text string    // the first limit that does not hold, and why, in words
}

// CountStat is the time-weighted mean and the peak of a count.
type CountStat struct {
	Mean float64
	Peak int
	OK   bool // defined
}

// Concurrency is the time-weighted distribution of a count of streams.
type Concurrency struct {
	Mean      float64
	Mode      int
	P90       int
	Peak      int
	PeakShare float64 // share of time spent at the peak
	AboveP90  float64 // share of time spent above P90
	PeakInAll float64 // share of windows in which the peak was touched
	OK        bool
}
