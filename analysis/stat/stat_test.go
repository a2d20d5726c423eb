package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

// Values of R's quantile(x, p, type = 7).
func TestQuantile(t *testing.T) {
	tests := []struct {
		sorted []float64
		p      float64
		want   float64
	}{
		{nil, 0.5, math.NaN()},
		{[]float64{7}, 0.9, 7},
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4}, 0.25, 1.75},
		{[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{1, 2, 3, 4}, -1, 1},
		{[]float64{1, 2, 3, 4}, 2, 4},
		{[]float64{10, 20, 30, 40, 50}, 0.9, 46},
		{[]float64{10, 20, 30, 40, 50}, 0.99, 49.6},
		{[]float64{5, 5, 5}, 0.37, 5},
	}
	for _, test := range tests {
		got := Quantile(test.sorted, test.p)
		if !near(got, test.want, 1e-12) && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("Quantile(%v, %g) = %g, want %g", test.sorted, test.p, got, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	x := []float64{9, 1, 4}
	if got := Median(x); got != 4 || x[0] != 9 {
		t.Errorf("Median = %g leaving %v, want 4 and the order as it was", got, x)
	}
	if got := Median([]float64{4, 1, 2, 100}); got != 3 {
		t.Errorf("Median of four = %g, want 3", got)
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("Median of nothing is a number")
	}
}

func TestRobustScale(t *testing.T) {
	if got := RobustScale([]float64{1, 2, 3, 4, 1e9}); !near(got, 1.4826, 1e-4) {
		t.Errorf("RobustScale = %g, want 1.4826: deviations 0, 1, 1, 2 and a wild one", got)
	}
	if got := RobustScale([]float64{5}); got != 0 {
		t.Errorf("RobustScale of one = %g, want 0", got)
	}
}

func TestPooledCV(t *testing.T) {
	// Both groups have mean 100; s² is 100 with 1 and 200 with 2 degrees of freedom.
	d := math.Sqrt(50)
	e := math.Sqrt(200)
	cv, ok := PooledCV([][]float64{{100 - d, 100 + d}, {100 - e, 100, 100 + e}, {7}, nil})
	if want := math.Sqrt((100 + 2*200) / 3.0 / 1e4); !ok || !near(cv, want, 1e-12) {
		t.Errorf("PooledCV = %g, %t, want %g", cv, ok, want)
	}
	if _, ok := PooledCV([][]float64{{7}, {8}}); ok {
		t.Error("PooledCV of single values is known")
	}
}

func TestMedianVarianceFactor(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 1, 3: 1.35, 4: 1.19, 10: 1.38, 1000: 1.57, 1001: 1.57} {
		if got := MedianVarianceFactor(n); !near(got, want, 0.005) {
			t.Errorf("MedianVarianceFactor(%d) = %g, want %g", n, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{11, 12, 20, 21} {
		const draws = 40000
		var sum float64
		for range draws {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			m := Median(x)
			sum += m * m
		}
		if got, want := MedianVarianceFactor(n), float64(n)*sum/draws; !near(got, want, 0.04) {
			t.Errorf("MedianVarianceFactor(%d) = %.3f, simulated %.3f", n, got, want)
		}
	}
}

func TestMedianInterval(t *testing.T) {
	if _, _, ok := MedianInterval([]float64{3}, 0.95); ok {
		t.Error("one value has an interval")
	}
	// t(1) = 12.706, s = √2: 12.706·√2/√2.
	if lo, hi, ok := MedianInterval([]float64{10, 12}, 0.95); !ok || !near(lo, 11-12.706, 1e-3) || !near(hi, 11+12.706, 1e-3) {
		t.Errorf("two values: %g to %g, want 11 ± 12.706", lo, hi)
	}
	// Ten values: ranks 2 and 9 have 97.85 %, 3 and 8 have 89.06 %; λ = 8·0.3247/(2+6·0.3247).
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if lo, hi, _ := MedianInterval(x, 0.95); !near(lo, 2.658, 2e-3) || !near(hi, 8.342, 2e-3) {
		t.Errorf("ten values: %g to %g, want 2.658 to 8.342", lo, hi)
	}
	// At the confidence of a pair itself the pair is the interval.
	if lo, hi, _ := MedianInterval(x, 1-2*11.0/1024); !near(lo, 2, 1e-6) || !near(hi, 9, 1e-6) {
		t.Errorf("ten values at 97.85 %%: %g to %g, want 2 to 9", lo, hi)
	}
	if lo, hi, _ := MedianInterval(x, 0.9999); lo != 1 || hi != 10 {
		t.Errorf("ten values at 99.99 %%: %g to %g, want the extremes", lo, hi)
	}
}

// The interval holds the median that the sample came from in about 95 % of
// cases, at every size, and contains the sample's own median.
func TestMedianIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 10, 15, 30} {
		const runs = 2000
		var covered int
		for range runs {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			lo, hi, ok := MedianInterval(x, 0.95)
			if m := Median(x); !ok || m < lo || m > hi {
				t.Fatalf("n = %d: %g to %g around a median of %g", n, lo, hi, m)
			}
			if lo <= 0 && 0 <= hi {
				covered++
			}
		}
		if got := float64(covered) / runs; got < 0.935 || got > 0.98 {
			t.Errorf("n = %d: coverage %.3f, want about 0.95", n, got)
		}
	}
}

// By hand: 1 2 3 4 5 has S = 10, Var = 5·4·15/18, Z = 9/√16.67 = 2.2045; the
// values minus their slope of 1 are equal, so nothing is corrected.
func TestMannKendallByHand(t *testing.T) {
	got := MannKendall([]float64{1, 2, 3, 4, 5})
	if got.S != 10 || !near(got.Z, 2.2045, 1e-4) || !near(got.P, 0.0275, 1e-4) || got.Slope != 1 || got.Correction != 1 {
		t.Errorf("%+v, want S 10, Z 2.2045, P 0.0275, slope 1, no correction", got)
	}
	// Ties: 1 1 2 2 3 has S = 8 and Var = (300 − 2·18)/18 = 14.667.
	if got := MannKendall([]float64{1, 1, 2, 2, 3}); got.S != 8 || !near(got.Z*math.Sqrt(got.Correction), 7/math.Sqrt(264.0/18), 1e-9) {
		t.Errorf("with ties: %+v, want S 8 and Z 1.8278 before correction", got)
	}
	if got := MannKendall([]float64{5, 5, 5, 5}); got.P != 1 || got.S != 0 {
		t.Errorf("equal values: %+v, want no trend", got)
	}
	if got := MannKendall([]float64{1, 2}); got.P != 1 {
		t.Errorf("two values: %+v, want no trend", got)
	}
}

// The correction by the definition, term by term, on a slow wave: ranks of the
// values minus their slope, autocorrelation of each lag, significant ones only.
func TestHamedRao(t *testing.T) {
	var x []float64
	for i := range 24 {
		x = append(x, math.Round(100*math.Sin(float64(i)/3)))
	}
	got := MannKendall(x)
	n := len(x)
	flat := make([]float64, n)
	for i := range x {
		flat[i] = x[i] - got.Slope*float64(i)
	}
	rank := make([]float64, n)
	for i := range flat {
		for j := range flat {
			switch {
			case flat[j] < flat[i]:
				rank[i]++
			case flat[j] == flat[i]:
				rank[i] += 0.5
			}
		}
		rank[i] += 0.5
	}
	mean, variance := Mean(rank), 0.0
	for _, r := range rank {
		variance += (r - mean) * (r - mean)
	}
	sum := 0.0
	for lag := 1; lag < n-2; lag++ {
		c := 0.0
		for i := 0; i+lag < n; i++ {
			c += (rank[i] - mean) * (rank[i+lag] - mean)
		}
		if rho := c / variance; math.Abs(rho) > 1.96/math.Sqrt(float64(n)) {
			sum += float64((n-lag)*(n-lag-1)*(n-lag-2)) * rho
		}
	}
	want := 1 + 2*sum/float64(n*(n-1)*(n-2))
	if !near(got.Correction, want, 1e-9) || want < 1.2 {
		t.Errorf("correction %g, want %g and well above 1: the wave is correlated", got.Correction, want)
	}
}

func TestElasticity(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = 3 * math.Pow(x[i], 0.7)
	}
	if e, ok := Elasticity(x, y, 0.95); !ok || !near(e.Value, 0.7, 1e-12) || !near(e.Upper, 0.7, 1e-6) || e.DF != 3 {
		t.Errorf("%+v, want 0.7 exactly", e)
	}
	// log2 y = 0, 2, 1 at log2 x = 0, 1, 2: slope 0.5, residuals −0.5, 1, −0.5,
	// se = √(1.5/2) = 0.8660, t(1) = 6.3138.
	e, ok := Elasticity([]float64{1, 2, 4}, []float64{1, 4, 2}, 0.95)
	if !ok || !near(e.Value, 0.5, 1e-12) || !near(e.Upper, 0.5+6.3138*0.8660, 1e-3) {
		t.Errorf("%+v, want 0.5 with an upper limit of 5.968", e)
	}
	if e, ok := Elasticity([]float64{1, 2}, []float64{1, 2}, 0.95); !ok || !math.IsInf(e.Upper, 1) {
		t.Errorf("two points: %+v, want no upper limit", e)
	}
	for _, x := range [][]float64{nil, {3}, {3, 3, 3}} {
		if _, ok := Elasticity(x, slices.Clone(x), 0.95); ok {
			t.Errorf("Elasticity at x = %v has a slope", x)
		}
	}
}
