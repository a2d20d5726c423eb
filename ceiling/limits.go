package ceiling

import (
	"fmt"

	"kneesweep/load"
)

// The limits within which a machine holds a number of streams.
const (
	leastShare = 0.95 // of the streams that are in flight, and of the events sent that arrive
	leastSent  = 0.80 // of the events asked for that the source must send; it shares the machine
	mostError  = 0.05 // of the interval between two tokens, of the 99th percentile of the stamps' errors
)

// LimitsText says the limits in words.
const LimitsText = "no request fails, at least 95 % of the streams are in flight, the source sends at least 80 % of the events asked for and 95 % of those arrive, " +
	"99 % of the stamps are right within 5 % of the interval, and the client is not at its limit by the rules of a sweep"

// judge names the limits that do not hold.
func (l *Level) judge(visit load.Visit, shape Shape) (limits []string) {
	broken := func(cond bool, format string, args ...any) {
		if cond {
			limits = append(limits, fmt.Sprintf(format, args...))
		}
	}
	if len(visit.Windows) == 0 {
		return []string{"not every stream had its first answer in time to be measured"}
	}
	broken(visit.Ended != "", "it took too long")
	broken(l.Failed > 0, "%d requests failed", l.Failed)
	broken(l.InFlight < leastShare*float64(l.Streams), "%.0f streams in flight", l.InFlight)
	broken(l.Sent < leastSent*l.Asked, "the source beside it sent %.0f events/s of %.0f", l.Sent, l.Asked)
	broken(l.Events < leastShare*l.Sent, "%.0f events/s arrived of %.0f that were sent", l.Events, l.Sent)
	limit := mostError * shape.Interval.Seconds()
	broken(l.Error.Count == 0, "no stamp of the source arrived")
	broken(l.Error.P99 > limit, "stamps wrong by %.3g ms (p99), %.3g allowed", 1e3*l.Error.P99, 1e3*limit)
	broken(l.Client.Bound, "%s", l.Client.Reason)
	return limits
}

// Largest is the highest number of streams that holds; 0 = none. A lower level that
// does not says only that the machine was busy with something else then.
func Largest(levels []Level) int {
	largest := 0
	for i := range levels {
		if levels[i].Holds() {
			largest = max(largest, levels[i].Streams)
		}
	}
	return largest
}

// Over reports whether higher levels are in vain: the last two do not hold.
func Over(levels []Level) bool {
	n := len(levels)
	return n >= 2 && !levels[n-1].Holds() && !levels[n-2].Holds()
}
