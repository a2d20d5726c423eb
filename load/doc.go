// Package load is the vocabulary of kneesweep: what is asked of an endpoint and
// what was measured, and nothing else. It imports only the standard library and
// everybody may import it.
//
// Times are offsets from one epoch on the monotonic clock (time.Duration); the
// wall clock appears once, in [Run.Started]. Rates and spans in a [Step] are
// float64 seconds, tokens/s and requests/s. A value that may be undefined is an
// [Opt]; undefined is never written as 0, -1 or NaN.
//
// All types are plain values: they are safe for concurrent reading, and not for
// concurrent writing.
package load
