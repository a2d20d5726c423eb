package compare

import (
	"maps"
	"math"
	"slices"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// figures are the figures of the whole curves that both have.
func (p pairs) figures(old, latest analysis.Curve) []Figure {
	var all []Figure
	add := func(name string, c Change, ok bool) {
		if ok {
			all = append(all, Figure{Name: name, Change: c})
		}
	}
	c, ok := p.throughput()
	add(FigureThroughput, c, ok)
	c, ok = p.plateau(old, latest)
	add(FigurePlateau, c, ok)
	for _, f := range []struct {
		name string
		of   func(load.Dist) float64
	}{{FigureTTFT50, ttft50}, {FigureTTFT95, ttft95}} {
		c, ok = p.ttft(old, latest, f.of)
		add(f.name, c, ok)
	}
	return all
}

func ttft50(d load.Dist) float64 { return d.P50 }
func ttft95(d load.Dist) float64 { return d.P95 }

// throughput is the ratio of geometric means over the common levels, the levels
// weighed by the inverse of their variance. Its error comes from how the shifts
// of the levels scatter about their mean (Hartung and Knapp 2001), which holds
// whatever a level's windows share, and is large where the change is not the
// same at every level. ok is false with fewer than two levels.
func (p pairs) throughput() (c Change, ok bool) {
	if len(p.all) < 2 {
		return c, false
	}
	var shifts, weights, old, latest []float64
	for _, q := range p.all {
		v, _, known := p.variance(q.within, 1)
		if !known || v <= 0 {
			v = 1
		}
		shifts, weights = append(shifts, q.shift), append(weights, 1/v)
		old, latest = append(old, math.Log(q.old)), append(latest, math.Log(q.latest))
	}
	c.Old, c.New = math.Exp(weighted(old, weights)), math.Exp(weighted(latest, weights))
	c.mean(shifts, weights, p.drift)
	return c, true
}

// mean fills in a change from the shifts of levels: their weighted mean, its
// variance Σw(d − mean)² / ((L − 1)·Σw) with L − 1 degrees of freedom, and the
// variance extra, which is taken for known.
func (c *Change) mean(shifts, weights []float64, extra float64) {
	m := weighted(shifts, weights)
	var sum, total float64
	for i, d := range shifts {
		sum += weights[i] * (d - m) * (d - m)
		total += weights[i]
	}
	df := float64(len(shifts) - 1)
	v := sum / df / total
	c.se, c.df = math.Sqrt(v+extra), df
	if v > 0 {
		c.df = df * (v + extra) * (v + extra) / (v * v)
	}
	c.normal(m)
}

func weighted(x, w []float64) float64 {
	var sum, total float64
	for i := range x {
		sum += w[i] * x[i]
		total += w[i]
	}
	return sum / total
}

// plateau is the ratio of the fitted plateaus. A plateau is taken for the mean of
// the levels on it, by their windows.
func (p pairs) plateau(old, latest analysis.Curve) (c Change, ok bool) {
	a, b := old.Knee.Plateau, latest.Knee.Plateau
	if !a.OK || !b.OK || !(a.V > 0) || !(b.V > 0) {
		return c, false
	}
	c.Old, c.New = a.V, b.V
	withinOld, levelsOld := onPlateau(old)
	withinNew, levelsNew := onPlateau(latest)
	levels := 2 / (1/levelsOld + 1/levelsNew)
	v, df, known := p.variance(withinOld+withinNew, levels)
	if !known {
		c.Ratio = unbounded(b.V / a.V)
		return c, true
	}
	c.se, c.df = math.Sqrt(v), df
	c.normal(math.Log(b.V / a.V))
	return c, true
}

// onPlateau is the variance that the windows give the plateau, and the number of
// levels that it rests on: those of the fit from the knee on, and where nothing
// rises those within 7 % of the highest.
func onPlateau(c analysis.Curve) (within, levels float64) {
	steps := valid(c)
	cv, _ := pooledCV(steps)
	windows := 0
	for n, s := range steps {
		on := s.Throughput.V.Value >= 0.93*c.Knee.Plateau.V
		if f := c.Knee.Fit; f != nil {
			on = float64(n) >= f.K*0.98 && n <= f.To
		}
		if on && !slices.Contains(c.Knee.Outliers, n) {
			levels++
			windows += len(s.Measurements)
		}
	}
	if levels == 0 {
		return cv * cv, 1
	}
	each := float64(windows) / levels
	return cv * cv * stat.MedianVarianceFactor(int(each)) / float64(windows), levels
}

// ttft is the ratio of geometric means of a quantile of TTFT over the common
// levels, with an error as that of throughput, all levels weighing the same.
func (p pairs) ttft(old, latest analysis.Curve, of func(load.Dist) float64) (c Change, ok bool) {
	c.lowerIsBetter = true
	a, b := valid(old), valid(latest)
	var shifts, weights, before, after []float64
	for _, q := range p.all {
		x, y := of(a[q.n].TTFT), of(b[q.n].TTFT)
		if !timed(a[q.n], x) || !timed(b[q.n], y) {
			continue
		}
		shifts, weights = append(shifts, math.Log(y/x)), append(weights, 1)
		before, after = append(before, math.Log(x)), append(after, math.Log(y))
	}
	if len(shifts) < 2 {
		return c, false
	}
	c.Old, c.New = math.Exp(weighted(before, weights)), math.Exp(weighted(after, weights))
	c.mean(shifts, weights, p.drift)
	return c, true
}

// timed reports whether a quantile of TTFT is known.
func timed(s load.Step, x float64) bool { return s.TTFT.Count > 0 && x > 0 && !math.IsInf(x, 1) }

// moved is the difference of the knees. Its interval is made of the distances of
// their bounds (Zou and Donner 2008): the two bootstraps are independent.
func moved(old, latest analysis.Curve) Moved {
	m := Moved{Old: old.Knee.Concurrency, New: latest.Knee.Concurrency}
	if !m.Old.OK || !m.New.OK {
		return m
	}
	a, b := m.Old.V, m.New.V
	by := b.Value - a.Value
	below, above := math.Hypot(b.Value-b.Lo, a.Hi-a.Value), math.Hypot(b.Hi-b.Value, a.Value-a.Lo)
	m.By = load.Some(load.Estimate{Value: by, Lo: by - below, Hi: by + above})
	towardsZero := below
	if by < 0 {
		towardsZero = above
	}
	normal := stat.Student{DF: math.Inf(1)}
	switch {
	case by == 0:
		m.P = load.Some(1.0)
	case towardsZero > 0:
		m.P = load.Some(normal.TwoSided(by / towardsZero * normal.Quantile(1-alpha/2)))
	}
	return m
}

// addTTFT fills in the TTFT of the levels, with intervals where both runs have
// single requests.
func addTTFT(levels []Level, old, latest Run) {
	a, b := valid(old.Curve), valid(latest.Curve)
	boundsOld, boundsNew := intervals(old.Data), intervals(latest.Data)
	for i := range levels {
		l := &levels[i]
		s, t := a[l.Concurrency], b[l.Concurrency]
		for k, f := range []func(load.Dist) float64{ttft50, ttft95} {
			x, y := f(s.TTFT), f(t.TTFT)
			if !timed(s, x) || !timed(t, y) {
				continue
			}
			c := Change{Old: x, New: y, Ratio: unbounded(y / x), lowerIsBetter: true}
			if e, g := boundsOld[l.Concurrency], boundsNew[l.Concurrency]; e != nil && g != nil {
				c.Ratio = ratio(e[k], g[k])
			}
			*[]*load.Opt[Change]{&l.TTFT50, &l.TTFT95}[k] = load.Some(c)
		}
	}
}

func intervals(d *analysis.Data) map[int][]load.Estimate {
	if d == nil {
		return nil
	}
	return analysis.TTFTIntervals(*d, 0.50, 0.95)
}

// ratio is b over a with the interval that their bounds make on the scale of
// logarithms, as in [moved].
func ratio(a, b load.Estimate) load.Estimate {
	d := math.Log(b.Value / a.Value)
	below := math.Hypot(math.Log(b.Value/b.Lo), math.Log(a.Hi/a.Value))
	above := math.Hypot(math.Log(b.Hi/b.Value), math.Log(a.Value/a.Lo))
	e := load.Estimate{Value: b.Value / a.Value, Lo: math.Exp(d - below), Hi: math.Exp(d + above)}
	if math.IsNaN(e.Lo) || math.IsNaN(e.Hi) || math.IsInf(e.Hi, 1) {
		return unbounded(e.Value)
	}
	return e
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
