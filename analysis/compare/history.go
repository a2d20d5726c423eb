package compare

import (
	"math"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// History is a value beside those of earlier runs.
type History struct {
	Runs      int               // earlier values
	Mean, SD  float64           // of them; the divisor of SD is Runs − 1
	Value     float64           // the new one
	Change    float64           // Value / Mean − 1
	Z         load.Opt[float64] // (Value − Mean) / SD; undefined when SD is 0
	Lo, Hi    float64           // where 95 % of further runs would lie if nothing had changed
	P         load.Opt[float64] // two-sided probability of a value as far off; undefined with fewer than MinHistory runs
	Adjusted  load.Opt[float64] // corrected for the number of tests of its family
	Judgement Judgement
}

// Enough reports whether there were enough earlier runs to judge by.
func (h History) Enough() bool { return h.Runs >= MinHistory }

// Against holds a value against those of earlier runs. The scatter between runs
// is what it is judged by, since it holds what a whole run has in common, which
// no scatter within a run shows. The next of n+1 equal runs lies within
//
//	mean ± t(n−1)·sd·√(1 + 1/n)
//
// in 95 % of cases (runs independent and normal). Beyond it, and further from
// the mean than the least that matters, a value is [Worse] or [Better]. With
// fewer than [MinHistory] values there is no test, and no mean without any.
func Against(history []float64, value float64, lowerIsBetter bool, o Options) History {
	h := newHistory(history, value)
	if h.P.OK {
		h.Adjusted = h.P
		h.Judgement = judgement(h.P.V, h.Change, lowerIsBetter, o.minEffect())
	}
	return h
}

func newHistory(history []float64, value float64) History {
	n := len(history)
	mean, v := stat.Variance(history)
	h := History{Runs: n, Mean: mean, SD: math.Sqrt(v), Value: value, Change: value/mean - 1, Lo: math.NaN(), Hi: math.NaN()}
	if h.SD > 0 {
		h.Z = load.Some((value - mean) / h.SD)
	}
	if !h.Enough() {
		return h
	}
	t := stat.Student{DF: float64(n - 1)}
	se := h.SD * math.Sqrt(1+1/float64(n))
	half := t.Quantile(1-alpha/2) * se
	h.Lo, h.Hi = mean-half, mean+half
	switch {
	case se > 0:
		h.P = load.Some(t.TwoSided((value - mean) / se))
	case value == mean:
		h.P = load.Some(1.0)
	default:
		h.P = load.Some(0.0)
	}
	return h
}

// addHistory holds levels and figures against all earlier runs: a level against
// the runs that have it, a figure over levels at the levels that all runs have.
func (c *Comparison) addHistory(old []Run, latest Run) {
	for i := range c.Levels {
		l := &c.Levels[i]
		var past []float64
		for _, r := range old {
			if s, ok := valid(r.Curve)[l.Concurrency]; ok {
				past = append(past, s.Throughput.V.Value)
			}
		}
		l.History = load.Some(newHistory(past, l.Throughput.New))
	}
	common := everywhere(old, latest)
	for i := range c.Figures {
		f := &c.Figures[i]
		var past []float64
		for _, r := range old {
			if x, ok := figure(f.Name, r.Curve, common); ok {
				past = append(past, x)
			}
		}
		if x, ok := figure(f.Name, latest.Curve, common); ok && len(past) > 0 {
			f.History = load.Some(newHistory(past, x))
		}
	}
}

// everywhere are the levels valid in all runs, ascending.
func everywhere(old []Run, latest Run) []int {
	var common []int
	for _, n := range sortedKeys(valid(latest.Curve)) {
		all := true
		for _, r := range old {
			_, ok := valid(r.Curve)[n]
			all = all && ok
		}
		if all {
			common = append(common, n)
		}
	}
	return common
}

// figure is the value of a figure of one curve: the plateau, or a geometric mean
// over levels.
func figure(name string, c analysis.Curve, levels []int) (float64, bool) {
	if name == FigurePlateau {
		return c.Knee.Plateau.V, c.Knee.Plateau.OK
	}
	steps := valid(c)
	sum := 0.0
	for _, n := range levels {
		s := steps[n]
		x, ok := s.Throughput.V.Value, true
		switch name {
		case FigureTTFT50:
			x, ok = s.TTFT.P50, timed(s, s.TTFT.P50)
		case FigureTTFT95:
			x, ok = s.TTFT.P95, timed(s, s.TTFT.P95)
		}
		if !ok {
			return 0, false
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(levels))), len(levels) > 0
}
