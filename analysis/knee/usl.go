package knee

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// MethodUSL names the estimator by the universal scalability law.
const MethodUSL = "usl"

const (
	lawSteps     = 50   // of Gauss and Newton, at most
	lawTolerance = 1e-9 // relative change of the residual sum at which they end
)

// USL takes the peak of the universal scalability law for the knee (Gunther
// 2007, chapters 4 to 6):
//
//	X(N) = γ·N / (1 + α·(N − 1) + β·N·(N − 1)),  N* = √((1 − α)/β)
//
// with γ tokens/s of one stream, α the share lost to contention and β that lost to
// coherency, none below 0: a negative coefficient has no meaning, and a curve that
// rises faster than in proportion asks for one. Least squares in tokens/s on the
// medians of all levels but outliers, by Gauss and Newton from the fit that is
// linear in N/X; each linear step is solved by QR with every choice of α and β
// held at 0 that is needed. The lowest level need not be N = 1.
//
// The law has no plateau. On an endpoint that has one its peak lies far beyond the
// corner, or nowhere: then there is no knee.
type USL struct{}

var _ Finder = USL{}

// Method returns "usl".
func (USL) Method() string { return MethodUSL }

// Find implements [Finder].
func (USL) Find(points []Point, seed uint64) Estimate {
	return find(MethodUSL, points, seed, func(n, x, w []float64) reading {
		first, last := n[0], n[len(n)-1]
		l, ok := fitLaw(n, x, w)
		switch {
		case !ok:
			return reading{last, "the law does not fit"}
		case l.beta == 0:
			return reading{last, "no peak: the fitted law only rises"}
		case !(l.alpha < 1) || l.peak() < first:
			return reading{first, "the fitted law only declines"}
		case l.peak() > last:
			return reading{last, "the fitted law peaks beyond the last level"}
		}
		return reading{k: l.peak()}
	})
}

// law is the universal scalability law with its weighted residual sum of squares.
type law struct{ gamma, alpha, beta, rss float64 }

// peak is the N of the highest throughput, for α < 1 and β > 0.
func (l law) peak() float64 { return math.Sqrt((1 - l.alpha) / l.beta) }

// fitLaw fits the law to medians. With c = (1, α, β)/γ the time of a token, N/X, is
// linear: d(N) = c₁ + c₂·(N − 1) + c₃·N·(N − 1). ok is false if the levels allow
// none with γ > 0.
func fitLaw(n, x, w []float64) (law, bool) {
	fit := newLawFit(n, x, w)
	c, ok := fit.step(nil)
	if !ok {
		return law{}, false
	}
	rss := fit.rss(c)
	for range lawSteps {
		next, ok := fit.step(&c)
		if !ok {
			break
		}
		better := fit.rss(next)
		for half := 0; better > rss && half < 10; half++ { // a step too long
			for i := range next {
				next[i] = (next[i] + c[i]) / 2
			}
			better = fit.rss(next)
		}
		if better >= rss {
			break
		}
		done := rss-better <= lawTolerance*rss
		c, rss = next, better
		if done {
			break
		}
	}
	gamma := 1 / c[0]
	// The last column was scaled by the last level.
	return law{gamma, c[1] * gamma, c[2] * gamma / fit.last, rss}, true
}

// lawFit is the linear problem of one step, with its scratch memory.
type lawFit struct {
	n, x, w []float64
	last    float64
	design  *mat.Dense
	values  *mat.VecDense
	qr      mat.QR
}

type coefficients [3]float64 // c₁, c₂, c₃·last: columns of like size

func newLawFit(n, x, w []float64) *lawFit {
	return &lawFit{
		n: n, x: x, w: w, last: n[len(n)-1],
		design: mat.NewDense(len(n), 3, nil), values: mat.NewVecDense(len(n), nil),
	}
}

// columnsAt are the columns of d at level i.
func (f *lawFit) columnsAt(i int) coefficients {
	n := f.n[i]
	return coefficients{1, n - 1, n * (n - 1) / f.last}
}

func (c coefficients) dot(v coefficients) float64 { return c[0]*v[0] + c[1]*v[1] + c[2]*v[2] }

func (f *lawFit) rss(c coefficients) (sum float64) {
	for i, n := range f.n {
		e := f.x[i] - n/c.dot(f.columnsAt(i))
		sum += f.w[i] * e * e
	}
	return sum
}

// step solves the problem made linear at c, or, without one, at the data: the
// error of d is that of X times N/X².
func (f *lawFit) step(c *coefficients) (coefficients, bool) {
	for i, n := range f.n {
		columns := f.columnsAt(i)
		d := n / f.x[i]
		if c != nil {
			d = c.dot(columns)
		}
		precision := math.Sqrt(f.w[i]) * n / (d * d)
		for j, v := range columns {
			f.design.Set(i, j, precision*v)
		}
		f.values.SetVec(i, precision*(2*d-f.x[i]*d*d/n))
	}
	return f.nonNegative()
}

// nonNegative solves the linear problem with c₂ and c₃ not below 0: among the
// solutions with none, either or both of them held at 0 it is the best that is
// feasible, and without any held it is the best of all.
func (f *lawFit) nonNegative() (best coefficients, ok bool) {
	least := math.Inf(1)
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		c, rss, solved := f.solve(free)
		if !solved || c[0] <= 0 || c[1] < 0 || c[2] < 0 {
			continue
		}
		if rss < least {
			best, least, ok = c, rss, true
		}
		if len(free) == len(c) {
			break
		}
	}
	return best, ok
}

// solve is least squares with the free columns, the others held at 0.
func (f *lawFit) solve(free []int) (c coefficients, rss float64, ok bool) {
	rows := len(f.n)
	part := mat.NewDense(rows, len(free), nil)
	for j, from := range free {
		for i := range rows {
			part.Set(i, j, f.design.At(i, from))
		}
	}
	f.qr.Factorize(part)
	var solution, residual mat.VecDense
	if err := f.qr.SolveVecTo(&solution, false, f.values); err != nil {
		return c, 0, false
	}
	for j, to := range free {
		c[to] = solution.AtVec(j)
	}
	residual.MulVec(part, &solution)
	residual.SubVec(&residual, f.values)
	rss = mat.Dot(&residual, &residual)
	return c, rss, true
}
