package load

import "time"

// Server is what a server says of itself at one moment, in its /metrics.
type Server struct {
	At            time.Duration // when its answer had arrived, offset from the run's epoch
	Engine        string        // "vllm", "sglang", "tgi" or "llama.cpp"
	Running       Opt[float64]  // requests in work
	Waiting       Opt[float64]  // requests in its queue
	KVUse         Opt[float64]  // share of the KV cache in use, 0…1
	Preemptions   Opt[float64]  // counted since it started
	PrefixHits    Opt[float64]  // prompt tokens found in the prefix cache, counted since it started
	PrefixQueries Opt[float64]  // prompt tokens looked for, counted since it started
}

// ServerStats is what a server said of itself while a level was measured.
type ServerStats struct {
	Engine         string
	Readings       int
	Running        Opt[Range]
	Waiting        Opt[Range]
	KVUse          Opt[Range]
	Preemptions    Opt[float64] // during the windows
	PrefixHitShare Opt[float64] // of the prompt tokens looked for during the windows
}

// Range is the mean and the highest of some readings.
type Range struct{ Mean, Max float64 }
