package compare

import (
	"math"
	"slices"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// pair is one level of both curves, on the scale of logarithms.
type pair struct {
	n           int
	old, latest float64 // medians, tokens/s
	ranks       stat.Shift
	ranked      bool    // the windows suffice for ranks
	shift       float64 // log of latest / old
	within      float64 // variance of shift that the windows explain
}

// pairs are the common levels with what is known of the scatter beyond windows.
type pairs struct {
	all    []pair
	cv     bool // the scatter within levels is known
	shared scatter
	drift  float64 // variance of what a whole run has in common, as far as its drift shows it
}

// scatter is a variance with its degrees of freedom.
type scatter struct {
	variance, df float64
	ok           bool
}

// newPairs pairs the windows of common levels.
func newPairs(old, latest analysis.Curve) pairs {
	a, b := valid(old), valid(latest)
	cvOld, okOld := pooledCV(a)
	cvNew, okNew := pooledCV(b)
	p := pairs{cv: okOld && okNew, drift: driftVariance(old) + driftVariance(latest)}
	for _, n := range concurrencies(old, latest) {
		s, inOld := a[n]
		t, inNew := b[n]
		if !inOld || !inNew {
			continue
		}
		x, y := logs(s.Measurements), logs(t.Measurements)
		q := pair{n: n, old: s.Throughput.V.Value, latest: t.Throughput.V.Value, ranks: stat.RankSum(x, y, 1-alpha)}
		q.shift = math.Log(q.latest / q.old)
		q.ranked = !math.IsInf(q.ranks.Lo, -1)
		q.within = cvOld*cvOld*medianVariance(x) + cvNew*cvNew*medianVariance(y)
		p.all = append(p.all, q)
	}
	p.shared = p.sharedScatter(old, latest)
	return p
}

// sharedScatter is the variance of a shift that comes from errors which all
// windows of a level share. Each curve shows it in the lack of fit of its
// levels, which is too much where its shape is not that of the fit; the shifts
// themselves show it by how they scatter, which is too much where the change is
// not the same at every level. The smaller of both is taken.
func (p pairs) sharedScatter(old, latest analysis.Curve) scatter {
	tauOld, dfOld, okOld := knee.Scatter(points(old))
	tauNew, dfNew, okNew := knee.Scatter(points(latest))
	fit := scatter{tauOld*tauOld + tauNew*tauNew, float64(dfOld + dfNew), okOld && okNew}
	among := scatter{ok: len(p.all) > 2, df: float64(len(p.all) - 1)}
	if among.ok {
		among.variance = p.excess()
	}
	if fit.ok && (!among.ok || fit.variance <= among.variance) {
		return fit
	}
	return among
}

// excess is the variance of the shifts of levels that their windows do not explain.
func (p pairs) excess() float64 {
	var shifts []float64
	within := 0.0
	for _, q := range p.all {
		shifts = append(shifts, q.shift)
		within += q.within / float64(len(p.all))
	}
	_, v := stat.Variance(shifts)
	return max(0, v-within)
}

// levels are the changes at the common levels.
func (p pairs) levels() []Level {
	all := make([]Level, 0, len(p.all))
	for _, q := range p.all {
		c := Change{Old: q.old, New: q.latest}
		if v, df, ok := p.variance(q.within, 1); q.ranked {
			c.ranked(q.ranks, v-q.within, df)
		} else if ok {
			c.se, c.df = math.Sqrt(v), df
			c.normal(q.shift)
		} else {
			c.Ratio = unbounded(q.latest / q.old)
		}
		all = append(all, Level{Concurrency: q.n, Throughput: c})
	}
	return all
}

// variance is that of the mean shift of a number of levels, with within from
// their windows, and its degrees of freedom by Satterthwaite, the parts that the
// windows and the drift explain taken for known. ok is false when nothing is
// known of one part.
func (p pairs) variance(within float64, levels float64) (v, df float64, ok bool) {
	shared := p.shared.variance / levels
	v = within + shared + p.drift
	df = math.Inf(1)
	if shared > 0 {
		df = p.shared.df * (v / shared) * (v / shared)
	}
	return v, df, p.shared.ok && (p.cv || shared > 0)
}

// ranked fills in the change by ranks, widened by the variance extra that ranks
// do not show: P is that of the deviate whose standard error grew by as much.
func (c *Change) ranked(s stat.Shift, extra, df float64) {
	t := stat.Student{DF: df}
	q := t.Quantile(1 - alpha/2)
	spread := func(side float64) float64 { return math.Sqrt(side*side + q*q*extra) }
	ratio := c.New / c.Old
	c.Ratio = load.Estimate{
		Value: ratio,
		Lo:    min(ratio, math.Exp(s.Value-spread(s.Value-s.Lo))),
		Hi:    max(ratio, math.Exp(s.Value+spread(s.Hi-s.Value))),
	}
	z := -stat.Student{DF: math.Inf(1)}.Quantile(max(s.P/2, 1e-300))
	p := 1.0
	switch {
	case extra == 0:
		p = s.P
	case z > 0 && s.Value != 0:
		p = t.TwoSided(z / math.Sqrt(1+extra*(z/s.Value)*(z/s.Value)))
	}
	c.P = load.Some(p)
}

// normal fills in a change of log shift with its standard error.
func (c *Change) normal(shift float64) {
	t := stat.Student{DF: c.df}
	half := t.Quantile(1-alpha/2) * c.se
	c.Ratio = load.Estimate{Value: math.Exp(shift), Lo: math.Exp(shift - half), Hi: math.Exp(shift + half)}
	switch {
	case c.se > 0:
		c.P = load.Some(t.TwoSided(shift / c.se))
	case math.Abs(shift) < 1e-12:
		c.P = load.Some(1.0)
	default: // exact figures that differ
		c.P = load.Some(0.0)
	}
}

func unbounded(ratio float64) load.Estimate {
	return load.Estimate{Value: ratio, Lo: math.NaN(), Hi: math.NaN()}
}

// driftVariance is that of log throughput of a whole run which its drift shows: the
// endpoint went through a range as wide as the drift, and a run catches any of it
// (uniform: a twelfth of the square). What the noise of the drift explains is
// left out of it.
func driftVariance(c analysis.Curve) float64 {
	var drifts []float64
	for _, s := range c.Steps {
		if s.Valid && !s.Scout && s.Drift.OK {
			drifts = append(drifts, s.Drift.V)
		}
	}
	if len(drifts) < 2 {
		return 0
	}
	d := stat.Median(drifts)
	_, v := stat.Variance(drifts)
	return max(0, d*d-v*math.Pi/2/float64(len(drifts))) / 12
}

// points are the valid levels of a curve.
func points(c analysis.Curve) []knee.Point {
	var all []knee.Point
	for _, s := range c.Steps {
		if s.Valid {
			all = append(all, knee.Point{N: s.Concurrency, Windows: s.Measurements})
		}
	}
	return all
}

func pooledCV(steps map[int]load.Step) (float64, bool) {
	groups := make([][]float64, 0, len(steps))
	for _, n := range sortedKeys(steps) {
		groups = append(groups, positive(steps[n].Measurements))
	}
	return stat.PooledCV(groups)
}

func medianVariance(windows []float64) float64 {
	return stat.MedianVarianceFactor(len(windows)) / float64(len(windows))
}

// positive are the windows that are figures above zero.
func positive(windows []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(windows), func(x float64) bool { return !(x > 0) || math.IsInf(x, 1) })
}

func logs(windows []float64) []float64 {
	x := positive(windows)
	for i := range x {
		x[i] = math.Log(x[i])
	}
	return x
}
