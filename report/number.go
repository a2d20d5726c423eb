package report

import (
	"math"
	"time"

	"kneesweep/load"
)

// number is a float64 that becomes null in JSON unless it is defined and finite.
type number = load.Opt[float64]

// finite is x as a number, undefined for NaN and the infinities.
func finite(x float64) number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return number{}
	}
	return load.Some(x)
}

// finiteOpt is o without a value that JSON cannot hold.
func finiteOpt(o load.Opt[float64]) number {
	if !o.OK {
		return number{}
	}
	return finite(o.V)
}

// orNaN is the number as a plain float64, NaN when it is undefined.
func orNaN(n number) float64 {
	if !n.OK {
		return math.NaN()
	}
	return n.V
}

// millis turns seconds into milliseconds, rounded to 1e-9 ms: that hides the
// noise of the conversion, and reading such a value and writing it again gives
// the same digits.
func millis(seconds float64) number {
	ms := math.Round(seconds*1e12) / 1e9
	if math.IsInf(ms, 0) {
		ms = seconds * 1e3
	}
	return finite(ms)
}

// millisOf is a duration in milliseconds.
func millisOf(d time.Duration) number { return millis(d.Seconds()) }

// millisOpt is a duration in milliseconds, undefined when d is.
func millisOpt(d load.Opt[time.Duration]) number {
	if !d.OK {
		return number{}
	}
	return millisOf(d.V)
}

// seconds turns milliseconds back into seconds; undefined gives 0.
func seconds(ms number) float64 { return ms.V / 1e3 }

// duration turns milliseconds back into a duration; undefined gives 0.
func duration(ms number) time.Duration {
	return time.Duration(math.Round(ms.V * 1e6))
}

// text is a string that becomes null in JSON when it is empty.
func text[S ~string](s S) load.Opt[string] {
	return load.Opt[string]{V: string(s), OK: s != ""}
}

// positive is a count that becomes null in JSON when it is 0, where 0 means
// "not given".
func positive(n int) load.Opt[int] { return load.Opt[int]{V: n, OK: n > 0} }

// list is s, or an empty list instead of nil, so that JSON shows [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// counts is m, or an empty map instead of nil, so that JSON shows {} and not null.
func counts(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}
