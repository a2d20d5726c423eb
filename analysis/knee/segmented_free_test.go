package knee

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The bend over all levels, without weights, must be the optimum that an
// exhaustive search by another program found, and lie where R's segmented puts
// it; see TestScanAgainstReference for what rounding is allowed. Where a side has
// one level the knee is not unique, and only the residual sum is compared.
func TestFreeAgainstReference(t *testing.T) {
	tried := 0
	for _, c := range readCurves(t) {
		for _, ref := range c.References {
			if ref.Fit != "ols-medians" || c.Reference.Breakpoint == nil || ref.Free.Breakpoint == nil {
				continue
			}
			tried++
			t.Run(c.Name, func(t *testing.T) {
				n, x, w := columns(pool(c.points()))
				for i := range w {
					w[i] = 1
				}
				var s scanner
				s.load(n, x, w)
				b, ok := s.fitFree()
				if !ok {
					t.Fatal("no fit")
				}
				b = refineFree(b, n, x, w)
				if want := *c.Reference.Breakpoint; !near(b.k, want, 0.005) {
					t.Errorf("knee %.9g, want %.9g", b.k, want)
				}
				unit := math.Pow(10, math.Floor(math.Log10(ref.Free.RSS))-8)
				if limit := ref.Free.RSS*(1+1e-9) + unit/2 + 1e-18*squares(x); b.rss > limit {
					t.Errorf("residual sum %.12g, want at most %.12g", b.rss, limit)
				}
				if !near(b.left, ref.Free.Slopes[0], 1e-6) || math.Abs(b.right-ref.Free.Slopes[1]) > 1e-6*math.Abs(b.left) {
					t.Errorf("slopes %g and %g, want %v", b.left, b.right, ref.Free.Slopes)
				}
			})
		}
	}
	if tried != publishedCurves-1 { // two points determine no bend
		t.Errorf("%d references, want one for each of %d curves", tried, publishedCurves-1)
	}
}

func (b bend) at(n float64) float64 { return b.x + b.left*min(n-b.k, 0) + b.right*max(n-b.k, 0) }

// refineFree solves a bend once more, by QR with its knee held, and takes the
// residual sum from the residuals themselves.
func refineFree(b bend, n, x, w []float64) bend {
	design := mat.NewDense(len(n), 3, nil)
	values := mat.NewVecDense(len(n), nil)
	for i := range n {
		root := math.Sqrt(w[i])
		design.SetRow(i, []float64{root, root * min(n[i]-b.k, 0), root * max(n[i]-b.k, 0)})
		values.SetVec(i, root*x[i])
	}
	var qr mat.QR
	qr.Factorize(design)
	var solution mat.VecDense
	if err := qr.SolveVecTo(&solution, false, values); err == nil {
		b.x, b.left, b.right = solution.AtVec(0), solution.AtVec(1), solution.AtVec(2)
	}
	b.rss = 0
	for i := range n {
		e := x[i] - b.at(n[i])
		b.rss += w[i] * e * e
	}
	return b
}
