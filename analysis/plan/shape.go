package plan

import (
	"math"

	"kneesweep/load"
)

// shape is the quantile function of a distribution over its mean, on straight lines
// between the known quantiles. The lower half is one line, from where it makes the
// mean right; above p99 the line from p95 goes on.
type shape struct{ p, x []float64 }

func newShape(d load.Dist) shape {
	if d.Count == 0 || !(d.Mean > 0 && d.P50 >= 0) || math.IsInf(d.Mean, 0) {
		return shape{[]float64{0, 1}, []float64{1, 1}}
	}
	p, x := []float64{0, 0.5}, []float64{d.P50, d.P50}
	for _, q := range []struct{ p, x float64 }{{0.9, d.P90}, {0.95, d.P95}, {0.99, d.P99}} {
		if !math.IsNaN(q.x) {
			p, x = append(p, q.p), append(x, max(q.x, x[len(x)-1]))
		}
	}
	last := len(p) - 1
	p, x = append(p, 1), append(x, x[last]+(x[last]-x[last-1])/(p[last]-p[last-1])*(1-p[last])/2)
	upper := 0.0
	for i := 2; i < len(p); i++ {
		upper += (p[i] - p[i-1]) * (x[i] + x[i-1]) / 2
	}
	x[0] = min(max(0, 4*(d.Mean-upper)-d.P50), d.P50)
	mean := upper + (x[0]+x[1])/4
	for i := range x {
		x[i] /= mean
	}
	return shape{p, x}
}

// at is the quantile u.
func (s shape) at(u float64) float64 {
	i := 1
	for i < len(s.p)-1 && u > s.p[i] {
		i++
	}
	w := (u - s.p[i-1]) / (s.p[i] - s.p[i-1])
	return (1-w)*s.x[i-1] + w*s.x[i]
}
