package knee

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

const (
	softShare  = 0.25 // how far weights 1/s² may put a sharp knee from the unweighted one
	softLevels = 5    // fewer cannot tell two curves of three figures apart
	softAbove  = 3    // nor can fewer at or above the knee tell a bend from a corner
	softBIC    = 10   // by which a curve without a corner must beat one with
)

// soft says why a knee is no sharp corner, in one warning for each reason: the
// levels weighted by their precision put it elsewhere, or a curve without a
// corner fits them better. A sharp knee gives none. What declines, from the level
// given on, is a bend of its own and tells nothing of the knee.
func (s segmented) soft(levels []level, decline *Retrograde) []load.Warning {
	var reasons []load.Warning
	if k, elsewhere, _ := s.weighted(levels); elsewhere {
		reasons = append(reasons, load.Warnf(load.WarnSoftKnee,
			"soft knee: weighting levels by their precision puts it at %.3g instead of %.3g", k, s.k))
	}
	fitted := levels[:s.count]
	for decline != nil && len(fitted) > 0 && fitted[len(fitted)-1].n >= float64(decline.From) {
		fitted = fitted[:len(fitted)-1]
	}
	if len(atOrAbove(fitted, s.k, kneeNoise)) >= softAbove && bends(fitted) {
		reasons = append(reasons, load.Warnf(load.WarnSoftKnee,
			"soft knee: a curve that bends all the way fits the levels better than one with a corner at %.3g", s.k))
	}
	return reasons
}

// bends reports whether a curve without a corner fits the levels better than the
// best with one, by more than 10 in BIC (very strong evidence by Kass and Raftery
// 1995). Both have three figures, so BIC compares residual sums.
func bends(levels []level) bool {
	if len(levels) < softLevels {
		return false
	}
	n, x, w := columns(levels)
	var scan scanner
	scan.load(n, x, w)
	corner, rises := scan.fit(len(levels))
	smooth, ok := smoothSum(levels)
	floor := roundingSum(levels)
	return rises && ok && float64(len(levels))*math.Log(max(corner.rss, floor)/max(smooth, floor)) > softBIC
}

// smoothSum is the weighted residual sum of squares, in tokens/s, of the curve
// X(N) = N/(p + q·N + r·N²), which bends everywhere: a server that slows down in
// proportion as it batches (r = 0), or by the universal scalability law (Gunther
// 2007). It is linear in N/X, whose errors are those of X times N/X²; dividing
// them by that makes one least-squares fit of it. ok is false if the curve has a
// pole among the levels.
func smoothSum(levels []level) (sum float64, ok bool) {
	n, x, w := columns(levels)
	last := n[len(n)-1]
	design := mat.NewDense(len(n), 3, nil)
	values := mat.NewVecDense(len(n), nil)
	for i := range n {
		precision := math.Sqrt(w[i]) * x[i] * x[i] / n[i]
		u := n[i] / last // keeps the columns alike
		design.SetRow(i, []float64{precision, precision * u, precision * u * u})
		values.SetVec(i, precision*n[i]/x[i])
	}
	var qr mat.QR
	qr.Factorize(design)
	var c mat.VecDense
	if err := qr.SolveVecTo(&c, false, values); err != nil {
		return 0, false
	}
	for i := range n {
		u := n[i] / last
		inverse := c.AtVec(0) + u*(c.AtVec(1)+u*c.AtVec(2))
		if inverse <= 0 {
			return 0, false
		}
		e := x[i] - n[i]/inverse
		sum += w[i] * e * e
	}
	return sum, true
}

// weighted fits the same levels with weights r/s², s being the standard deviation
// of a level's windows, and reports where that puts the knee and whether it is
// more than 25 % elsewhere; ok is false if no line rises then. A level whose
// windows scatter less than a tenth of what is usual counts as if they scattered
// that much; with no scatter known at all s is proportional to the value.
func (s segmented) weighted(levels []level) (k float64, elsewhere, ok bool) {
	fitted := levels[:s.count]
	groups := make([][]float64, len(fitted))
	for i, l := range fitted {
		groups[i] = l.windows
	}
	cv, known := stat.PooledCV(groups)
	if !known || cv == 0 {
		cv = 1
	}
	n, x, w := columns(fitted)
	for i, l := range fitted {
		sd := cv * l.median
		if len(l.windows) > 1 && known {
			_, v := stat.Variance(l.windows)
			sd = max(math.Sqrt(v), 0.1*cv*l.median)
		}
		w[i] /= sd * sd
	}
	var sc scanner
	sc.load(n, x, w)
	l, ok := sc.solve(len(fitted))
	return l.k, ok && math.Abs(l.k-s.k) > softShare*s.k, ok
}
