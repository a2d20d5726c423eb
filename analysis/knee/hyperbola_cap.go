package knee

import "math"

// MethodHyperbolaCap names the estimator of slot servers that slow down.
const MethodHyperbolaCap = "hyperbola_cap"

const (
	bendGrid    = 20   // values of the bend that are tried first
	bendLeast   = 0.01 // smallest of them above 0: 1 % slower at the last level
	bendMost    = 300  // largest
	bendRefined = 22   // steps of golden section around the best: to 1e-4 of the bend
)

// HyperbolaCap takes the knee for the place where a ramp that bends meets a cap:
//
//	X(N) = min(N/(t₀ + t₁·N), C),  t₀ > 0,  t₁ ≥ 0,  K = C·t₀/(1 − C·t₁)
//
// That is exact for a server with K slots whose step takes longer by the same
// time for each request in it (t₀ + t₁·n); with t₁ = 0 it is a straight ramp
// through the origin. Least squares on the logarithms of the medians, up to the
// retrograde trim: for each bend ρ = t₁/t₀ the rest is fitted exactly, by a scan
// over the gaps and the levels, and ρ is found by a grid and golden section.
//
// The fit can run away: levels without a corner are described by the hyperbola
// alone, K then lies anywhere beyond. So K is held between the first and the last
// level, and there is none where the hyperbola needs no cap before the last level
// or is flat by itself at K (an elasticity 1/(1 + ρK) below 0.1375, which is 10 %
// per doubling).
type HyperbolaCap struct{}

var _ Finder = HyperbolaCap{}

// Method returns "hyperbola_cap".
func (HyperbolaCap) Method() string { return MethodHyperbolaCap }

// Find implements [Finder].
func (HyperbolaCap) Find(points []Point, seed uint64) Estimate {
	var h hyperbolas
	return find(MethodHyperbolaCap, points, seed, func(n, x, w []float64) reading {
		m := trim(x)
		c := h.fit(n[:m], x[:m], w[:m])
		last := n[len(n)-1]
		switch {
		case c.k >= n[m-1]*(1-kneeTolerance):
			return reading{last, "runs away: the bent ramp alone describes the levels, without a cap before the last"}
		case 1/(1+c.bend*c.k) < maxElasticity:
			return reading{last, "runs away: the bent ramp is flat by itself where the cap would be"}
		}
		return reading{k: c.k}
	})
}

// capped is X(N) = min(N/(t₀(1 + bend·N)), C) with its corner at k and its
// weighted residual sum of squares in logarithms.
type capped struct{ bend, k, rss float64 }

// hyperbolas fits [capped] curves. It keeps scratch memory and is not safe for
// concurrent use.
type hyperbolas struct {
	n, w    []float64
	y, logN []float64 // log x, log n
	right   []group   // right[j] = y of levels j…
}

// group is a set of values: their weight, mean and sum of squares about it.
type group struct{ w, mean, sum float64 }

func (g group) add(v, w float64) group {
	total := g.w + w
	d := v - g.mean
	return group{total, g.mean + d*w/total, g.sum + g.w*w/total*d*d}
}

// fit returns the best curve through levels ascending in n.
func (h *hyperbolas) fit(n, x, w []float64) capped {
	h.n, h.w = n, w
	h.y, h.logN = append(h.y[:0], x...), append(h.logN[:0], n...)
	h.right = append(h.right[:0], make([]group, len(n)+1)...)
	for j := len(n) - 1; j >= 0; j-- {
		h.y[j], h.logN[j] = math.Log(x[j]), math.Log(n[j])
		h.right[j] = h.right[j+1].add(h.y[j], w[j])
	}
	last := n[len(n)-1]
	// z = log(ρ·last); the grid is wide enough for its ends to mean straight and flat.
	lowest, step := math.Log(bendLeast), math.Log(bendMost/bendLeast)/(bendGrid-1)
	best, at := h.at(0), lowest
	for i := range bendGrid {
		z := lowest + float64(i)*step
		if c := h.at(math.Exp(z) / last); c.rss < best.rss {
			best, at = c, z
		}
	}
	return h.refine(best, at-step, at+step, last)
}

// refine narrows log(ρ·last) between two bounds by golden section and returns the
// best curve seen, or the one given if that is better.
func (h *hyperbolas) refine(best capped, lo, hi, last float64) capped {
	const ratio = 1 / math.Phi // of a bracket to the next
	try := func(z float64) float64 {
		c := h.at(math.Exp(z) / last)
		if c.rss < best.rss {
			best = c
		}
		return c.rss
	}
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := try(a), try(b)
	for range bendRefined {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = try(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = try(b)
		}
	}
	return best
}

// at is the best curve with the bend ρ. In u = log(N/(1 + ρN)) it is y = a +
// min(u, u_K): with the levels on either side of a gap given, a and the cap are
// their means, and they meet inside the gap or the corner is at a level.
func (h *hyperbolas) at(rho float64) capped {
	best := capped{bend: rho, rss: math.Inf(1)}
	last := len(h.n) - 1
	corner := math.NaN() // u of the best, when inside a gap
	var left group       // of y − u at levels 0…j
	next := h.u(0, rho)
	for j := range last {
		u := next
		next = h.u(j+1, rho)
		left = left.add(h.y[j]-u, h.w[j])
		right := h.right[j+1]
		meet := right.mean - left.mean
		separate := left.sum + right.sum
		if separate < best.rss && meet > u && meet < next {
			best.rss, corner = separate, meet
		}
		if rss := separate + left.w*right.w/(left.w+right.w)*(meet-u)*(meet-u); rss < best.rss {
			best.k, best.rss, corner = h.n[j], rss, math.NaN()
		}
	}
	if left = left.add(h.y[last]-next, h.w[last]); left.sum < best.rss {
		best.k, best.rss, corner = h.n[last], left.sum, math.NaN()
	}
	if !math.IsNaN(corner) {
		v := math.Exp(corner)
		best.k = v / (1 - rho*v)
	}
	return best
}

// u is log(N/(1 + ρN)) at level j.
func (h *hyperbolas) u(j int, rho float64) float64 { return h.logN[j] - math.Log1p(rho*h.n[j]) }
