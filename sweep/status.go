package sweep

import (
	"time"

	"kneesweep/load"
)

// Status is a snapshot of a running sweep, for a progress line.
type Status struct {
	Level    load.Level
	Visit    int           // index of the visit
	Warming  bool          // still in its warm-up
	Window   int           // windows completed in this visit
	Chunks   int64         // token-bearing chunks since the sweep began
	TTFT     time.Duration // median of this visit's finished requests; 0 = none yet
	InFlight int
	Failed   int
	At       time.Duration // since the epoch
}

// Status returns a snapshot; safe to call from any goroutine.
func (l *Local) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{InFlight: int(l.inFlight.Load()), Chunks: l.chunks.Load(), At: l.now()}
	if v := l.visit; v != nil {
		s.Level, s.Visit, s.Warming = v.out.Level, v.out.Index, v.warming
		s.Window, s.Failed = len(v.out.Windows), v.failed
		recent := v.ttft
		s.TTFT = quantile(recent[max(0, len(recent)-200):], 0.5)
	}
	return s
}
