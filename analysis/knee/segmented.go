package knee

import (
	"fmt"

	"kneesweep/load"
)

// MethodSegmented names the default estimator.
const MethodSegmented = "segmented"

// Segmented is the default definition of a knee: the place where a rising line
// meets a plateau, X(N) = a + b·min(N, K), continuous, by least squares in
// tokens/s on the median of each level, a level weighing as many as it has
// windows. The fit is exact (no starting value, no optimiser). Outliers, levels
// past a decline, and levels far past the knee are left out of it; the interval
// is a two-level bootstrap at 95 %. With a single level below the knee the fit is
// not unique: it is then the smallest knee that a proportional rise allows.
//
// It is exact on a straight ramp. On a ramp that bends, as batching servers
// have, it reads low, and the interval does not say so. The note says where the
// same fit puts the knee with levels weighted by their precision, 1/s²: a
// sensitivity, since on a bent ramp those weights read lower still.
type Segmented struct{}

var _ Finder = Segmented{}

// Method returns "segmented".
func (Segmented) Method() string { return MethodSegmented }

// Find implements [Finder]. Unlike [Choose] it gives the place of the knee even
// where the levels do not show that there is one; it gives none with fewer than
// four levels, without a rising line, or when the line rises to the last level.
func (Segmented) Find(points []Point, seed uint64) Estimate {
	e := Estimate{Method: MethodSegmented}
	levels := pool(points)
	if len(levels) < minLevels {
		e.Note = noteFew
		return e
	}
	levels, _ = dropOutliers(levels)
	s, ok := fitSegmented(levels)
	switch {
	case !ok:
		e.Note = noteNoRise
	case s.k >= levels[len(levels)-1].n*(1-kneeTolerance):
		e.Note = noteRises
	default:
		lo, hi := interval(levels, s.line, s.count, seed)
		e.Concurrency = load.Some(load.Estimate{Value: s.k, Lo: lo, Hi: hi})
		if k, _, ok := s.weighted(levels); ok {
			e.Note = fmt.Sprintf("weighting levels by their precision puts it at %.3g", k)
		}
	}
	return e
}

// segmented is a fit together with the levels that it used: the first count.
type segmented struct {
	line
	count int
}

// fitSegmented chooses the levels to fit and fits them.
func fitSegmented(levels []level) (segmented, bool) {
	n, x, w := columns(levels)
	var s scanner
	s.load(n, x, w)
	l, m, ok := s.locate()
	if !ok {
		return segmented{}, false
	}
	return segmented{refine(l, n[:m], x[:m], w[:m]), m}, true
}

// segment is the fit for the reader.
func (s segmented) segment(levels []level) *Segment {
	return &Segment{A: s.a, B: s.b, K: s.k, RSS: s.rss, From: int(levels[0].n), To: int(levels[s.count-1].n)}
}

// n95 is the smallest N at which the fit reaches 95 % of its plateau, not below
// the first level.
func (l line) n95(first float64) float64 { return max(l.k-0.05*l.plateau()/l.b, first) }
