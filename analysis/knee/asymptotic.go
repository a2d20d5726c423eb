package knee

// MethodAsymptotic names the estimator by asymptotic bounds.
const MethodAsymptotic = "asymptotic"

// Asymptotic takes the knee for the place where the two bounds of a closed system
// cross (asymptotic bound analysis, Denning and Buzen 1978):
//
//	X(N) ≤ min(N/(R + Z), 1/D),  N* = (R + Z)/D
//
// with R + Z the time of a request and a pause without contention and D the
// demand on the bottleneck. From throughput alone: N/(R + Z) is the line from the
// origin through the lowest level N₁, and 1/D the plateau, the mean of the levels
// within 7 % of the highest, so N* = N₁·plateau/X(N₁).
//
// Fewer streams than N* cannot saturate the endpoint. Where streams slow each
// other down on the way, N* lies below the place where throughput stops growing.
// It stands and falls with one level, the lowest.
type Asymptotic struct{}

var _ Finder = Asymptotic{}

// Method returns "asymptotic".
func (Asymptotic) Method() string { return MethodAsymptotic }

// Find implements [Finder]. There is no N* before the last level where throughput
// is still in proportion there.
func (Asymptotic) Find(points []Point, seed uint64) Estimate {
	return find(MethodAsymptotic, points, seed, func(n, x, w []float64) reading {
		top, last := 0.0, n[len(n)-1]
		for _, v := range x {
			top = max(top, v)
		}
		var plateau moments
		for i := range n {
			if x[i] >= (1-trimShare)*top {
				plateau = plateau.add(n[i], x[i], w[i])
			}
		}
		k := n[0] * plateau.x / x[0]
		if k >= last*(1-kneeTolerance) {
			return reading{last, "rises in proportion, or more, to the last level"}
		}
		return reading{k: k}
	})
}
