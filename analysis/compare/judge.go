package compare

import (
	"math"
	"slices"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

const power = 0.80 // of finding what is called detectable

// The codes of warnings of a comparison.
const (
	WarnWork    = "other_work"
	WarnScatter = "scatter_unknown"
	WarnFew     = "few_runs"
	WarnSame    = "same_run"
)

// judgement is what a corrected probability and a relative change say together.
func judgement(p, change float64, lowerIsBetter bool, least float64) Judgement {
	switch {
	case p >= alpha:
		return Unshown
	case math.Abs(change) <= least:
		return Small
	case (change < 0) != lowerIsBetter:
		return Worse
	}
	return Better
}

// tested is one test of a family, wherever its outcome is kept.
type tested struct {
	p             load.Opt[float64]
	change        float64
	lowerIsBetter bool
	adjusted      *load.Opt[float64]
	judgement     *Judgement
}

// judge corrects the tests and draws the verdict. There are two families, the
// figures of whole curves and the single levels, each corrected by Holm at 5 %
// two-sided. So a figure or level is falsely found worse in at most 2.5 % of
// comparisons of equal runs for each family, 5 % in all.
func (c *Comparison) judge() {
	var figures, levels []tested
	for i := range c.Figures {
		f := &c.Figures[i]
		ch := &f.Change
		t := tested{ch.P, ch.Ratio.Value - 1, ch.lowerIsBetter, &ch.Adjusted, &ch.Judgement}
		if h := &f.History.V; c.ByHistory {
			t = tested{h.P, h.Change, ch.lowerIsBetter, &h.Adjusted, &h.Judgement}
		}
		figures = append(figures, t)
	}
	for i := range c.Levels {
		l := &c.Levels[i]
		ch := &l.Throughput
		t := tested{ch.P, ch.Ratio.Value - 1, false, &ch.Adjusted, &ch.Judgement}
		if h := &l.History.V; c.ByHistory {
			t = tested{h.P, h.Change, false, &h.Adjusted, &h.Judgement}
		}
		levels = append(levels, t)
	}
	found := map[Judgement]int{}
	correct(figures, c.MinEffect, found)
	correct(levels, c.MinEffect, found)
	c.detectable(figures)
	switch {
	case found[Worse] > 0, len(c.Levels) > 0 && c.Failing():
		c.Verdict = Regression
	case found[Better] > 0:
		c.Verdict = Improvement
	case found[Unshown]+found[Small] == 0:
		c.Verdict = CannotTell
	case c.equivalent():
		c.Verdict = Equivalent
	default:
		c.Verdict = NoEvidence
	}
}

// Failing reports whether requests fail at a level that was valid before.
func (c Comparison) Failing() bool {
	return slices.ContainsFunc(c.Missing, func(m Missing) bool { return m.Failing })
}

// correct adjusts a family of tests for their number and counts judgements.
func correct(family []tested, least float64, found map[Judgement]int) {
	var p []float64
	var who []tested
	for _, t := range family {
		if t.p.OK {
			p, who = append(p, t.p.V), append(who, t)
		}
	}
	for i, adjusted := range stat.Holm(p) {
		t := who[i]
		*t.adjusted = load.Some(adjusted)
		*t.judgement = judgement(adjusted, t.change, t.lowerIsBetter, least)
		found[*t.judgement]++
	}
}

// detectable fills in what change the figures of the curves would have shown: it
// must be significant as the first of its family, and be measured as more than
// the least that matters, in 80 % of comparisons.
func (c *Comparison) detectable(family []tested) {
	tests := 0
	for _, t := range family {
		if t.p.OK {
			tests++
		}
	}
	for i := range c.Figures {
		ch := &c.Figures[i].Change
		se, df := ch.se, ch.df
		if h := c.Figures[i].History; c.ByHistory {
			se, df = h.V.SD/h.V.Mean*math.Sqrt(1+1/float64(h.V.Runs)), float64(h.V.Runs-1)
			if !h.V.P.OK {
				continue
			}
		}
		if !family[i].p.OK {
			continue
		}
		t := stat.Student{DF: df}
		least := -math.Log1p(-c.MinEffect)
		if ch.lowerIsBetter {
			least = math.Log1p(c.MinEffect)
		}
		d := se * t.Quantile(power)
		d += max(least, se*t.Quantile(1-alpha/2/float64(tests)))
		if ch.lowerIsBetter {
			ch.Detectable = load.Some(math.Expm1(d))
		} else {
			ch.Detectable = load.Some(-math.Expm1(-d))
		}
	}
}

// equivalent reports whether the intervals of throughput and plateau lie within
// the least that matters. The history has an interval for a run, not for a change.
func (c *Comparison) equivalent() bool {
	shown := false
	for _, f := range c.Figures {
		if f.Name != FigureThroughput && f.Name != FigurePlateau {
			continue
		}
		r := f.Change.Ratio
		if c.ByHistory || !(r.Lo > 1-c.MinEffect && r.Hi < 1+c.MinEffect) {
			return false
		}
		shown = shown || f.Name == FigureThroughput
	}
	return shown
}

// doubts are what weakens the comparison as a whole.
func (c *Comparison) doubts(old []Run, latest Run, p pairs) []load.Warning {
	last := old[len(old)-1]
	all := c.work(last.Curve, latest.Curve)
	if !p.shared.ok && len(p.all) > 0 && len(old) < MinHistory {
		all = append(all, load.Warnf(WarnScatter, "with %d common levels nothing shows what all windows of a level share: intervals are too narrow if there is something", len(p.all)))
	}
	if len(old) == 2 {
		all = append(all, load.Warnf(WarnFew, "2 OLD runs are no history yet, it takes %d: the last one is compared with", MinHistory))
	}
	for _, r := range old {
		if r.Curve.Run.ID != "" && r.Curve.Run.ID == latest.Curve.Run.ID && r.Curve.Run.Started.Equal(latest.Curve.Run.Started) && !latest.Curve.Run.Started.IsZero() {
			all = append(all, load.Warnf(WarnSame, "OLD and NEW are the same run, %s", latest.Curve.Run.ID))
			break
		}
	}
	return all
}
