package knee

import (
	"math"

	"kneesweep/analysis/stat"
)

const (
	outlierErrors    = 4    // robust standard errors
	outlierShare     = 0.15 // of the fitted value
	neighbourShare   = 0.07 // how well the neighbours must agree with the fit
	outlierMaxShare  = 4    // at most one level in four is left out
	outlierMinLevels = 5    // fewer levels cannot vote against one
)

// outlier is a level that its neighbours contradict.
type outlier struct {
	level
	fitted float64 // tokens/s by the fit without it
}

// dropOutliers takes out levels that lie more than max(4 robust standard
// errors, 15 %) from the fit without them, while their neighbours (the only one,
// at an end) lie within 7 % of that same fit: one bad step, not a bend. They go
// one at a time, the worst first, at most a quarter of the levels.
func dropOutliers(levels []level) (kept []level, out []outlier) {
	kept = levels
	for limit := len(levels) / outlierMaxShare; limit > 0 && len(kept) >= outlierMinLevels; limit-- {
		worst, fitted, score := -1, 0.0, 1.0
		for i := range kept {
			if f, v := contradiction(kept, i); v > score {
				worst, fitted, score = i, f, v
			}
		}
		if worst < 0 {
			break
		}
		out = append(out, outlier{kept[worst], fitted})
		kept = without(kept, worst)
	}
	return kept, out
}

// contradiction returns the value at level i by the fit without it, and how far
// the level lies from it in units of what is allowed: above 1 is an outlier.
// The standard error is the largest of three robust ones: of the level's own
// median by its windows, and of the other levels about their fit, in tokens/s
// and relative to the fit.
//
// A level is judged only where the others determine the curve, see [room], and
// at the high end only when they show the plateau by two levels, the two before
// it agree with that, and it lies below: throughput may rise again, and a
// decline that had begun before is no outlier.
func contradiction(levels []level, i int) (fitted, score float64) {
	others := without(levels, i)
	curve := fitOrFlat(others)
	l, last := levels[i], len(levels)-1
	if i == last && (len(atOrAbove(others, curve.k, kneeTolerance)) < minAbove || l.median > curve.at(l.n)) {
		return 0, 0
	}
	witnesses := []int{i - 1, i + 1}
	if i == last {
		witnesses = []int{i - 1, i - 2}
	}
	for _, j := range witnesses {
		if j < 0 || j > last {
			continue
		}
		f := curve.at(levels[j].n)
		if f <= 0 || math.Abs(levels[j].median-f) > neighbourShare*f {
			return 0, 0
		}
	}
	low, high := room(levels, i, curve)
	fitted = min(max(l.median, low), high)
	if fitted <= 0 {
		return 0, 0
	}
	abs, rel := residuals(curve, others)
	r := len(l.windows)
	own := stat.RobustScale(l.windows) * math.Sqrt(stat.MedianVarianceFactor(r)/float64(r))
	se := max(own, scaleAboutZero(abs), scaleAboutZero(rel)*fitted)
	return fitted, math.Abs(l.median-fitted) / max(outlierErrors*se, outlierShare*fitted)
}

// room is what a curve that rises ever less from the origin can be at level i,
// given the fit of the others: not below the chord between its neighbours (the
// origin being the neighbour of the first level), and not above the lines
// through the two next levels on either side. On a straight part that is the
// fit itself; next to the knee, and before it, it is a range, since there the
// other levels cannot tell how sharp the bend is. The first level has no upper
// bound unless three others show the rise.
func room(levels []level, i int, curve line) (low, high float64) {
	at := func(j int) (n, x float64) { return levels[j].n, curve.at(levels[j].n) }
	through := func(n1, x1, n2, x2 float64) float64 { return x1 + (x2-x1)*(levels[i].n-n1)/(n2-n1) }
	last := len(levels) - 1
	if i == last {
		low = curve.at(levels[i].n)
		return low, low
	}
	n0, x0 := 0.0, 0.0
	if i > 0 {
		n0, x0 = at(i - 1)
	}
	n3, x3 := at(i + 1)
	low, high = through(n0, x0, n3, x3), math.Inf(1)
	if i > 1 {
		n1, x1 := at(i - 2)
		high = through(n1, x1, n0, x0)
	}
	if showsRise := i > 0 || levels[min(3, last)].n <= curve.k*(1+kneeTolerance); showsRise && i+2 <= last {
		n4, x4 := at(i + 2)
		high = min(high, through(n3, x3, n4, x4))
	}
	return min(low, high), high
}

// fitOrFlat is the fit of the levels, or their weighted mean when no line rises.
func fitOrFlat(levels []level) line {
	var s scanner
	n, x, w := columns(levels)
	s.load(n, x, w)
	if l, _, ok := s.locate(); ok {
		return l
	}
	all := s.left[len(n)-1]
	return line{a: all.x, k: n[0]}
}

// residuals are the levels that the curve is meant for, up to the retrograde
// trim, minus the curve: in tokens/s and as fractions of the curve.
func residuals(curve line, levels []level) (abs, rel []float64) {
	_, x, _ := columns(levels)
	for _, l := range levels[:trim(x)] {
		f := curve.at(l.n)
		abs = append(abs, l.median-f)
		if f > 0 {
			rel = append(rel, (l.median-f)/f)
		}
	}
	return abs, rel
}

// scaleAboutZero is the robust standard deviation of values that are deviations
// already: the centre is known to be 0.
func scaleAboutZero(deviations []float64) float64 {
	mirrored := make([]float64, 0, 2*len(deviations))
	for _, d := range deviations {
		mirrored = append(mirrored, d, -d)
	}
	return stat.RobustScale(mirrored)
}
