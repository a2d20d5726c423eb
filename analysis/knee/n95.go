package knee

// MethodN95 names the estimator of 95 % of the plateau.
const MethodN95 = "n95"

// N95 takes the knee for the smallest N at which the default fit reaches 95 % of
// its plateau: K − 0.05·(a + b·K)/b for X(N) = a + b·min(N, K), not below the
// first level. It lies below K by definition; it is where the streams to allow
// come from.
type N95 struct{}

var _ Finder = N95{}

// Method returns "n95".
func (N95) Method() string { return MethodN95 }

// Find implements [Finder]. Like [Segmented] it needs a line that bends before
// the last level.
func (N95) Find(points []Point, seed uint64) Estimate {
	var s scanner
	return find(MethodN95, points, seed, func(n, x, w []float64) reading {
		s.load(n, x, w)
		l, _, ok := s.locate()
		switch last := n[len(n)-1]; {
		case !ok:
			return reading{n[0], noteNoRise}
		case l.k >= last*(1-kneeTolerance):
			return reading{last, noteRises}
		}
		return reading{k: l.n95(n[0])}
	})
}
