package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Student is Student's t with df > 0 degrees of freedom, whole or not; with
// +Inf it is the normal distribution.
type Student struct{ DF float64 }

// Quantile returns the p-quantile, 0 < p < 1.
func (s Student) Quantile(p float64) float64 {
	if math.IsInf(s.DF, 1) || s.DF > 1e6 {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Sigma: 1, Nu: s.DF}.Quantile(p)
}

// TwoSided returns the probability of a value as far from 0 as t, or further.
func (s Student) TwoSided(t float64) float64 {
	t = math.Abs(t)
	if math.IsInf(s.DF, 1) || s.DF > 1e6 {
		return min(1, 2*distuv.UnitNormal.Survival(t))
	}
	return min(1, 2*distuv.StudentsT{Sigma: 1, Nu: s.DF}.Survival(t))
}
