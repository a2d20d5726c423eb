package compare

import (
	"math"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
)

// Paired compares two runs of one interleaved sweep (sweep.Interleave), visit by
// visit: each visit of latest with the one of old at the same level in the same
// pass, which was made right before or after it. The shift of a pair is that of
// Hodges and Lehmann between the windows of both, the shift of a level the mean of
// its pairs; what drifts under both cancels. A level without a pair is left out, so
// its figures follow the pairs and not the medians that stand beside them. Both runs
// need their single requests.
//
// Another model does not forbid the comparison: names of one model differ from
// server to server, and whoever names two asks for it. It is listed.
func Paired(old, latest Run, o Options) Comparison {
	c := begin([]Run{old}, latest, o)
	c.Paired = true
	c.OldName, c.NewName = or(c.Old.Label, c.OldName), or(c.New.Label, c.NewName)
	for i := range c.Differences {
		if c.Differences[i].Field == "model" {
			c.Differences[i].Fatal = false
		}
	}
	c.finish([]Run{old}, latest, newPairs(old.Curve, latest.Curve).paired(*old.Data, *latest.Data))
	return c
}

// paired puts the shifts of paired visits in place of those of medians. The scatter
// of windows is that within single visits, so that no drift is in it.
func (p pairs) paired(old, latest analysis.Data) pairs {
	a, b := analysis.VisitRates(old), analysis.VisitRates(latest)
	cvOld, okOld := visitCV(a)
	cvNew, okNew := visitCV(b)
	p.cv, p.drift = okOld && okNew, 0
	kept := p.all[:0]
	for _, q := range p.all {
		var shifts []float64
		q.within = 0
		for _, pass := range sortedKeys(a[q.n]) {
			x, y := logs(a[q.n][pass]), logs(b[q.n][pass])
			if len(x) == 0 || len(y) == 0 {
				continue
			}
			shifts = append(shifts, stat.RankSum(x, y, 1-alpha).Value)
			q.within += hodgesLehmann * (cvOld*cvOld/float64(len(x)) + cvNew*cvNew/float64(len(y)))
		}
		if len(shifts) == 0 {
			continue
		}
		q.shift, q.ranked = stat.Mean(shifts), false
		q.within /= float64(len(shifts) * len(shifts))
		kept = append(kept, q)
	}
	p.all = kept
	return p.among()
}

// hodgesLehmann is the variance of that estimate of a shift over that of the
// difference of means, for normal values.
const hodgesLehmann = math.Pi / 3

// among takes what levels share from how their shifts scatter alone: what both
// curves share at a level, the pairs cancel.
func (p pairs) among() pairs {
	p.shared = scatter{ok: len(p.all) > 2, df: float64(len(p.all) - 1)}
	if p.shared.ok {
		p.shared.variance = p.excess()
	}
	return p
}

// visitCV is the coefficient of variation of windows within visits.
func visitCV(rates map[int]map[int][]float64) (float64, bool) {
	var groups [][]float64
	for _, n := range sortedKeys(rates) {
		for _, pass := range sortedKeys(rates[n]) {
			groups = append(groups, positive(rates[n][pass]))
		}
	}
	return stat.PooledCV(groups)
}
