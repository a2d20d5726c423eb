package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"kneesweep/analysis/slo"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// sloConfidence is the one-sided confidence with which a limit must hold.
const sloConfidence = 0.95

// excess is how many of n requests lie above a limit. For gaps between tokens
// share is that of the gaps, and over what share makes of n.
type excess struct {
	over, n int
	share   float64
	bins    map[time.Duration]*bin // by the window's length of time
}

// bin is the requests of a stretch of time: how many, and how many above.
type bin struct{ over, n float64 }

// count takes a request whose figure was closed at a time, in bins of width.
func (e *excess) count(over bool, at, width time.Duration) {
	b := e.bins[at/width]
	if b == nil {
		b = &bin{}
		e.bins[at/width] = b
	}
	b.n++
	e.n++
	if over {
		b.over++
		e.over++
	}
}

// independent is the excess as so many independent requests as the given ones
// are worth. Requests close in time share the state of the endpoint; the factor
// is by how much the counts of the bins scatter more than those of independent
// requests would.
func (e excess) independent() (over, n int) {
	p, total := e.share, float64(e.n)
	if e.over == 0 || e.over == e.n || e.bins == nil {
		return e.over, e.n
	}
	scatter := 0.0
	for _, at := range slices.Sorted(maps.Keys(e.bins)) {
		b := e.bins[at]
		scatter += (b.over - p*b.n) * (b.over - p*b.n)
	}
	factor := scatter / (total * p * (1 - p))
	if factor <= 1 {
		return e.over, e.n
	}
	n = max(1, int(total/factor))
	return int(math.Ceil(p*float64(n) - 1e-9)), n
}

// objectives judges a valid step by the limits of the run, from its requests.
func (d *levelData) objectives(st *load.Step) {
	limits, err := slo.Parse(d.run.Settings.SLO)
	if err != nil || len(limits) == 0 || !st.Valid {
		return
	}
	result := load.SLO{Met: load.Some(true), Text: "every limit holds at 95 % confidence"}
	for _, l := range limits {
		met, text := d.excess(l).judge(l)
		switch {
		case met == load.Some(false):
			result = load.SLO{Met: met, Text: text}
		case !met.OK && result.Met.OK:
			result = load.SLO{Met: met, Text: text}
		}
		if result.Met == load.Some(false) {
			break
		}
	}
	st.SLO = load.Some(result)
	st.Goodput = d.goodput(limits)
}

// judge says whether a limit holds at the confidence asked for, and else why
// not: it is missed when more lie above than may, and not shown while there are
// too few requests to tell.
func (e excess) judge(l slo.Limit) (met load.Opt[bool], text string) {
	q := l.Allowed
	above := "above it"
	if l.Figure == slo.ErrorRate {
		above = "failed"
	}
	seen := fmt.Sprintf("%d of %d requests %s", e.over, e.n, above)
	if l.Figure == slo.ITL && e.over > 0 {
		seen = fmt.Sprintf("%s %% of the gaps of %d requests above it", figure(100*e.share), e.n)
	}
	over, n := e.independent()
	switch {
	case e.n == 0:
		return met, fmt.Sprintf("%s is not shown: no request has this figure", l)
	case stat.ShareBelow(over, n, q, sloConfidence):
		return load.Some(true), ""
	case e.share > q && (e.n >= stat.TrialsNeeded(0, q, sloConfidence) || stat.ShareAbove(e.over, e.n, q, sloConfidence)):
		return load.Some(false), fmt.Sprintf("%s is missed: %s, %s %% may be", l, seen, figure(100*q))
	}
	if n < e.n {
		seen += fmt.Sprintf(" (so bunched that all tell as much as %d)", n)
	}
	return met, fmt.Sprintf("%s is not shown: %s, and even with no more of them it takes %d requests",
		l, seen, max(n+1, stat.TrialsNeeded(over, q, sloConfidence)))
}

// excess counts the requests above a limit, each in the span in which its figure
// is closed, as the distributions do. A failed request has waited for ever.
func (d *levelData) excess(l slo.Limit) excess {
	if l.Figure == slo.ITL {
		return d.excessGaps(l)
	}
	e := excess{bins: map[time.Duration]*bin{}}
	width := d.binWidth()
	d.each(func(s *load.Sample, span load.Span) {
		running := s.Cause == load.CauseCanceled
		failed := s.Failed() && !running
		over, ok, at := false, false, s.End
		switch {
		case failed:
			over, ok = true, span.Holds(s.End)
		case l.Figure == slo.ErrorRate:
			ok = !running && span.Holds(s.End)
		default:
			over, ok = exceeds(s, l)
			at = closing(s, l)
			ok = ok && span.Holds(at) && (!running || l.Figure == slo.TTFT)
		}
		if ok {
			e.count(over, at, width)
		}
	})
	if e.n > 0 {
		e.share = float64(e.over) / float64(e.n)
	}
	return e
}

// exceeds reports whether a request's figure is above the limit; ok is false if it
// has none.
func exceeds(s *load.Sample, l slo.Limit) (over, ok bool) {
	switch l.Figure {
	case slo.TTFT:
		t := s.TTFT()
		return t.V > l.Max, t.OK
	case slo.TPOT:
		p := s.TPOT()
		return p.V > l.Max.Seconds(), p.OK
	case slo.E2E:
		return s.E2E() > l.Max, true
	}
	return false, false
}

