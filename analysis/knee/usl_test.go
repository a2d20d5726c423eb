package knee

import (
	"math"
	"testing"
)

// law with γ = 100, α = 0.05, β = 0.001, as a public report has it.
var lawCase = []float64{100, 190.1, 344.2, 569.0, 804.0, 903.4, 782.2, 542.2}

// A negative coefficient has no meaning in the universal scalability law, and a
// superlinear curve asks for one (VividCortex/ebooks#3, smoeding/usl#6).
func TestUniversalScalabilityLaw(t *testing.T) {
	n := []int{1, 2, 4, 8, 16, 32, 64, 128}
	points := one(n, lawCase...)
	streams, x, w := columns(pool(points))
	l, ok := fitLaw(streams, x, w)
	if !ok || !near(l.gamma, 100, 1e-3) || !near(l.alpha, 0.05, 1e-2) || !near(l.beta, 0.001, 1e-2) {
		t.Errorf("law %+v, want γ = 100, α = 0.05, β = 0.001", l)
	}
	e := USL{}.Find(points, 1)
	if k := e.Concurrency.V.Value; !e.Concurrency.OK || k > 31 || k < 30.5 {
		t.Errorf("peak at %+v, want √(0.95/0.001) = 30.8", e)
	}
	levels := pool(points)
	if top := levels[peak(levels)]; top.n != 32 || top.median != 903.4 {
		t.Errorf("highest level %+v, want 903.4 at 32", top)
	}
	if r := Choose(points, 1); r.Verdict != Found || r.Concurrency.V.Value > 31 || r.Retrograde == nil {
		t.Errorf("%s at %+v, retrograde %+v; want a knee at 31 at most and a decline", r.Verdict, r.Concurrency, r.Retrograde)
	}
}

func TestLawIsClamped(t *testing.T) {
	tests := []struct {
		name   string
		points []Point
	}{
		{"superlinear", one([]int{1, 2, 4, 8}, 100, 220, 480, 1000)},
		{"proportional", one([]int{1, 2, 4, 8, 16}, 100, 200, 400, 800, 1600)},
		{"power above 1", curveOf(func(n float64) float64 { return 10 * math.Pow(n, 1.2) }, doubling...)},
		{"hyperbola", curveOf(func(n float64) float64 { return 1000 * n / (n + 16) }, doubling...)},
		{"steps up", one(doubling, 100, 100, 100, 100, 800, 800, 6400)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, x, w := columns(pool(test.points))
			l, ok := fitLaw(n, x, w)
			if !ok || !(l.gamma > 0 && l.alpha >= 0 && l.beta >= 0) {
				t.Errorf("law %+v (%t), want no coefficient below 0", l, ok)
			}
			if e := (USL{}).Find(test.points, 1); e.Concurrency.OK || e.Note == "" {
				t.Errorf("%+v, want no peak and a reason", e)
			}
		})
	}
}

// Gauss and Newton reach the optimum that another program's nonlinear fit has; it
// was made from the mean of each level, so curves with one window compare.
func TestLawAgainstReference(t *testing.T) {
	tried := 0
	for _, c := range readCurves(t) {
		ref := c.Other.Law
		if ref == nil || len(c.Points[0].Repeats) > 1 {
			continue
		}
		tried++
		n, x, w := columns(pool(c.points()))
		l, ok := fitLaw(n, x, w)
		if !ok || l.rss > ref.RSS*(1+1e-5) || !near(l.peak(), ref.Peak, 1e-3) || !near(l.alpha, ref.Sigma, 1e-2) || !near(l.beta, ref.Kappa, 1e-2) {
			t.Errorf("%s: %+v with its peak at %g, want %+v", c.Name, l, l.peak(), *ref)
		}
	}
	if tried < 3 {
		t.Errorf("%d references, want 3 or more", tried)
	}
}
