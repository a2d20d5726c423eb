package analysis

import (
	"cmp"
	"slices"
	"time"

	"kneesweep/load"
)

// concurrency fills in how many requests were in flight, and how many streams
// were decoding: between their first and their last token.
func (d *levelData) concurrency(st *load.Step) {
	var flight, decode occupancy
	for i := range d.stays {
		s := &d.stays[i]
		if len(s.Windows) == 0 {
			continue
		}
		var inFlight, streaming []load.Span
		for _, m := range s.samples {
			inFlight = append(inFlight, load.Span{From: m.Sent, To: m.End})
			if span, ok := decoding(m); ok {
				streaming = append(streaming, span)
			}
		}
		flight.add(inFlight, s.Windows)
		decode.add(streaming, s.Windows)
	}
	if flight.total > 0 {
		st.InFlight = load.CountStat{Mean: flight.mean(), Peak: flight.peak(), OK: true}
	}
	if decode.total > 0 && decode.peak() > 0 {
		st.DecodeConcurrency = decode.concurrency()
	}
}

// decoding is the span between first and last token; false for an answer of one
// chunk.
func decoding(s *load.Sample) (load.Span, bool) {
	n := len(s.Chunks)
	if n < 2 {
		return load.Span{}, false
	}
	last := s.Chunks[n-1].At
	if s.Cause == load.CauseCanceled { // its last token was still to come
		last = s.End
	}
	return load.Span{From: s.Chunks[0].At, To: last}, true
}

// occupancy is the time spent at each count of overlapping spans.
type occupancy struct {
	at    []time.Duration // time per count
	peaks []int           // highest count per window
	total time.Duration
}

// change is a span that begins or ends.
type change struct {
	at time.Duration
	by int
}

// add sweeps a line over spans, within contiguous windows. What begins and ends
// at one time changes the count together, so a place that is handed on is one.
func (o *occupancy) add(spans []load.Span, windows []load.Span) {
	from, to := windows[0].From, windows[len(windows)-1].To
	changes := make([]change, 0, 2*len(spans))
	for _, s := range spans {
		if s.To <= from || s.From >= to || s.To <= s.From {
			continue
		}
		changes = append(changes, change{max(s.From, from), 1}, change{min(s.To, to), -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	next, count := 0, 0
	for _, w := range windows {
		peak, t := 0, w.From
		for t < w.To {
			for next < len(changes) && changes[next].at <= t {
				count += changes[next].by
				next++
			}
			until := w.To
			if next < len(changes) {
				until = min(until, changes[next].at)
			}
			o.spend(count, until-t)
			peak = max(peak, count)
			t = until
		}
		o.peaks = append(o.peaks, peak)
	}
}

func (o *occupancy) spend(count int, d time.Duration) {
	for len(o.at) <= count {
		o.at = append(o.at, 0)
	}
	o.at[count] += d
	o.total += d
}

func (o *occupancy) mean() float64 {
	sum := 0.0
	for n, t := range o.at {
		sum += float64(n) * t.Seconds()
	}
	return sum / o.total.Seconds()
}

func (o *occupancy) peak() int { return slices.Max(o.peaks) }

// concurrency summarises the distribution by time.
func (o *occupancy) concurrency() load.Concurrency {
	c := load.Concurrency{Mean: o.mean(), Peak: o.peak(), OK: true}
	below := time.Duration(0)
	p90 := false
	for n, t := range o.at {
		if t > o.at[c.Mode] {
			c.Mode = n
		}
		if below += t; !p90 && float64(below) >= 0.9*float64(o.total) {
			c.P90, p90 = n, true
		}
	}
	for n := c.P90 + 1; n < len(o.at); n++ {
		c.AboveP90 += float64(o.at[n]) / float64(o.total)
	}
	c.PeakShare = float64(o.at[c.Peak]) / float64(o.total)
	touched := 0
	for _, p := range o.peaks {
		if p == c.Peak {
			touched++
		}
	}
	c.PeakInAll = float64(touched) / float64(len(o.peaks))
	return c
}
