package knee

import "math"

// MethodSegmentedFree names the estimator with two free slopes.
const MethodSegmentedFree = "segmented_free"

// SegmentedFree takes the knee for the place where two lines meet, both with a
// slope of their own:
//
//	X(N) = c + b₁·min(N, K) + b₂·max(N − K, 0),  b₁ > 0,  b₂ < b₁
//
// continuous, by least squares in tokens/s on the medians of all levels but
// outliers. So a throughput that declines, or creeps on, past the knee is fitted
// and not left out. The fit is exact, by the same scan as the default's (Hudson
// 1966); with one level on a side of the knee that side is not determined, and
// the estimate is then confidently wrong.
type SegmentedFree struct{}

var _ Finder = SegmentedFree{}

// Method returns "segmented_free".
func (SegmentedFree) Method() string { return MethodSegmentedFree }

// Find implements [Finder]. There is no knee where the second line is not less
// steep than a rising first one.
func (SegmentedFree) Find(points []Point, seed uint64) Estimate {
	var s scanner
	return find(MethodSegmentedFree, points, seed, func(n, x, w []float64) reading {
		s.load(n, x, w)
		b, ok := s.fitFree()
		switch {
		case !ok || !(b.left > 0):
			return reading{n[0], noteNoRise}
		case b.right >= b.left:
			return reading{n[len(n)-1], "the second line is not less steep than the first"}
		}
		return reading{k: b.k}
	})
}

// bend is two lines that meet at (k, x), with their slopes and the weighted
// residual sum of squares.
type bend struct{ k, x, left, right, rss float64 }

// fitFree returns the least-squares bend over all levels loaded. Its residual
// sum, as a function of the knee, is smallest either where the lines through the
// two sides of a gap meet inside it, or at a level: with one level on a side any
// knee in that gap fits alike, and as well as the level at its inner end. Equal
// residual sums give the smaller knee. It takes linear time; ok is false with
// fewer than three levels.
func (s *scanner) fitFree() (best bend, ok bool) {
	m := len(s.n)
	if m < 3 {
		return bend{}, false
	}
	tie := 1e-12 * s.left[m-1].sxx
	best.rss = math.Inf(1)
	try := func(b bend) {
		if b.rss <= best.rss+tie {
			b.rss = max(b.rss, 0)
			best, ok = b, true
		}
	}
	var right moments // of levels j+1…m−1
	right = right.add(s.n[m-1], s.x[m-1], s.w[m-1])
	for j := m - 2; j >= 1; j-- {
		l := s.left[j]
		if j < m-2 {
			b1, b2 := l.slope(), right.slope()
			k := l.n + (right.x-l.x-b2*(right.n-l.n))/(b1-b2)
			if k > s.n[j] && k < s.n[j+1] {
				try(bend{k, l.x + b1*(k-l.n), b1, b2, l.rss() + right.rss()})
			}
		}
		try(bendAt(s.n[j], l, right))
		right = right.add(s.n[j], s.x[j], s.w[j])
	}
	return best, ok
}

// slope and rss are those of the least-squares line; of a single n they are 0.
func (m moments) slope() float64 {
	if m.snn == 0 {
		return 0
	}
	return m.snx / m.snn
}

func (m moments) rss() float64 { return m.sxx - m.slope()*m.snx }

// through returns the value at k of the least-squares line and what a unit of
// squared distance from it costs in residual sum: that of the best line through
// (k, v) is rss + cost·(v − value)². A single n costs nothing.
func (m moments) through(k float64) (value, cost float64) {
	if m.snn == 0 {
		return m.x, 0
	}
	d := k - m.n
	return m.x + m.slope()*d, 1 / (1/m.w + d*d/m.snn)
}

// slopeFrom is the slope of the least-squares line through (k, v).
func (m moments) slopeFrom(k, v float64) float64 {
	d := m.n - k
	return (m.snx + m.w*d*(m.x-v)) / (m.snn + m.w*d*d)
}

// bendAt is the least-squares bend with its knee at k.
func bendAt(k float64, l, right moments) bend {
	a, costLeft := l.through(k)
	b, costRight := right.through(k)
	v := (costLeft*a + costRight*b) / (costLeft + costRight)
	rss := l.rss() + right.rss() + costLeft*costRight/(costLeft+costRight)*(a-b)*(a-b)
	return bend{k, v, l.slopeFrom(k, v), right.slopeFrom(k, v), rss}
}
