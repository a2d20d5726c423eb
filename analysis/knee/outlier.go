package knee

import (
	"math"

	"kneesweep/analysis/stat"
)

const (
	outlierErrors    = 4    // standard errors
	outlierRisk      = 0.05 // of any false one, where one window a level leaves few degrees of freedom
	outlierFloor     = 0.02 // relative error of a level with one window, at least
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

// dropOutliers takes out levels that lie more than max(4 standard errors, 15 %)
// from the fit without them, while their neighbours (the only one, at an end)
// lie within 7 % of that same fit: one bad step, not a bend. They go one at a
// time, the worst first, at most a quarter of the levels.
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
//
// A level is judged only where the others determine the curve, see [room], and
// at the high end only when they show the plateau by two levels, the two before
// it agree with that, and it lies below: throughput may rise again, and a
// decline that had begun before is no outlier. Nor is the peak before a decline.
func contradiction(levels []level, i int) (fitted, score float64) {
	others := without(levels, i)
	curve := fitOrFlat(others)
	l, last := levels[i], len(levels)-1
	if i == last && (len(atOrAbove(others, curve.k, kneeTolerance)) < minAbove || l.median > curve.at(l.n)) {
		return 0, 0
	}
	neighbours := []int{i - 1, i + 1}
	if i == last {
		neighbours = []int{i - 1, i - 2}
	}
	var witnesses []level
	for _, j := range neighbours {
		if j < 0 || j > last {
			continue
		}
		f := curve.at(levels[j].n)
		if f <= 0 || math.Abs(levels[j].median-f) > neighbourShare*f {
			return 0, 0
		}
		witnesses = append(witnesses, levels[j])
	}
	low, high := room(levels, i, curve)
	fitted = min(max(l.median, low), high)
	if fitted <= 0 || peakOfDecline(levels, i, curve, fitted) {
		return 0, 0
	}
	return fitted, math.Abs(l.median-fitted) / (fitted * max(allowance(l, witnesses, others, curve, fitted), outlierShare))
}

// peakOfDecline reports whether level i is the highest, certainly above what the
// others say, and throughput declines from there on: then it shows the capacity,
// and those after it the loss.
func peakOfDecline(levels []level, i int, curve line, fitted float64) bool {
	l := levels[i]
	if l.median <= fitted || l.median < highest(levels) {
		return false
	}
	if lo, _, ok := stat.MedianInterval(l.windows, confidence); ok && lo <= fitted {
		return false
	}
	after := levels[i+1:]
	return decline(after, curve.plateau(), fallMargin(after)) != nil
}

// allowance is how far a level may lie from the fit of the others, as a share of
// it: four standard errors, those of the level and of its witnesses together.
// The error of either is the largest of three: by its own windows (robust, but
// no less than the variation within all levels gives), and the robust scatter
// of the others about their fit, relative and (of the level) in tokens/s.
//
// With one window a level only the lack of fit of the others says what an error
// is. It is not below 2 %, and its few degrees of freedom and the number of
// levels tried ask for more than four of it.
func allowance(l level, witnesses, others []level, curve line, fitted float64) float64 {
	abs, rel := residuals(curve, others)
	groups := make([][]float64, len(others))
	for i, o := range others {
		groups[i] = o.windows
	}
	cv, _ := stat.PooledCV(groups)
	errors, least := float64(outlierErrors), scaleAboutZero(rel)
	if single(others) {
		df := max(1, len(abs)-3)
		errors = max(errors, stat.StudentQuantile(1-outlierRisk/float64(2*len(others)+2), df))
		least = max(least, outlierFloor, math.Sqrt(lackOfFit(others[:len(abs)])))
	}
	own := max(standardError(l, cv), least, scaleAboutZero(abs)/fitted)
	var squares float64
	for _, w := range witnesses {
		e := max(standardError(w, cv), least)
		squares += e * e
	}
	return errors * math.Hypot(own, math.Sqrt(squares/float64(max(1, len(witnesses)))))
}

// standardError is the relative error of a level's median: by its own windows,
// but not less than the variation cv within levels gives.
func standardError(l level, cv float64) float64 {
	r := len(l.windows)
	return max(stat.RobustScale(l.windows)/l.median, cv) * math.Sqrt(stat.MedianVarianceFactor(r)/float64(r))
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
