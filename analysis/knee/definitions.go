package knee

import "kneesweep/load"

// Finders returns every definition of this package, the default first and then
// in the order of a report: other corners, bounds and peaks, and the place where
// 95 % of the plateau is reached.
func Finders() []Finder {
	return []Finder{Segmented{}, SegmentedFree{}, HyperbolaCap{}, Asymptotic{}, USL{}, Kneedle{}, N95{}}
}

// Why a definition finds no knee, in plain words.
const (
	noteFew    = "fewer than 4 levels"
	noteFlat   = "throughput does not grow past the first level"
	noteNoRise = "no rising part"
	noteRises  = "rises to the last level"
)

// reading is what a definition says of one set of medians: where the knee is, or
// why there is none. Without one, k is the end of the levels beyond which it
// would lie, so that an interval is never shorter for leaving such sets out.
type reading struct {
	k   float64
	why string
}

// find applies a definition to points: pooled, without outliers, on the medians
// of the levels, with a 95 % interval from the replicates of the default
// estimator. Throughput must reach 1.2 times the first level's, as for any
// verdict with a knee.
func find(method string, points []Point, seed uint64, read func(n, x, w []float64) reading) Estimate {
	e := Estimate{Method: method}
	levels := pool(points)
	if len(levels) < minLevels {
		e.Note = noteFew
		return e
	}
	levels, _ = dropOutliers(levels)
	if highest(levels) < minRise*levels[0].median {
		e.Note = noteFlat
		return e
	}
	n, x, w := columns(levels)
	r := read(n, x, w)
	if r.why != "" {
		e.Note = r.why
		return e
	}
	fitted := trim(x)
	if s, ok := fitSegmented(levels); ok {
		fitted = s.count
	}
	lo, hi := percentiles(levels, fitted, seed, func(x []float64) float64 { return read(n, x, w).k })
	if last := n[len(n)-1]; hi >= last*(1-kneeTolerance) {
		e.Note = "the interval reaches the last level and may go on"
	}
	e.Concurrency = load.Some(load.Estimate{Value: r.k, Lo: min(lo, r.k), Hi: max(hi, r.k)})
	return e
}
