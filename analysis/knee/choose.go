package knee

import (
	"math"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

const (
	minLevels      = 4
	minRise        = 1.2    // highest over first value, below which nothing rises
	minAbove       = 2      // levels at or above the knee
	minAboveSingle = 3      // the same, when levels have one window
	maxElasticity  = 0.1375 // of the levels at or above the knee: 10 % a doubling
	maxUpper       = 0.30   // of its one-sided 95 % limit
	minLower       = 1e-9   // of the elasticity of a rise; less is rounding
	minBIC         = 6      // by which the line with a knee must beat the straight one
)

// Choose says whether the points show a knee, and where: the verdict first, by
// rules tried in the order of the [Verdict] constants, and the number only if
// the verdict is [Found]. Points may be unsorted and repeat an N; windows that
// are not positive and finite are ignored. The answer depends on the values and
// the seed alone, not on the order of points or windows.
//
//   - [TooFewLevels]: fewer than 4 levels.
//   - [AtOrBelowFirst]: the highest value is less than 1.2 times the first.
//   - [NotLocated]: fewer than two levels at or above the fitted knee, or its
//     interval reaches the last level.
//   - [Found]: the levels at or above the knee are flat (elasticity below
//     0.1375 with its one-sided 95 % limit below 0.30) and a straight line fits
//     clearly worse (by more than 6 in BIC).
//   - [StillRising]: otherwise, and where throughput stalled at the knee and then
//     went on to 1.2 times the plateau or more.
//
// A level up to 2 % below the fitted knee counts as lying at it: with 790 and 800
// tokens/s on the plateau the fit puts the knee 1 % past the first of them.
//
// With one window a level the spread of a level is unknown: three levels must
// lie at or above the knee and no limit is asked, or there are two and the
// scatter of all fitted levels puts the limit below 0.30. Where the
// throughput certainly declines after the plateau the straight line is refuted
// by that, and its BIC is not asked.
func Choose(points []Point, seed uint64) Result {
	r := Result{Method: MethodSegmented}
	levels := pool(points)
	if len(levels) < minLevels {
		r.Verdict = TooFewLevels
		return r
	}
	all := levels
	levels, out := dropOutliers(all)
	r.noteOutliers(out)
	if single(levels) {
		r.Warnings = append(r.Warnings, load.Warnf(load.WarnLowConfidence,
			"one window a level: the spread of a level is not known"))
	}
	if highest(levels) < minRise*levels[0].median {
		r.Verdict = AtOrBelowFirst
		plateau := flatPart(levels)
		r.Plateau = load.Some(plateau)
		r.Retrograde = decline(withLast(levels, all), plateau, fallMargin(levels))
		return r
	}
	s, ok := fitSegmented(levels)
	if !ok { // a value 1.2 times the first exists, yet no line rises: a lone peak
		r.Verdict = NotLocated
		r.LowerBound = load.Some(levels[len(levels)-1].n)
		return r
	}
	r.Retrograde = decline(atOrAbove(withLast(levels, all), s.k, kneeTolerance), s.plateau(), fallMargin(levels))
	r.judge(levels, s, seed)
	return r
}

// judge applies the rules from NotLocated on to a fit.
func (r *Result) judge(levels []level, s segmented, seed uint64) {
	last := levels[len(levels)-1].n
	above := atOrAbove(levels, s.k, kneeNoise)
	r.Fit = s.segment(levels)
	r.Slope = load.Some(s.b)
	lo, hi := s.k, s.k
	located := len(above) >= minAbove
	if located {
		lo, hi = interval(levels, s.line, s.count, seed)
		located = hi < last*(1-kneeTolerance)
	}
	if !located {
		r.Verdict = NotLocated
		r.LowerBound = load.Some(last)
		if s.k < last*(1-kneeTolerance) {
			r.Plateau = load.Some(s.plateau())
		}
		if hi > s.k {
			r.Warnings = append(r.Warnings, load.Warnf(load.WarnLowConfidence,
				"the fit puts the knee at %.3g, but its 95 %% interval, %.3g to %.3g, reaches the last level", s.k, lo, hi))
		}
		return
	}
	if !flat(above, levels[:s.count]) || risesAgain(levels, s.plateau()) ||
		r.Retrograde == nil && bicGain(levels[:s.count], s.line) <= minBIC {
		r.Verdict = StillRising
		r.LowerBound = load.Some(last)
		r.RisePerDoubling = risePerDoubling(levels)
		return
	}
	r.Verdict = Found
	r.Concurrency = load.Some(load.Estimate{Value: s.k, Lo: lo, Hi: hi})
	r.Plateau = load.Some(s.plateau())
	r.N95 = load.Some(s.n95(levels[0].n))
	if second := levels[1].n; s.k < second*(1-kneeNoise) && second-levels[0].n > 1 {
		r.Warnings = append(r.Warnings, load.Warnf(load.WarnLowConfidence,
			"a single level lies below the knee, which may be anywhere from %.3g to %d: measure between %d and %d",
			s.k, int(second), int(levels[0].n), int(second)))
	}
	reasons := s.soft(levels, r.Retrograde)
	r.Soft = len(reasons) > 0
	r.Warnings = append(r.Warnings, reasons...)
}

func (r *Result) noteOutliers(out []outlier) {
	for _, o := range out {
		r.Outliers = append(r.Outliers, int(o.n))
		side := "above"
		if o.median < o.fitted {
			side = "below"
		}
		r.Warnings = append(r.Warnings, load.Warnf(load.WarnOutlier,
			"N = %d lies %.0f %% %s what the other levels say (%.4g against %.4g tokens/s): left out, measure it again",
			int(o.n), 100*math.Abs(o.median/o.fitted-1), side, o.median, o.fitted))
	}
}

// flat reports whether throughput no longer grows over the levels at or above
// the knee. fitted are the levels of the fit.
func flat(above, fitted []level) bool {
	if !single(fitted) {
		x, y := allWindows(above)
		e, ok := stat.Elasticity(x, y, confidence)
		return ok && e.Value < maxElasticity && e.Upper < maxUpper
	}
	x, y, _ := columns(above)
	e, ok := stat.Elasticity(x, y, confidence)
	if !ok || e.Value >= maxElasticity {
		return false
	}
	if len(above) >= minAboveSingle {
		return true
	}
	df := len(fitted) - 3
	if df < 1 {
		return false
	}
	se := math.Sqrt(2*scatter(fitted)) / math.Log(x[1]/x[0])
	return e.Value+stat.StudentQuantile(confidence, df)*se < maxUpper
}

// risesAgain reports whether throughput stalled and went on, as with kernels made
// for some batch sizes: the last level is 1.2 times the plateau or more, and the
// last three rise by 10 % per doubling. Over a long stall the levels above the
// knee are flat all the same.
func risesAgain(levels []level, plateau float64) bool {
	lastThree := levels[len(levels)-3:]
	if lastThree[2].median < minRise*plateau {
		return false
	}
	n, x, _ := columns(lastThree)
	e, ok := stat.Elasticity(n, x, confidence)
	return ok && e.Value >= maxElasticity
}

// bicGain is BIC(straight line) − BIC(line with knee) over the fitted levels,
// the residual sums not below 1e-12 of the sum of squares. The knee costs one
// parameter.
func bicGain(levels []level, fit line) float64 {
	var m moments
	for _, l := range levels {
		m = m.add(l.n, l.median, float64(len(l.windows)))
	}
	floor := roundingSum(levels)
	straight := m.sxx - m.snx*m.snx/m.snn
	n := float64(len(levels))
	return n*math.Log(max(straight, floor)/max(fit.rss, floor)) - math.Log(n)
}

// roundingSum is a residual sum of squares that rounding alone may leave: 1e-12
// of the levels' own weighted sum of squares.
func roundingSum(levels []level) float64 {
	var squares float64
	for _, l := range levels {
		squares += float64(len(l.windows)) * l.median * l.median
	}
	return 1e-12 * squares
}

func highest(levels []level) float64 {
	var top float64
	for _, l := range levels {
		top = max(top, l.median)
	}
	return top
}

// flatPart is the weighted mean of the levels within 7 % of the highest: the
// plateau of a curve that does not rise.
func flatPart(levels []level) float64 {
	var m moments
	top := highest(levels)
	for _, l := range levels {
		if l.median >= (1-trimShare)*top {
			m = m.add(l.n, l.median, float64(len(l.windows)))
		}
	}
	return m.x
}

// risePerDoubling is what the last three levels gained, as a fraction for each
// doubling of N. It is undefined where the one-sided 95 % limit of that slope,
// over their windows (or medians, if those are single), does not exclude that
// they gained nothing.
func risePerDoubling(levels []level) load.Opt[float64] {
	lastThree := levels[len(levels)-3:]
	x, y := allWindows(lastThree)
	if single(lastThree) {
		x, y, _ = columns(lastThree)
	}
	e, ok := stat.Elasticity(x, y, confidence)
	if lower := 2*e.Value - e.Upper; !ok || !(lower > minLower) {
		return load.Opt[float64]{}
	}
	return load.Some(math.Exp2(e.Value) - 1)
}
