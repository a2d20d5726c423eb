package knee

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// line is X(N) = a + b·min(N, k) with its weighted residual sum of squares.
type line struct{ a, b, k, rss float64 }

func (l line) at(n float64) float64 { return l.a + l.b*min(n, l.k) }
func (l line) plateau() float64     { return l.a + l.b*l.k }

// moments are running weighted first and second moments of pairs (n, x) about
// their own means, so that no digits are lost to large offsets.
type moments struct {
	w, n, x       float64 // weight, means
	snn, snx, sxx float64
}

func (m moments) add(n, x, w float64) moments {
	total := m.w + w
	dn, dx := n-m.n, x-m.x
	f := m.w * w / total
	return moments{
		w: total, n: m.n + dn*w/total, x: m.x + dx*w/total,
		snn: m.snn + f*dn*dn, snx: m.snx + f*dn*dx, sxx: m.sxx + f*dx*dx,
	}
}

// scanner finds the least-squares line over prefixes of a set of levels. It
// keeps scratch memory and is not safe for concurrent use.
type scanner struct {
	n, x, w []float64
	left    []moments // left[i] = moments of levels 0…i
	second  line      // of the last fit: the best with its knee at the second level
}

// load sets the levels, ascending in n; the slices are kept, not copied.
func (s *scanner) load(n, x, w []float64) {
	s.n, s.x, s.w = n, x, w
	if cap(s.left) < len(n) {
		s.left = make([]moments, len(n))
	}
	s.left = s.left[:len(n)]
	var m moments
	for i := range n {
		m = m.add(n[i], x[i], w[i])
		s.left[i] = m
	}
}

// fit returns the least-squares line over the first m levels by the exact scan
// (Hudson 1966; Hinkley 1971). The residual sum as a function of the knee is
// smooth inside each gap between levels, so its minimum is either the one place
// inside a gap where the line through the levels on its left meets the mean of
// those on its right, or at a level. A gap counts only with two levels on its
// left: with one, every knee in the gap fits alike, as does the level at its
// right end, which is tried anyway. Among equal residual sums (to 1e-12 of the
// total) the smaller knee wins. A line that does not rise is no candidate;
// without any, ok is false. It takes linear time.
func (s *scanner) fit(m int) (best line, ok bool) {
	if m < 2 {
		return line{}, false
	}
	tie := 1e-12 * s.left[m-1].sxx
	best.rss = math.Inf(1)
	try := func(c line) {
		if c.b > 0 && c.rss <= best.rss+tie {
			c.rss = max(c.rss, 0)
			best, ok = c, true
		}
	}
	var right moments // of levels j+1…m−1
	for j := m - 1; j >= 1; j-- {
		l := s.left[j]
		if right.w > 0 {
			b := l.snx / l.snn
			if k := l.n + (right.x-l.x)/b; k > s.n[j] && k < s.n[j+1] {
				try(line{l.x - b*l.n, b, k, l.sxx - b*l.snx + right.sxx})
			}
		}
		s.second = meetAt(s.n[j], l, right)
		try(s.second)
		right = right.add(0, s.x[j], s.w[j])
	}
	return best, ok
}

// solve is fit, but it gives the smallest of the knees that fit as well. With
// the knee at the second level every knee in the gap below it does, see
// [scanner.smallest]. A knee in the gap above it takes one figure more, the
// value at the second level, and must be better in BIC: on a plateau that begins
// below the second level noise at that level alone puts every other knee there.
func (s *scanner) solve(m int) (line, bool) {
	l, ok := s.fit(m)
	if !ok {
		return l, false
	}
	if m > 3 && l.k > s.n[1] && l.k < s.n[2] && s.second.b > 0 {
		if count := float64(m); s.second.rss <= l.rss*math.Exp(math.Log(count)/count) {
			l = s.second
		}
	}
	if l.k == s.n[1] {
		l = s.smallest(l)
	}
	return l, true
}

// smallest moves a knee that fit put at the second level, with one level n₁, x₁
// on its left, down to where nothing else tells it from: every knee above n₁
// fits alike. The smallest of them that a curve through the origin can have
// that rises ever less is n₁ · plateau / x₁, where the rise is proportional.
func (s *scanner) smallest(l line) line {
	plateau := l.plateau()
	if k := s.n[0] * plateau / s.x[0]; k > s.n[0] && k < s.n[1] {
		l.k, l.b = k, (plateau-s.x[0])/(k-s.n[0])
		l.a = s.x[0] - l.b*s.n[0]
	}
	return l
}

// meetAt is the least-squares line with its knee at level k: everything on the
// right counts as if measured at k.
func meetAt(k float64, l, right moments) line {
	if right.w > 0 {
		f := l.w * right.w / (l.w + right.w)
		dn, dx := k-l.n, right.x-l.x
		l.n += dn * right.w / (l.w + right.w)
		l.x += dx * right.w / (l.w + right.w)
		l.snn += f * dn * dn
		l.snx += f * dn * dx
		l.sxx += f*dx*dx + right.sxx
	}
	b := l.snx / l.snn
	return line{l.x - b*l.n, b, k, l.sxx - b*l.snx}
}

// refine solves the winner of a scan once more, by QR with its knee held, and
// takes the residual sum from the residuals themselves.
func refine(l line, n, x, w []float64) line {
	design := mat.NewDense(len(n), 2, nil)
	values := mat.NewVecDense(len(n), nil)
	for i := range n {
		root := math.Sqrt(w[i])
		design.Set(i, 0, root)
		design.Set(i, 1, root*min(n[i], l.k))
		values.SetVec(i, root*x[i])
	}
	var qr mat.QR
	qr.Factorize(design)
	var solution mat.VecDense
	if err := qr.SolveVecTo(&solution, false, values); err == nil {
		l.a, l.b = solution.AtVec(0), solution.AtVec(1)
	}
	l.rss = 0
	for i := range n {
		e := x[i] - l.at(n[i])
		l.rss += w[i] * e * e
	}
	return l
}
