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
)

// soft says why a knee is no sharp corner, in one warning for each reason: the
// levels weighted by their precision put it elsewhere, or a curve without a
// corner fits them better. A sharp knee gives none.
func (s segmented) soft(levels []level) []load.Warning {
	var reasons []load.Warning
	if k, elsewhere := s.weighted(levels); elsewhere {
		reasons = append(reasons, load.Warnf(load.WarnSoftKnee,
			"soft knee: weighting levels by their precision puts it at %.3g instead of %.3g", k, s.k))
	}
	if s.bends(levels) {
		reasons = append(reasons, load.Warnf(load.WarnSoftKnee,
			"soft knee: a curve that bends all the way fits the levels better than one with a corner at %.3g", s.k))
	}
	return reasons
}

// bends reports whether a curve without a corner beats the fit on its own levels
// by more than 6 in BIC. Both have three figures, so BIC compares residual sums.
func (s segmented) bends(levels []level) bool {
	fitted := levels[:s.count]
	if len(fitted) < softLevels {
		return false
	}
	smooth, ok := smoothSum(fitted)
	floor := roundingSum(fitted)
	return ok && float64(len(fitted))*math.Log(max(s.rss, floor)/max(smooth, floor)) > minBIC
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
// more than 25 % elsewhere. A level whose windows scatter less than a tenth of
// what is usual counts as if they scattered that much; with no scatter known at
// all s is proportional to the value.
func (s segmented) weighted(levels []level) (k float64, elsewhere bool) {
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
	if !ok {
		return 0, false
	}
	return l.k, math.Abs(l.k-s.k) > softShare*s.k
}
