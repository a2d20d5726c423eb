package sweep

import (
	"slices"
	"sync/atomic"
	"time"

	"kneesweep/load"
)

// visit is the running account of one stay at a level. All but the meter is
// guarded by Local.mu.
type visit struct {
	out     load.Visit
	meter   meter
	warming bool
	seq     [2]int         // prompts given out: measured, warm-up
	turns   map[int]*turns // by worker

	requests  int          // that ended, of any visit
	settled   int          // of those, while no more streams than asked for were left
	good      int          // of those, successes
	failed    int          // failures, cancellations aside
	throttled int          // of those, 429 or with Retry-After
	counted   int          // sent and ended while measuring
	slots     map[int]bool // live workers that ended a request in this visit
	e2e       []time.Duration
	ttft      []time.Duration
	tpot      []time.Duration
	done      []ended

	inBackoff int
	since     time.Duration // of the last change of inBackoff
	backoff   time.Duration
}

func newVisit(out load.Visit) *visit {
	return &visit{out: out, warming: true, slots: map[int]bool{}, turns: map[int]*turns{}, since: out.Started}
}

func (v *visit) nextSeq() int {
	i := 0
	if v.warming {
		i = 1
	}
	v.seq[i]++
	return v.seq[i] - 1
}

// turns are what a worker was given in a visit.
type turns struct{ stream, given int }

// nextTurn says which stream of the visit a worker is, in the order in which they
// first asked, and how many prompts it was given before.
func (v *visit) nextTurn(slot int) (stream, turn int) {
	t := v.turns[slot]
	if t == nil {
		t = &turns{stream: len(v.turns)}
		v.turns[slot] = t
	}
	t.given++
	return t.stream, t.given - 1
}

// add counts a request that ended; down says that the pool was down to the level.
// Failures count only against their own level, not against what an earlier, higher
// level left behind.
func (v *visit) add(slot int, s *load.Sample, down bool) {
	if s.Cause == load.CauseCanceled {
		return
	}
	v.requests++
	if down {
		v.settled++
	}
	if s.Visit == v.out.Index && !s.Warmup {
		v.counted++
	}
	v.slots[slot] = true
	if s.Failed() {
		if !down || s.Visit != v.out.Index {
			return
		}
		v.failed++
		if s.Status == 429 || s.RetryAfter.OK {
			v.throttled++
		}
		return
	}
	v.good++
	v.e2e = append(v.e2e, s.E2E())
	if t := s.TTFT(); t.OK {
		v.ttft = append(v.ttft, t.V)
	}
	if t := s.TPOT(); t.OK {
		v.tpot = append(v.tpot, time.Duration(t.V*float64(time.Second)))
	}
	e := ended{at: s.End, tokens: s.OutputTokens, chunks: len(s.Chunks), whole: s.E2E()}
	if n := len(s.Chunks); n > 1 {
		e.decoding = s.Chunks[n-1].At - s.Chunks[0].At
	}
	v.done = append(v.done, e)
}

// tick adds up the time that workers spent in back-off until now.
func (v *visit) tick(now time.Duration) {
	v.backoff += time.Duration(v.inBackoff) * (now - v.since)
	v.since = now
}

// ended says why the visit is over, or "".
func (v *visit) ended() string {
	if v.out.Ended == load.EndedRunning {
		return ""
	}
	return v.out.Ended
}

// trouble says why a visit must end early: half of its streams waiting after
// failures, or the limit on the error rate passed on enough requests.
func (v *visit) trouble(limit float64) string {
	n := v.out.Level.Concurrency
	if v.failed < 5 || float64(v.failed) <= limit*float64(v.requests) {
		return ""
	}
	stuck := 2*v.inBackoff >= n && 2*v.failed >= n
	if !stuck && v.requests < max(20, n) {
		return ""
	}
	return v.failing()
}

// hopeless says how a visit ended that was measured to its end: not well if nothing
// but failures came, however few its windows had room for.
func (v *visit) hopeless() string {
	if v.failed == 0 || v.good > 0 {
		return ""
	}
	return v.failing()
}

// failing tells throttling from other failures.
func (v *visit) failing() string {
	if 2*v.throttled >= v.failed {
		return load.EndedThrottled
	}
	return load.EndedFailing
}

func (v *visit) p95() time.Duration    { return quantile(v.e2e, 0.95) }
func (v *visit) median() time.Duration { return quantile(v.e2e, 0.5) }

// quantile is the nearest-rank quantile; 0 without values. It steers the sweep
// and is never reported.
func quantile(d []time.Duration, p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Clone(d)
	slices.Sort(s)
	return s[min(len(s)-1, int(p*float64(len(s))))]
}

// meter counts token-bearing chunks as they arrive, per bin of the measured
// span. arrived is called by every stream; the rest by the controller.
type meter struct {
	span atomic.Pointer[binning]
}

// binning is a span cut into bins of equal width.
type binning struct {
	from  time.Duration
	width time.Duration
	bins  []atomic.Int64
}

func (m *meter) arrived(at time.Duration) {
	b := m.span.Load()
	if b == nil || at < b.from {
		return
	}
	if i := int((at - b.from) / b.width); i < len(b.bins) {
		b.bins[i].Add(1)
	}
}

// open starts counting bins: perWindow for each of n windows of length w.
func (m *meter) open(from, w time.Duration, n, perWindow int) *binning {
	b := &binning{from: from, width: max(1, w/time.Duration(perWindow)), bins: make([]atomic.Int64, n*perWindow)}
	m.span.Store(b)
	return b
}

// counts returns bins [from, to) as numbers.
func (b *binning) counts(from, to int) []float64 {
	out := make([]float64, 0, to-from)
	for i := from; i < to && i < len(b.bins); i++ {
		out = append(out, float64(b.bins[i].Load()))
	}
	return out
}
