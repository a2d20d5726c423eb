package knee

const (
	trimShare   = 0.07 // how far below the plateau a level may lie and still end it
	rangeFactor = 4    // levels up to this multiple of the knee are fitted
	rangeAbove  = 3    // and at least this many levels at or above it
	rangePasses = 4
)

// trim returns how many levels are left after the retrograde trim: those after
// the last one within 7 % of the plateau are dropped, the plateau being the
// median of the three highest values. At least two are left.
func trim(x []float64) int {
	var first, second, third float64 // the three highest, descending
	for _, v := range x {
		switch {
		case v > first:
			first, second, third = v, first, second
		case v > second:
			second, third = v, second
		case v > third:
			third = v
		}
	}
	plateau := second
	if len(x) < 3 {
		plateau = first
	}
	for m := len(x); m > 2; m-- {
		if x[m-1] >= (1-trimShare)*plateau {
			return m
		}
	}
	return min(2, len(x))
}

// reach returns how many of the first m levels the range rule keeps for a knee
// at k: every level up to 4 k or to the third level at or above k, whichever is
// further.
func reach(n []float64, m int, k float64) int {
	above := 0
	for i := range m {
		if n[i] >= k*(1-kneeTolerance) {
			above++
			if above > rangeAbove && n[i] > rangeFactor*k {
				return i
			}
		}
	}
	return m
}

// locate chooses the levels to fit and fits them: retrograde trim, fit, then
// the range rule with the knee of the last fit until the set of levels stays
// the same, at most four times. If the sets come round in a circle the largest
// of the circle wins. The fitted levels are the first m. Without a rising line
// ok is false.
func (s *scanner) locate() (best line, m int, ok bool) {
	trimmed := trim(s.x)
	m = trimmed
	best, ok = s.solve(m)
	seen := [rangePasses + 1]int{m}
	for pass := 1; ok && pass <= rangePasses; pass++ {
		next := reach(s.n, trimmed, best.k)
		if next == m {
			break
		}
		largest, circle := next, false
		for i := pass - 1; i >= 0; i-- {
			largest = max(largest, seen[i])
			if seen[i] == next {
				circle = true
				break
			}
		}
		if circle {
			m = largest
			best, ok = s.solve(m)
			break
		}
		m = next
		seen[pass] = m
		best, ok = s.solve(m)
	}
	return best, m, ok
}
