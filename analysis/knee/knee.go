// Package knee finds where throughput stops growing with concurrency, one file
// per definition of a knee, and says in words whether there is one at all.
//
// A knee is the concurrency at which the fitted rising part meets the fitted
// plateau: below it one more stream buys tokens/s, above it only waiting time.
// [Choose] answers in this order, and the verdict comes before any number:
//
//	points ─ pool ──────▶ levels     windows of one N together, bad values out
//	       ─ outliers ──▶ levels     one bad step among neighbours that agree
//	       ─ trim, range ▶ levels    not past a decline, not far past the knee
//	       ─ exact scan ─▶ fit       X(N) = a + b·min(N, K), least squares
//	       ─ bootstrap ──▶ interval  of windows within levels, and of levels
//	       ─ rules ──────▶ verdict   plateau seen? flat? better than a line?
//
// It does not say why throughput stops growing, nor how many streams to allow,
// and it knows nothing of latency: that is the business of package analysis.
//
// All functions are pure, deterministic in their seed, and safe for concurrent
// use. Throughput is in tokens/s, concurrency in parallel streams.
package knee

import "kneesweep/load"

// Point is one valid level: its concurrency and the throughput of each of its
// windows in tokens/s.
type Point struct {
	N       int
	Windows []float64
}

// Finder is one definition of a knee.
type Finder interface {
	// Method names the definition, for example "segmented".
	Method() string
	// Find estimates the knee of points (ascending in N, one per level). The
	// concurrency is undefined when the definition finds none. The same points
	// and seed give the same answer.
	Find(points []Point, seed uint64) Estimate
}

// Estimate is what one definition says.
type Estimate struct {
	Method      string
	Concurrency load.Opt[load.Estimate]
	Note        string
}

// Verdict is the answer in one word; it comes before any number.
type Verdict string

// The verdicts, in the order in which their rules are tried.
const (
	TooFewLevels   Verdict = "too_few_levels"
	AtOrBelowFirst Verdict = "at_or_below_first"
	NotLocated     Verdict = "not_located"
	Found          Verdict = "knee"
	StillRising    Verdict = "still_rising"
)

// Retrograde says that throughput declines past the plateau.
type Retrograde struct {
	From int     // first level certainly below the plateau
	Drop float64 // fraction of the plateau lost at the last level
}

// Result is the verdict with the figures behind it.
type Result struct {
	Verdict         Verdict
	Concurrency     load.Opt[load.Estimate] // defined only for Found
	LowerBound      load.Opt[float64]       // last level, for NotLocated and StillRising
	Plateau         load.Opt[float64]       // tokens/s; undefined for StillRising and TooFewLevels
	Slope           load.Opt[float64]       // tokens/s per stream on the rising segment
	Retrograde      *Retrograde
	Soft            bool              // no sharp corner: 1/s² weights put the knee more than 25 % elsewhere, or a curve that bends throughout fits better
	N95             load.Opt[float64] // smallest N at which the fit reaches 95 % of its plateau
	Method          string
	Outliers        []int             // levels left out as outliers
	Fit             *Segment          // the fitted line, for drawing; nil when none was fitted
	RisePerDoubling load.Opt[float64] // for StillRising: fraction gained per doubling of N over the last three levels; undefined if noise explains it
	Warnings        []load.Warning
}

// Segment is the fitted curve X(N) = A + B·min(N, K).
type Segment struct {
	A, B, K float64
	RSS     float64 // weighted residual sum of squares
	From    int     // first level fitted
	To      int     // last level fitted
}

// At returns the fitted throughput at n streams.
func (s Segment) At(n float64) float64 { return s.A + s.B*min(n, s.K) }
