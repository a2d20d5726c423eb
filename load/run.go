package load

import "time"

// Status says how a run ended.
type Status string

// The ways a run ends.
const (
	StatusComplete    Status = "complete"
	StatusInterrupted Status = "interrupted"
	StatusStopped     Status = "stopped"
)

// Run is where a set of figures came from. It holds no secret: Target is masked.
type Run struct {
	ID          string
	Started     time.Time // wall clock of the epoch
	Tool        string    // name and version that measured
	Target      string
	Model       string
	Label       string
	Seed        uint64
	DatasetHash string
	Status      Status
	StopReason  string
	Request     RequestShape
	Settings    Settings
	Truth       *Truth   // the embedded simulator's own answer
	Pauses      []Pause  `json:",omitempty"` // between the processes that measured it one after the other
	Preflight   *Refusal // of the request before the first level; nil = it was answered, and the sweep began
}

// Refusal is a request that failed before anything was measured.
type Refusal struct {
	Cause Cause
	Error string // masked; may be empty
}

// RequestShape is what was asked of the endpoint.
type RequestShape struct {
	InputTokensAsked  int
	InputTokensGot    Opt[float64] // mean of what the server counted
	OutputTokensAsked int
	InputLengths      Lengths `json:",omitzero"` // of prompts, where they are drawn
	OutputLengths     Lengths `json:",omitzero"` // of the longest answers, where they are drawn
	LeftOut           int     `json:",omitzero"` // bad lines of a file of prompts that are not asked
	Stream            bool
	Dialect           string
	CacheMode         string `json:",omitzero"` // one of Cache…; empty in runs from before there were modes: natural
	Cache             string // what the prompts do to a prefix cache, in words
	Source            string // where the prompts come from, in words
	Extra             string // JSON object of what was added to every request, without secrets; empty = nothing
	Insecure          bool   // the server's certificate was not checked
}

// What prompts do to a prefix cache (--cache).
const (
	CacheNatural = "natural" // the prompts are asked as they are
	CacheCold    = "cold"    // no request begins as another one did
	CacheWarm    = "warm"    // every prompt was sent before
)

// Lengths are numbers of tokens that differ from request to request. The zero
// Lengths say that they do not.
type Lengths struct {
	Asked string  // the distribution, as it was asked for
	Mean  float64 // its mean
}

// Settings is how it was measured.
type Settings struct {
	Window       time.Duration // 0 = chosen per level: the larger of 1 s and half the median E2E
	Measurements int           // windows per level
	Passes       int
	Requests     int     // per level, instead of windows of a length; 0 = not asked for
	Precision    float64 // wanted half-width of the knee's interval, as a fraction of it; 0 = the levels were given
	Think        time.Duration
	Warmup       int
	MaxErrorRate float64
	SLO          string // the limits asked for, in the canonical form of analysis/slo; empty = none
	Prices       Prices `json:",omitzero"`
	Journal      string // what the journal keeps: one of the Keep constants; empty = KeepChunks

	Rates    []float64 `json:",omitempty"` // requests/s offered in an open loop, ascending; empty = a closed loop
	Arrivals string    `json:",omitempty"` // how they arrive, in words
	Replay   bool      `json:",omitempty"` // they are those of a trace, whose mean rate stands in Rates
}

// What a journal keeps of the requests of a run.
const (
	KeepChunks   = "chunks"   // the arrival of every chunk: any figure can be computed again
	KeepRequests = "requests" // the latencies of every request, and the steps of the run
	KeepNone     = "none"     // the steps of the run
)

// Summary is what a run came to, for journals that keep no chunks.
type Summary struct {
	InputTokensGot Opt[float64] // mean prompt as the server counted it
	Used           *Used        // nil without a request
	Steps          []Step       // ascending
}

// Truth is the knee that a simulated endpoint was built with.
type Truth struct {
	Knee           float64
	AdmissionLimit float64
}

// Open reports whether requests came at a rate, and not from a number of streams.
func (s *Settings) Open() bool { return len(s.Rates) > 0 }

// Level is one visit to be made: hold N requests in flight for a number of windows.
type Level struct {
	Concurrency int
	Windows     int
	Pass        int  // 0 = the first way up
	Requests    int  // measure until so many have been sent and ended; 0 = windows of a length
	Scout       bool // a glance on the way to the knee, with few windows
	Again       bool // takes the place of earlier visits, which contradicted the levels beside it
}

// Pause is a stretch of time in which nobody measured: the sweep was interrupted, and
// resumed later.
type Pause = Span

// Span is a half-open stretch of time [From, To).
type Span struct{ From, To time.Duration }

// Seconds returns the length of the span.
func (s Span) Seconds() float64 { return (s.To - s.From).Seconds() }

// Holds reports whether t lies in [From, To).
func (s Span) Holds(t time.Duration) bool { return s.From <= t && t < s.To }

// Visit is one stay at a level, as it happened.
type Visit struct {
	Index    int
	Level    Level
	Started  time.Duration // when the level was set
	Windows  []Span        // contiguous measurement windows; fewer than asked if the visit was cut
	Extended bool          // lengthened once because it was not steady
	Starved  int           // streams that had not finished one request when the warm-up ended
	Backoff  time.Duration // summed over workers: time spent waiting after failures
	Ended    string        // empty = all windows measured; else why not: one of the Ended constants
	Client   Process
	Live     Live
}

// Live is what the controller saw of a visit by its end. Policies steer by it;
// the result never comes from it, since requests were still in flight.
type Live struct {
	Rates []float64     // tokens/s of each window, by the chunks that had arrived
	TTFT  time.Duration // medians over the requests that ended during the visit; 0 = none
	TPOT  time.Duration
	E2E   time.Duration
	// Streams between first and last token, on average: N times the share of the
	// requests' time that lies there; 0 = unknown.
	Decoding float64
}

// The ways a visit ends early ([Visit.Ended]).
const (
	EndedRunning     = "running" // not over yet; in a journal: the process died during it
	EndedThrottled   = "throttled"
	EndedFailing     = "failing"
	EndedInterrupted = "interrupted"
)

// Span returns the whole measured span of the visit; false without a window.
func (v *Visit) Span() (Span, bool) {
	if len(v.Windows) == 0 {
		return Span{}, false
	}
	return Span{v.Windows[0].From, v.Windows[len(v.Windows)-1].To}, true
}

// Process is what the measuring process went through while a visit was measured.
type Process struct {
	CPU      float64 // share used of the cores that it may use, 0…1
	Cores    int     // that it may use at once: GOMAXPROCS, which knows affinity and a container's limit
	LagP50   float64 // seconds by which a 10 ms timer fired late; median
	LagP99   float64 // 99th percentile of that
	SchedP50 float64 // seconds that a goroutine which could run waited for a core; median
	SchedP99 float64 // 99th percentile of that
	GCPause  float64 // seconds of stop-the-world pauses
}

// cpuFull is the share of its cores from which on a process may be what limits: so
// near to the end what waits for a core waits long, and nobody can tell from inside.
const cpuFull = 0.90

// Full reports whether the process used up the cores that it may use.
func (p Process) Full() bool { return p.CPU >= cpuFull }

// Beat is a sign of life, written once a second.
type Beat struct {
	At       time.Duration
	InFlight int
}

// UpsertVisit puts v into list, in place of an earlier state of the same visit.
func UpsertVisit(list []Visit, v Visit) []Visit {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Index == v.Index {
			list[i] = v
			return list
		}
	}
	return append(list, v)
}
