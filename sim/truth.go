package sim

import "kneesweep/load"

// Truth computes, from the configuration alone, where closed-loop throughput of
// requests of one shape stops growing, and how many sequences run at once.
//
// With m tokens in S = ceil(hidden/g) + ceil(visible/g) steps of g tokens, n
// running sequences share a step of mean length
//
//	s(n) = t0 + t1·n + (n/S)·P·(input − cached)
//
// so X(n) = n·m / (S·s(n)) grows up to the limit set by slots and KV cache,
// unless a rate limit R is met before: N / (S·s(N)) = R. Noise and drift are left
// out: they move throughput, not the corner. So is the way of a client from one
// answer to its next request: if that comes after the next step has begun, as
// over real sockets, a stream idles for the rest of the step and the corner lies
// higher by up to 1/S.
func (c Config) Truth(inputTokens, outputTokens int) load.Truth {
	return c.TruthWarm(inputTokens, outputTokens, 0)
}

// TruthWarm is Truth where the prefix cache has so many tokens of every prompt.
func (c Config) TruthWarm(inputTokens, outputTokens, cached int) load.Truth {
	c = c.withDefaults()
	if outputTokens == 0 {
		outputTokens = c.OutputTokens
	}
	limit := float64(c.limit(inputTokens-cached, outputTokens+c.HiddenTokens))
	truth := load.Truth{Knee: limit, AdmissionLimit: limit}
	if c.RateLimit > 0 {
		steps := float64(c.steps(outputTokens))
		t0, t1 := c.StepBase.Seconds(), c.StepPerSequence.Seconds()
		prefill := c.Prefill.Seconds() * float64(inputTokens-cached)
		if rest := 1 - c.RateLimit*(steps*t1+prefill); rest > 0 {
			truth.Knee = min(limit, c.RateLimit*steps*t0/rest)
		}
	}
	return truth
}

// steps returns how many engine steps an answer takes.
func (c Config) steps(outputTokens int) int {
	g := c.TokensPerChunk
	return (c.HiddenTokens+g-1)/g + (outputTokens+g-1)/g
}
