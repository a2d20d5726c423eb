package sweep

import (
	"fmt"

	"kneesweep/load"
)

// lid is the lowest level at which the endpoint failed or throttled: neither it nor
// a higher one is visited again, and two such visits in a row end the sweep.
type lid struct {
	level int // 0 = none
	ended string
	inRow int
}

// note takes the next visit of a sweep.
func (l *lid) note(v *load.Visit) {
	if v.Ended == "" {
		l.inRow = 0
		return
	}
	l.level, l.ended = v.Level.Concurrency, v.Ended
	l.inRow++
}

// forbids reports whether a level may no longer be visited.
func (l *lid) forbids(n int) bool { return l.level > 0 && n >= l.level }

// stop ends the sweep after two failed visits in a row.
func (l *lid) stop() (Outcome, bool) {
	if l.inRow < 2 {
		return Outcome{}, false
	}
	return stopped("two levels in a row ended as %s, the last at %d streams", l.ended, l.level), true
}

// cut is how a sweep ends whose other levels are done: Outcome{} without a lid.
func (l *lid) cut() Outcome {
	if l.level == 0 {
		return Outcome{}
	}
	return stopped("levels from %d streams on ended as %s", l.level, l.ended)
}

func stopped(format string, args ...any) Outcome {
	return Outcome{Status: load.StatusStopped, Reason: fmt.Sprintf(format, args...)}
}

func completed(format string, args ...any) Outcome {
	return Outcome{Status: load.StatusComplete, Reason: fmt.Sprintf(format, args...)}
}
