package knee

// MethodKneedle names the Kneedle estimator.
const MethodKneedle = "kneedle"

// kneedleSensitivity is S of the paper, which proposes 1 for data at hand.
const kneedleSensitivity = 1

// Kneedle takes the knee for the level furthest above the chord of the curve
// (Satopää, Albrecht, Irwin, Raghavan 2011, section III, for concave increasing
// data): with n and x scaled to [0, 1] and d = x − n, a local maximum of d is a
// knee if d falls from there by more than S = 1 times the mean step of n before
// the next local maximum; a local minimum takes the threshold down to zero. The
// first such level is given. The medians of all levels but outliers are taken as
// they are, without the smoothing spline of the paper's first step.
//
// Its answer is always a measured level, and depends on how far the sweep went:
// the chord ends at the last level.
type Kneedle struct{}

var _ Finder = Kneedle{}

// Method returns "kneedle".
func (Kneedle) Method() string { return MethodKneedle }

// Find implements [Finder].
func (Kneedle) Find(points []Point, seed uint64) Estimate {
	var d []float64
	return find(MethodKneedle, points, seed, func(n, x, _ []float64) reading {
		d = aboveChord(d[:0], n, x)
		if i, ok := firstKnee(d); ok {
			return reading{k: n[i]}
		}
		return reading{n[len(n)-1], "no level stands out above the chord of the curve"}
	})
}

// aboveChord appends x − n, both scaled to [0, 1], to d. x is not all equal.
func aboveChord(d, n, x []float64) []float64 {
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	first, last := n[0], n[len(n)-1]
	for i := range n {
		d = append(d, (x[i]-lo)/max(hi-lo, lo*kneeTolerance)-(n[i]-first)/(last-first))
	}
	return d
}

// firstKnee returns the first local maximum from which d falls below its
// threshold before the next one.
func firstKnee(d []float64) (at int, ok bool) {
	fall := kneedleSensitivity / float64(len(d)-1)
	at = -1
	var threshold float64
	for i := 1; i < len(d)-1; i++ {
		switch {
		case d[i] >= d[i-1] && d[i] >= d[i+1]:
			at, threshold = i, d[i]-fall
		case d[i] <= d[i-1] && d[i] <= d[i+1]:
			threshold = min(threshold, 0)
		}
		if at >= 0 && d[i+1] < threshold {
			return at, true
		}
	}
	return 0, false
}
