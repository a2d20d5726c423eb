package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// Scale is what a number of GPUs gives against the fewest that were measured.
type Scale struct {
	GPUs       int
	Run        string
	Throughput load.Opt[load.Estimate] // output tokens/s at saturation, or of the best level
	Saturated  bool                    // a plateau was seen; else more may be there
	SpeedUp    load.Opt[load.Estimate] // of the throughput
	Efficiency load.Opt[load.Estimate] // speed-up over the ratio of GPUs; 1 is perfect
	Note       string                  // why there is no speed-up, or a doubt; may be empty
}

// Scaling compares the runs of different numbers of GPUs, of each number the first,
// with that of the fewest. Their speed-up is x/y with the interval of Zou and Donner
// (2008) for a difference of logarithms: with the half-widths of ln x and ln y below
// and above, ln(x/y) − √(below(x)² + above(y)²) to ln(x/y) + √(above(x)² + below(y)²).
// It is empty unless there are two numbers.
func Scaling(runs []Run) []Scale {
	var first []Run
	for _, r := range runs {
		if !slices.ContainsFunc(first, func(f Run) bool { return f.GPUs == r.GPUs }) {
			first = append(first, r)
		}
	}
	if len(first) < 2 {
		return nil
	}
	slices.SortFunc(first, func(a, b Run) int { return cmp.Compare(a.GPUs, b.GPUs) })
	base := scaleOf(first[0])
	scales := []Scale{base}
	for _, r := range first[1:] {
		s := scaleOf(r)
		switch why := otherWork(first[0].Curve, r.Curve); {
		case why != "":
			s.Note = why
		case !s.Throughput.OK || !base.Throughput.OK:
			s.Note = "no level is valid in one of the runs"
		default:
			s.SpeedUp = load.Some(ratio(s.Throughput.V, base.Throughput.V))
			k, e := float64(r.GPUs)/float64(first[0].GPUs), s.SpeedUp.V
			s.Efficiency = load.Some(load.Estimate{Value: e.Value / k, Lo: e.Lo / k, Hi: e.Hi / k})
			for _, x := range []Scale{base, s} {
				if !x.Saturated && s.Note == "" {
					s.Note = fmt.Sprintf("no plateau was seen on %s: more streams may bring more", gpus(x.GPUs))
				}
			}
		}
		scales = append(scales, s)
	}
	return scales
}

func scaleOf(r Run) Scale {
	s := Scale{GPUs: r.GPUs, Run: r.Name}
	s.Throughput, s.Saturated = capacity(r.Curve)
	return s
}

// capacity is the throughput of a curve at saturation: the median of all windows of
// the levels at or above its knee, with its 95 % interval. Without a plateau it is
// that of the best level.
func capacity(c analysis.Curve) (x load.Opt[load.Estimate], saturated bool) {
	saturated = c.Knee.Verdict == knee.Found || c.Knee.Verdict == knee.AtOrBelowFirst
	from := 0.0
	if c.Knee.Concurrency.OK {
		from = c.Knee.Concurrency.V.Value * (1 - 1e-9)
	}
	var windows []float64
	for _, s := range c.Steps {
		declines := c.Knee.Retrograde != nil && s.Concurrency >= c.Knee.Retrograde.From
		switch {
		case !s.Valid || !s.Throughput.OK || slices.Contains(c.Knee.Outliers, s.Concurrency):
		case !saturated && (!x.OK || s.Throughput.V.Value > x.V.Value):
			x = s.Throughput
		case saturated && float64(s.Concurrency) >= from && !declines:
			windows = append(windows, s.Measurements...)
		}
	}
	if len(windows) > 0 {
		x = load.Some(stat.MedianEstimate(windows))
	}
	return x, saturated
}

// otherWork says in which length two runs differ; empty if in none.
func otherWork(a, b analysis.Curve) string {
	for _, l := range []struct {
		name string
		of   func(analysis.Curve) float64
	}{
		{"input", func(c analysis.Curve) float64 { return float64(c.Run.Request.InputTokensAsked) }},
		{"output", func(c analysis.Curve) float64 { return outputLength(c).V }},
	} {
		if x, y := l.of(a), l.of(b); math.Abs(x-y) > sameLength*max(x, y) {
			return fmt.Sprintf("the runs differ in their %s tokens, %.4g and %.4g", l.name, x, y)
		}
	}
	return ""
}

// ratio is x/y with its interval; a bound of 0 or less leaves it open.
func ratio(x, y load.Estimate) load.Estimate {
	half := func(a, b float64) float64 { return math.Log(a / b) } // NaN if a bound is not positive
	r := math.Log(x.Value / y.Value)
	below := math.Hypot(half(x.Value, x.Lo), half(y.Hi, y.Value))
	above := math.Hypot(half(x.Hi, x.Value), half(y.Value, y.Lo))
	return load.Estimate{Value: x.Value / y.Value, Lo: math.Exp(r - below), Hi: math.Exp(r + above)}
}
