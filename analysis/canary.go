package analysis

import (
	"fmt"
	"strings"

	gstat "gonum.org/v1/gonum/stat"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// canaryDoubt is the probability below which answers are called worse, after Holm's
// correction for all levels.
const canaryDoubt = 0.05

// canaries counts the answers to questions with known answers. One that failed has no
// answer, and counts among the failures alone.
func (d *levelData) canaries() load.Opt[load.Canary] {
	var c load.Canary
	var lengths []float64
	d.each(func(s *load.Sample, span load.Span) {
		if s.Canary == 0 || s.Failed() || !span.Holds(s.End) {
			return
		}
		c.Asked++
		if s.AsExpected {
			c.Passed++
		}
		lengths = append(lengths, float64(s.OutputTokens))
	})
	if c.Asked == 0 {
		return load.Opt[load.Canary]{}
	}
	c.Rate = float64(c.Passed) / float64(c.Asked)
	c.Lo, c.Hi = stat.Wilson(c.Passed, c.Asked, 0.95)
	c.Length = stat.Mean(lengths)
	if len(lengths) > 1 {
		c.LengthSD = gstat.StdDev(lengths, nil)
	}
	return load.Some(c)
}

// worseAnswers says at which levels fewer canaries were answered as expected than at the
// lowest one (Fisher's exact test), or at another length (Welch's test): 5 % for all of
// these tests together, by Holm.
func worseAnswers(steps []load.Step) (load.Warning, bool) {
	var base *load.Step
	var others []*load.Step
	var p []float64
	for i := range steps {
		s := &steps[i]
		switch c := s.Canary.V; {
		case !s.Valid || !s.Canary.OK:
		case base == nil:
			base = s
		default:
			b := base.Canary.V
			others = append(others, s)
			p = append(p, stat.FewerHits(b.Passed, b.Asked, c.Passed, c.Asked), stat.Welch(b.Length, b.LengthSD, b.Asked, c.Length, c.LengthSD, c.Asked))
		}
	}
	p = stat.Holm(p)
	var found []string
	for i, s := range others {
		c := s.Canary.V
		if p[2*i] < canaryDoubt {
			found = append(found, fmt.Sprintf("%d of %d canaries at N = %d were answered as expected, %d of %d at N = %d (p = %.2g)",
				c.Passed, c.Asked, s.Concurrency, base.Canary.V.Passed, base.Canary.V.Asked, base.Concurrency, p[2*i]))
		}
		if p[2*i+1] < canaryDoubt {
			found = append(found, fmt.Sprintf("their answers at N = %d have %.3g tokens on average, %.3g at N = %d (p = %.2g)",
				s.Concurrency, c.Length, base.Canary.V.Length, base.Concurrency, p[2*i+1]))
		}
	}
	if len(found) == 0 {
		return load.Warning{}, false
	}
	return load.Warnf(load.WarnCanary, "%s: what is gained in speed may be lost in the answers", strings.Join(found, "; ")), true
}
