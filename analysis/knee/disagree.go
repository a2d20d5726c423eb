package knee

import (
	"fmt"
	"math"
	"strings"

	"kneesweep/load"
)

// disagreeShare is how far from the knee another corner must lie to contradict it.
const disagreeShare = 0.25

// corners are the definitions that look for the same corner as the default one,
// and what it means when they find it elsewhere. The others are not expected to
// agree: a bound and 95 % of the plateau lie below it, a peak lies above it, and
// Kneedle can only name a level.
var corners = map[string]string{
	MethodSegmentedFree: "a second line with a slope of its own",
	MethodHyperbolaCap:  "a ramp that bends",
}

// Disagree says which of the estimates contradict the knee of r: those of the
// same corner that lie more than 25 % from it and outside its interval. ok is
// false if none does, or if the verdict is not [Found].
func Disagree(r Result, estimates []Estimate) (w load.Warning, ok bool) {
	if r.Verdict != Found {
		return load.Warning{}, false
	}
	k := r.Concurrency.V
	var others []string
	for _, e := range estimates {
		with, same := corners[e.Method]
		if v := e.Concurrency.V.Value; same && e.Concurrency.OK && math.Abs(v-k.Value) > disagreeShare*k.Value && (v < k.Lo || v > k.Hi) {
			others = append(others, fmt.Sprintf("at %.3g with %s (%s)", v, with, e.Method))
		}
	}
	if len(others) == 0 {
		return load.Warning{}, false
	}
	return load.Warnf(load.WarnEstimates, "the definitions of a knee disagree: it lies at %.3g with a straight ramp and a flat plateau (%s), %s",
		k.Value, r.Method, strings.Join(others, " and ")), true
}
