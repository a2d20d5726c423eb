package sweep

import (
	"time"
)

const (
	probeEvery  = 500 * time.Millisecond
	probeMisses = 10 // answers in a row without figures, after which the server is left alone
)

// probe asks the server how it is until the sweep ends. A server under load may
// be late with its answer; one that has stopped answering is not asked for ever.
func (l *Local) probe() {
	t := time.NewTicker(probeEvery)
	defer t.Stop()
	for misses := 0; misses < probeMisses; {
		s, err := l.cfg.Probe(l.ctx)
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil:
			misses++
		default:
			misses = 0
			l.events.put(Event{Server: &s})
		}
		select {
		case <-t.C:
		case <-l.ctx.Done():
			return
		}
	}
}
