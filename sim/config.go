// Package sim is an embedded LLM endpoint with a known knee: continuous
// batching with slots, a FIFO admission queue, a KV cache, prefill cost, noise,
// drift, rate limits and faults. One engine serves it in three ways: as an
// http.Handler that speaks every dialect of the client over a real socket, the same over sim/pipe in
// virtual time, and as a sender that exchanges no bytes (Endpoint.Send).
package sim

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Config describes a simulated endpoint. Slots and StepBase are required.
type Config struct {
	Model           string        // name served; default "sim"
	Slots           int           // K: sequences that run at once
	StepBase        time.Duration // t0 of the step time t0 + t1·n for n running sequences
	StepPerSequence time.Duration // t1
	Prefill         time.Duration // added to a step for each prompt token admitted in it
	KVTokens        int           // KV cache: prompt (but for what PrefixCache has of it) plus longest answer of all running sequences; 0 = unlimited
	PrefixCache     int           // prompt tokens whose computation is kept, in blocks of 16, the least recently used forgotten first; 0 = none
	Queue           int           // requests that may wait; more are refused with 503; 0 = unlimited

	WorseAbove int // with more sequences than this in the batch, answers that begin are of other words; 0 = never

	OutputTokens   int  // length of an answer when the request sets no limit; default 40
	TokensPerChunk int  // tokens per event, as in speculative decoding; default 1
	HiddenTokens   int  // tokens generated and billed before the first visible one
	UsageInChunks  bool // usage grows with every chunk, in the dialects whose chunks can hold it: chat and completions
	NoUsage        bool // never reports usage

	// Noise is the coefficient of variation of the throughput of a window of
	// length NoiseWindow: a lognormal speed factor is redrawn each NoiseWindow. A
	// window laid across two draws averages them and varies less, by a factor of
	// 0.71 (half and half) to 1; StepJitter adds to it.
	Noise       float64
	NoiseWindow time.Duration
	StepJitter  float64       // coefficient of variation of single steps, on top
	Drift       float64       // change of speed, reached linearly at DriftOver and kept: −0.2 = 20 % slower
	DriftOver   time.Duration // from the start of the endpoint

	RateLimit  float64       // requests/s admitted; more get 429 with Retry-After; 0 = unlimited
	RateBurst  int           // requests that may come at once; default 1
	RetryAfter time.Duration // what a 429 asks for; rounded up to whole seconds on the wire; 0 = no header

	Faults Faults
	Seed   uint64
	Log    bool // keep what was sent, for Endpoint.Log
}

// Faults are probabilities per request, drawn in order of arrival.
type Faults struct {
	Reject      float64 // 500 instead of an answer
	StallFirst  float64 // accepted, then silence
	Stall       float64 // silence after the first token
	Truncate    float64 // connection closed after half of the answer
	StreamError float64 // an error object after the first token of a 200 stream
	Fallback    float64 // answered by another model, [FallbackModel], as well as ever; drawn beside the others
}

// FallbackModel is the model that answers in the place of the one asked for, and
// ServedBy the header that names it on every answer.
const (
	FallbackModel = "sim-fallback"
	ServedBy      = "X-Served-By"
)

// withDefaults returns c with its documented defaults filled in.
func (c Config) withDefaults() Config {
	if c.Model == "" {
		c.Model = "sim"
	}
	if c.OutputTokens == 0 {
		c.OutputTokens = 40
	}
	if c.TokensPerChunk == 0 {
		c.TokensPerChunk = 1
	}
	if c.NoiseWindow == 0 {
		c.NoiseWindow = time.Second
	}
	if c.RateBurst == 0 {
		c.RateBurst = 1
	}
	return c
}

// maxDrift is the largest change of speed that is believed.
const maxDrift = 1000

// Validate reports every problem of the configuration at once, naming the flag of
// the command.
func (c Config) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(c.Slots < 1, "--slots: %d, need at least 1", c.Slots)
	bad(c.StepBase <= 0, "--step: %v, need a positive duration", c.StepBase)
	bad(c.StepPerSequence < 0, "--step-per-sequence: %v is negative", c.StepPerSequence)
	bad(c.Prefill < 0, "--prefill: %v is negative", c.Prefill)
	bad(c.KVTokens < 0, "--kv-tokens: %d is negative", c.KVTokens)
	bad(c.PrefixCache < 0, "--prefix-cache: %d is negative", c.PrefixCache)
	bad(c.WorseAbove < 0, "--worse-above: %d is negative", c.WorseAbove)
	bad(c.Queue < 0, "--queue: %d is negative", c.Queue)
	bad(c.OutputTokens < 0, "--output-tokens: %d is negative", c.OutputTokens)
	bad(c.TokensPerChunk < 0, "--tokens-per-chunk: %d is negative", c.TokensPerChunk)
	bad(c.HiddenTokens < 0, "--hidden-tokens: %d is negative", c.HiddenTokens)
	bad(!(c.Noise >= 0 && c.Noise <= 1), "--noise: %g, need 0…1", c.Noise) // NaN too
	bad(c.NoiseWindow < 0, "--noise-window: %v is negative", c.NoiseWindow)
	bad(!(c.StepJitter >= 0 && c.StepJitter <= 1), "--jitter: %g, need 0…1", c.StepJitter)
	bad(!(c.Drift > -1 && c.Drift <= maxDrift), "--drift: %g, need more than -1 and at most %d", c.Drift, maxDrift)
	bad(c.DriftOver < 0, "--drift-over: %v is negative", c.DriftOver)
	bad(!(c.RateLimit >= 0) || math.IsInf(c.RateLimit, 0), "--rate-limit: %g is not a rate", c.RateLimit)
	bad(c.RateBurst < 0, "--rate-burst: %d is negative", c.RateBurst)
	bad(c.RetryAfter < 0, "--retry-after: %v is negative", c.RetryAfter)
	for _, f := range []struct {
		flag  string
		share float64
	}{
		{"--fault-reject", c.Faults.Reject}, {"--fault-stall-first", c.Faults.StallFirst}, {"--fault-stall", c.Faults.Stall},
		{"--fault-truncate", c.Faults.Truncate}, {"--fault-stream-error", c.Faults.StreamError}, {"--fault-fallback", c.Faults.Fallback},
	} {
		bad(!(f.share >= 0 && f.share <= 1), "%s: %g, need a probability 0…1", f.flag, f.share)
	}
	f := c.Faults
	bad(f.Reject+f.StallFirst+f.Stall+f.Truncate+f.StreamError > 1+1e-9, "--fault-…: the probabilities add up to more than 1")
	bad(c.NoUsage && c.UsageInChunks, "--no-usage and --usage-in-chunks: usage cannot both grow and be missing")
	return errors.Join(errs...)
}

// limit returns how many sequences of a shape can run at once.
func (c Config) limit(inputTokens, outputTokens int) int {
	limit := c.Slots
	if c.KVTokens > 0 {
		fit := c.KVTokens / max(1, inputTokens+outputTokens)
		limit = min(limit, max(1, fit)) // one runs even if it does not fit
	}
	return limit
}
