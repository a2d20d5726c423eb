package sweep

import (
	"context"
	"time"

	"kneesweep/analysis/steady"
	"kneesweep/load"
)

const (
	shortestWindow = time.Second
)

// warm waits until the visit may be measured: the pool is down to its level, at
// least the asked number of requests was discarded, and every stream has ended
// one, or twice as many requests as streams have ended, or three times the
// previous level's p95 E2E has passed.
func (l *Local) warm(ctx context.Context, v *visit) {
	l.mu.Lock()
	patience := 3 * l.prevP95
	l.mu.Unlock()
	var late <-chan time.Time
	if patience > 0 {
		t := time.NewTimer(patience)
		defer t.Stop()
		late = t.C
	}
	overdue := false
	for {
		if l.stopped(ctx, v) || l.warmedUp(v, overdue) {
			return
		}
		select {
		case <-l.changed:
		case <-late:
			overdue, late = true, nil
		case <-ctx.Done():
		}
	}
}

// warmedUp applies the rules of warm.
func (l *Local) warmedUp(v *visit, overdue bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := v.out.Level.Concurrency
	each := len(v.slots) >= n
	if l.alive > n || v.requests < l.cfg.Warmup || !each && v.settled < 2*n && !overdue {
		return false
	}
	v.out.Starved = max(0, n-len(v.slots))
	return true
}

// stopped marks a visit that must not go on and reports it.
func (l *Local) stopped(ctx context.Context, v *visit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		v.out.Ended = load.EndedInterrupted
	} else if why := v.trouble(l.cfg.MaxErrorRate); why != "" {
		v.out.Ended = why
	}
	return v.ended() != ""
}

// measure lays the windows of a visit one after the other. A visit that is not
// steady is lengthened once by half, and the earliest windows give way.
func (l *Local) measure(ctx context.Context, v *visit) {
	want := v.out.Level.Windows
	extra := (want + 1) / 2
	from, w, bins := l.startMeasuring(v, want+extra)
	done := l.lay(ctx, v, from, w, 0, want)
	if done < want || steady.Test(bins.counts(0, want*steady.BinsPerWindow)).Steady {
		return
	}
	if l.lay(ctx, v, from, w, want, extra) < extra {
		return
	}
	l.mu.Lock()
	v.out.Extended = true
	v.out.Windows = v.out.Windows[extra:]
	l.mu.Unlock()
}

// measureRequests lasts until the asked number of requests was sent and has
// ended, and cuts the time that this took into windows of equal length.
func (l *Local) measureRequests(ctx context.Context, v *visit) {
	from, _, _ := l.startMeasuring(v, 0)
	enough := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return v.counted >= v.out.Level.Requests
	}
	for !enough() {
		select {
		case <-l.changed:
		case <-ctx.Done():
		}
		if l.stopped(ctx, v) {
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := time.Duration(v.out.Level.Windows)
	took := max(n, l.now()-from+1) // the end of the last one belongs to it
	for i := range n {
		v.out.Windows = append(v.out.Windows, load.Span{From: from + took*i/n, To: from + took*(i+1)/n})
	}
	l.report(v)
}

// startMeasuring ends the warm-up: requests sent from now on are measured.
func (l *Local) startMeasuring(v *visit, windows int) (from, w time.Duration, bins *binning) {
	l.watch()
	l.mu.Lock()
	defer l.mu.Unlock()
	n := v.out.Level.Concurrency
	w = l.cfg.Window
	if w == 0 {
		if w = l.windows[n]; w == 0 {
			w = max(shortestWindow, v.median()/2)
			l.windows[n] = w
		}
	}
	from = l.now()
	v.warming = false
	v.requests, v.good, v.failed, v.throttled = 0, 0, 0, 0
	v.backoff, v.since = 0, from
	return from, w, v.meter.open(from, w, windows, steady.BinsPerWindow)
}

// lay waits out count windows after the first skip ones and returns how many
// were completed.
func (l *Local) lay(ctx context.Context, v *visit, from, w time.Duration, skip, count int) int {
	for i := range count {
		span := load.Span{From: from + time.Duration(skip+i)*w, To: from + time.Duration(skip+i+1)*w}
		if !l.until(ctx, v, span.To) {
			return i
		}
		l.mu.Lock()
		v.out.Windows = append(v.out.Windows, span)
		l.report(v)
		l.mu.Unlock()
	}
	return count
}

// until waits for a time; false means that the visit was stopped before.
func (l *Local) until(ctx context.Context, v *visit, t time.Duration) bool {
	timer := time.NewTimer(t - l.now())
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-l.changed:
		case <-ctx.Done():
		}
		if l.stopped(ctx, v) {
			return false
		}
	}
}