// closing is when the event came that closes a figure which the request has.
func closing(s *load.Sample, l slo.Limit) time.Duration {
	switch l.Figure {
	case slo.TTFT:
		return s.FirstToken().V
	case slo.TPOT:
		return s.LastToken().V
	}
	return s.End
}

// binWidth is the length of the level's windows.
func (d *levelData) binWidth() time.Duration {
	for i := range d.stays {
		if w := d.stays[i].Windows; len(w) > 0 && w[0].To > w[0].From {
			return w[0].To - w[0].From
		}
	}
	return time.Second
}

// excessGaps weighs the gaps between tokens. The gaps of one request are alike,
// so they count as one observation: n is the number of requests, and over what
// the share of gaps makes of it, rounded up. A failed request counts as one of
// average length with every gap above.
func (d *levelData) excessGaps(l slo.Limit) excess {
	var over, total float64
	requests, failed := 0, 0
	d.each(func(s *load.Sample, span load.Span) {
		if s.Failed() && s.Cause != load.CauseCanceled {
			if span.Holds(s.End) {
				failed++
			}
			return
		}
		if o, t := d.gapsAbove(s, span, l); t > 0 {
			over, total = over+o, total+t
			requests++
		}
	})
	e := excess{n: requests + failed}
	if e.n == 0 {
		return e
	}
	mean := 1.0
	if requests > 0 {
		mean = total / float64(requests)
	}
	e.share = (over + float64(failed)*mean) / (float64(e.n) * mean)
	e.over = int(math.Ceil(e.share*float64(e.n) - 1e-9))
	return e
}

// gapsAbove returns the weight of the gaps of a request that close inside span:
// that above the limit, and all.
func (d *levelData) gapsAbove(s *load.Sample, span load.Span, l slo.Limit) (over, total float64) {
	if len(s.Chunks) < 2 {
		return 0, 0
	}
	c := d.tokens.of(s)
	for i := 1; i < len(s.Chunks); i++ {
		w := c.tokensOf(s.Chunks[i])
		if w <= 0 || !span.Holds(s.Chunks[i].At) {
			continue
		}
		total += w
		if (s.Chunks[i].At-s.Chunks[i-1].At).Seconds()/w > l.Max.Seconds() {
			over += w
		}
	}
	return over, total
}

// goodput is the rate of the requests that ended well and kept every limit:
// where a figure has limits at several percentiles, the widest. It is undefined
// when a figure has no values at this level.
func (d *levelData) goodput(limits slo.Limits) load.Opt[float64] {
	widest := map[slo.Figure]slo.Limit{}
	for _, l := range limits {
		if w, there := widest[l.Figure]; l.Figure != slo.ErrorRate && (!there || l.Max > w.Max) {
			widest[l.Figure] = l
		}
	}
	seen := map[slo.Figure]bool{}
	good := 0
	d.each(func(s *load.Sample, span load.Span) {
		if s.Failed() || !span.Holds(s.End) {
			return
		}
		kept := true
		for f, l := range widest {
			over, ok := exceeds(s, l)
			if f == slo.ITL {
				o, t := d.gapsAbove(s, load.Span{From: s.Sent, To: s.End + 1}, l)
				over, ok = o > l.Allowed*t, t > 0
			}
			seen[f] = seen[f] || ok
			kept = kept && !(ok && over)
		}
		if kept {
			good++
		}
	})
	if t := d.seconds(); t > 0 && len(seen) == len(widest) {
		for _, ok := range seen {
			if !ok {
				return load.Opt[float64]{}
			}
		}
		return load.Some(float64(good) / t)
	}
	return load.Opt[float64]{}
}

// unjudged says of the valid steps of a table, which has no single requests,
// that they cannot be held against the limits.
func unjudged(run load.Run, steps []load.Step) {
	for i := range steps {
		if s := &steps[i]; run.Settings.SLO != "" && s.Valid && !s.SLO.OK {
			s.SLO = load.Some(load.SLO{Text: "single requests are not known, only their medians: not enough samples"})
		}
	}
}

// sloLevel is the highest valid level that meets the limits.
func sloLevel(steps []load.Step) load.Opt[int] {
	var n load.Opt[int]
	for _, s := range steps {
		if s.Valid && s.SLO.V.Met == load.Some(true) {
			n = load.Some(s.Concurrency)
		}
	}
	return n
}

// sloReason says why no level is known to meet the limits: the reason at the
// first valid level.
func sloReason(c Curve) string {
	for _, s := range c.Steps {
		if s.Valid && s.SLO.OK {
			return fmt.Sprintf("No level is shown to meet the SLO (N = %d: %s).", s.Concurrency, s.SLO.V.Text)
		}
	}
	return "No level is shown to meet the SLO."
}

// sloNotes says what happens beyond the level n that the SLO allows, and which
// lower ones miss it, which happens by chance or while an endpoint warms up.
func sloNotes(c Curve, n int) string {
	next, lower := "", ""
	for _, s := range c.Steps {
		switch {
		case !s.Valid || !s.SLO.OK:
		case s.Concurrency > n && next == "":
			next = fmt.Sprintf("; at N = %d %s", s.Concurrency, s.SLO.V.Text)
		case s.Concurrency < n && s.SLO.V.Met == load.Some(false):
			lower = fmt.Sprintf("; note that the lower level N = %d misses it", s.Concurrency)
		}
	}
	return next + lower
}
