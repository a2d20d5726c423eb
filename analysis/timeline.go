package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"kneesweep/analysis/steady"
	"kneesweep/load"
)

const (
	tokensPerBin = 10  // that a bin should hold, lest single chunks look like swings
	binsPerVisit = 600 // at most
)

// Timeline is one level over time.
type Timeline struct {
	Concurrency int
	Visits      []TimelineVisit // as they followed each other
}

// TimelineVisit is one stay at the level, cut into bins of one length. Times are
// seconds since the level was set.
type TimelineVisit struct {
	Pass     int     // 0 = the first way up
	Extended bool    // it was lengthened, and its first windows dropped
	Ended    string  // why it ended early, as in [load.Visit]; empty = it did not
	Seconds  float64 // from the setting of the level to the end of the last window
	Bin      float64 // length of a bin, s

	Tokens   []float64 // tokens/s in each bin, what runs on from the level before included
	InFlight []float64 // requests in flight, mean over the time of the bin
	Decoding []float64 // streams between first and last token, likewise

	Windows []TimelineWindow
}

// TimelineWindow is one measurement.
type TimelineWindow struct {
	From, To float64 // s
	Tokens   float64 // tokens/s
}

// NearKnee is the level of c whose timeline shows most: the one nearest to the
// knee, by ratio; without a knee the one with the highest throughput, and without
// any throughput the last. It is false for a curve without levels.
func NearKnee(c Curve) (int, bool) {
	k := c.Knee.Concurrency
	found := k.OK && k.V.Value > 0 && !math.IsInf(k.V.Value, 0)
	best, score := 0, math.Inf(-1)
	for _, s := range c.Steps {
		rank := math.Inf(-1)
		switch {
		case found && s.Throughput.OK:
			rank = -math.Abs(math.Log(float64(s.Concurrency) / k.V.Value))
		case s.Throughput.OK && s.Valid:
			rank = s.Throughput.V.Value
		}
		if rank > score || math.IsInf(score, -1) {
			best, score = s.Concurrency, rank
		}
	}
	return best, best > 0
}

// NewTimeline lays out the visits of level n: what was measured, and the warm-up
// before it. A bin is a twentieth of a window, longer where that would hold fewer
// than ten tokens, at most half a window. It is false when the level was not
// visited.
func NewTimeline(d Data, n int) (Timeline, bool) {
	visits := visitsByLevel(d.Visits)[n]
	slices.SortFunc(visits, func(a, b load.Visit) int { return cmp.Compare(a.Index, b.Index) })
	visits, _ = latest(visits)
	all := d.requests()
	tokens := newLevelData(d.Run, n, visits, all).tokens
	order := all.of(visits)
	t := Timeline{Concurrency: n}
	for _, v := range visits {
		l := &levelData{run: d.Run, n: n, tokens: tokens}
		l.add(v, order)
		if visit, ok := l.timeline(&l.stays[0], order); ok {
			t.Visits = append(t.Visits, visit)
		}
	}
	return t, len(t.Visits) > 0
}

// timeline is one visit; false when it took no time.
func (d *levelData) timeline(s *stay, order []*load.Sample) (TimelineVisit, bool) {
	over := visitSpan(s, order)
	if over.To <= over.From {
		return TimelineVisit{}, false
	}
	v := TimelineVisit{Pass: s.Level.Pass, Extended: s.Extended, Ended: s.Ended, Seconds: over.Seconds()}
	if len(s.Windows) > 0 {
		for i, rate := range d.tally(s).all {
			w := s.Windows[i]
			v.Windows = append(v.Windows, TimelineWindow{(w.From - over.From).Seconds(), (w.To - over.From).Seconds(), rate})
		}
	}
	count := binCount(v)
	v.Bin = v.Seconds / float64(count)
	b := bins{over: over, width: v.Bin}
	v.Tokens, v.InFlight, v.Decoding = make([]float64, count), make([]float64, count), make([]float64, count)
	for _, m := range order {
		if m.Sent >= over.To {
			break
		}
		if m.End < over.From {
			continue
		}
		c := d.tokens.of(m)
		for i := range m.Chunks {
			b.add(v.Tokens, m.Chunks[i].At, c.tokensOf(m.Chunks[i])/v.Bin)
		}
		if whole := c.visible + c.hidden; whole > 0 {
			b.spread(v.Tokens, c.over, whole/c.over.Seconds())
		}
		b.spread(v.InFlight, load.Span{From: m.Sent, To: m.End}, 1)
		if decode, ok := decoding(m); ok {
			b.spread(v.Decoding, decode, 1)
		}
	}
	return v, true
}

// visitSpan reaches from the setting of the level to the end of the last window;
// without a window to the end of the last request of the visit.
func visitSpan(s *stay, order []*load.Sample) load.Span {
	over := load.Span{From: s.Started, To: s.span.To}
	if len(s.Windows) > 0 {
		over.From = min(over.From, s.span.From)
		return over
	}
	for _, m := range order {
		if m.Visit == s.Index {
			over.To = max(over.To, m.End)
		}
	}
	return over
}

// binCount is the number of bins of a visit.
func binCount(v TimelineVisit) int {
	width := v.Seconds / 100
	if len(v.Windows) > 0 {
		window := v.Windows[0].To - v.Windows[0].From
		width = window / steady.BinsPerWindow
		rate := 0.0
		for _, w := range v.Windows {
			rate += w.Tokens / float64(len(v.Windows))
		}
		if rate > 0 {
			width = min(max(width, tokensPerBin/rate), window/2)
		}
	}
	return int(math.Ceil(max(1, min(v.Seconds/width, binsPerVisit))))
}

// bins cut a span into lengths of width seconds.
type bins struct {
	over  load.Span
	width float64
}

// add adds an amount to the bin that holds t.
func (b bins) add(to []float64, t time.Duration, amount float64) {
	if b.over.Holds(t) {
		to[b.find(t, len(to))] += amount
	}
}

// spread adds height to every bin, times the share of the bin that s covers.
func (b bins) spread(to []float64, s load.Span, height float64) {
	s.From, s.To = max(s.From, b.over.From), min(s.To, b.over.To)
	if s.To <= s.From {
		return
	}
	from, end := (s.From - b.over.From).Seconds(), (s.To - b.over.From).Seconds()
	for i := b.find(s.From, len(to)); i < len(to) && float64(i)*b.width < end; i++ {
		common := min(end, float64(i+1)*b.width) - max(from, float64(i)*b.width)
		to[i] += height * max(0, common) / b.width
	}
}

func (b bins) find(t time.Duration, count int) int {
	return min(count-1, int(int64(t-b.over.From)*int64(count)/int64(b.over.To-b.over.From)))
}
