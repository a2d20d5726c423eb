package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Slope is a fitted slope with its one-sided upper limit.
type Slope struct {
	Value float64 // the slope
	Upper float64 // one-sided upper limit at the confidence asked for; +Inf without degrees of freedom
	DF    int     // residual degrees of freedom, n−2
}

// Elasticity fits log y = c + e·log x by ordinary least squares and returns e,
// the relative change of y for a relative change of x: 1 when y is proportional
// to x, 0 when it is flat. Upper is e + t(n−2)·se(e) at the one-sided
// confidence (0.95). x and y are positive and of equal length; ok is false with
// fewer than two distinct x.
func Elasticity(x, y []float64, confidence float64) (s Slope, ok bool) {
	lx := make([]float64, len(x))
	ly := make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	var sxx float64
	mx := Mean(lx)
	for _, v := range lx {
		sxx += (v - mx) * (v - mx)
	}
	if len(x) < 2 || sxx <= 0 {
		return Slope{}, false
	}
	alpha, beta := stat.LinearRegression(lx, ly, nil, false)
	s = Slope{Value: beta, Upper: math.Inf(1), DF: len(x) - 2}
	if s.DF < 1 {
		return s, true
	}
	var rss float64
	for i := range lx {
		e := ly[i] - alpha - beta*lx[i]
		rss += e * e
	}
	se := math.Sqrt(rss / float64(s.DF) / sxx)
	s.Upper = beta + StudentQuantile(confidence, s.DF)*se
	return s, true
}

// StudentQuantile returns the p-quantile of Student's t with df ≥ 1 degrees of
// freedom.
func StudentQuantile(p float64, df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(p)
}
