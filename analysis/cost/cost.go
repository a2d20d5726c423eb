// Package cost puts prices on what was measured. Figures are in the currency of the
// prices. It is pure, and safe for concurrent use.
package cost

import (
	"math"

	"kneesweep/load"
)

const (
	million = 1e6
	hour    = 3600.0 // seconds
)

// Of is what the output of a level costs; it is undefined without prices, and
// where the level does not tell what they need.
//
// By tokens, with p input and o output tokens of a mean request and the share c of
// the input served from a cache, a million output tokens cost
//
//	output + (p/o) · ((1−c)·input + c·cached)
//
// where a level that does not tell its c has none. By the hour, with X output
// tokens/s, they cost
//
//	10⁶ · hour · GPUs / (3600 · X · duty)
//
// with the interval of X turned over. One unit of money per hour buys
// 10⁶ / (3600 · cost) tokens/s.
func Of(s load.Step, p load.Prices) load.Opt[load.Cost] {
	var e load.Estimate
	switch {
	case p == load.Prices{}:
		return load.Opt[load.Cost]{}
	case p.Hour > 0:
		if !s.Throughput.OK {
			return load.Opt[load.Cost]{}
		}
		at := func(x float64) float64 { return million * p.PerHour() / (hour * x * p.Duty) }
		x := s.Throughput.V
		e = load.Estimate{Value: at(x.Value), Lo: at(x.Hi), Hi: at(x.Lo)}
		if x.Lo <= 0 { // no tokens may be all that it gives
			e.Hi = math.NaN()
		}
	default:
		v := p.Output
		if p.Input > 0 || p.Cached > 0 {
			if !s.PromptTokensMean.OK || s.OutputLengthMean.V <= 0 {
				return load.Opt[load.Cost]{}
			}
			c := s.CachedShare.V
			v += s.PromptTokensMean.V / s.OutputLengthMean.V * ((1-c)*p.Input + c*p.Cached)
		}
		e = load.Estimate{Value: v, Lo: math.NaN(), Hi: math.NaN()}
	}
	if !(e.Value > 0) || math.IsInf(e.Value, 0) {
		return load.Opt[load.Cost]{}
	}
	return load.Some(load.Cost{PerMillion: e, Rate: million / (hour * e.Value)})
}

// Spent is what it cost to use the endpoint so; undefined without prices. By the
// hour the whole time is paid, whatever the duty.
func Spent(u load.Used, p load.Prices) load.Opt[float64] {
	switch {
	case p == load.Prices{}:
		return load.Opt[float64]{}
	case p.Hour > 0:
		return load.Some(p.PerHour() * u.Seconds / hour)
	}
	fresh := u.InputTokens - u.CachedTokens
	return load.Some((float64(fresh)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / million)
}

// AtMost is what so many tokens, or so many seconds, cost at most; undefined
// without prices. Tokens are those of requests with input prompt tokens and at
// most output ones; 0 says that the lengths are not known, and then every token
// may be of the dearest kind. Answers may be shorter than asked, and leave more of
// the tokens to prompts: the mix that costs most is one of the two ends.
func AtMost(tokens, input, output int, seconds float64, p load.Prices) load.Opt[float64] {
	switch {
	case p == load.Prices{}:
		return load.Opt[float64]{}
	case p.Hour > 0:
		return load.Some(p.PerHour() * seconds / hour)
	}
	prompt := max(p.Input, p.Cached)
	each := max(prompt, p.Output)
	if input > 0 && output > 0 {
		each = max(prompt, (float64(input)*prompt+float64(output)*p.Output)/float64(input+output))
	}
	return load.Some(float64(tokens) * each / million)
}
