package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// dealt is the two-sided probability of the rank sum of y by trying every way to
// deal out the values.
func dealt(x, y []float64) float64 {
	all := append(append([]float64{}, x...), y...)
	r := ranks(all)
	mean := float64(len(y)) * float64(len(all)+1) / 2
	away := 0.0
	for _, v := range r[len(x):] {
		away += v
	}
	away = math.Abs(away - mean)
	hits, ways := 0, 0
	for set := range 1 << len(all) {
		sum, size := 0.0, 0
		for i := range all {
			if set>>i&1 == 1 {
				sum += r[i]
				size++
			}
		}
		if size != len(y) {
			continue
		}
		ways++
		if math.Abs(sum-mean) >= away-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(ways)
}

func TestRankSumIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		x, y := make([]float64, 1+rng.IntN(6)), make([]float64, 1+rng.IntN(6))
		for i := range x {
			x[i] = float64(rng.IntN(8)) // ties
		}
		for i := range y {
			y[i] = float64(rng.IntN(8)) + 1.5*float64(rng.IntN(2))
		}
		if got, want := RankSum(x, y, 0.95).P, dealt(x, y); !near(got, want, 1e-12) {
			t.Fatalf("%v, %v: P = %g, want %g", x, y, got, want)
		}
	}
}

// The places of the bounds are one more than the critical values of U at 5 %
// two-sided in published tables: 2 for 5 and 5, 13 for 8 and 8, 23 for 10 and 10.
func TestRankSumInterval(t *testing.T) {
	for n, want := range map[int]int{3: 0, 4: 1, 5: 3, 8: 14, 10: 24} {
		if got := diffRank(n, n, 0.025); got != want {
			t.Errorf("%d and %d: %d, want %d", n, n, got, want)
		}
	}
	s := RankSum([]float64{1, 2, 3, 4, 5}, []float64{11, 12, 13, 14, 15}, 0.95)
	// Differences 6 … 14 in a triangle of 25; the third smallest is 7.
	if s.Value != 10 || s.Lo != 7 || s.Hi != 13 || !near(s.P, 2.0/252, 1e-12) {
		t.Errorf("%+v, want 10, 7 to 13, P = 2/252", s)
	}
	if s := RankSum([]float64{1, 2, 3}, []float64{4, 5, 6}, 0.95); !math.IsInf(s.Lo, -1) || !math.IsInf(s.Hi, 1) || !near(s.P, 0.1, 1e-12) {
		t.Errorf("3 and 3 have an interval at 95 %%: %+v", s)
	}
	if s := RankSum(nil, []float64{1}, 0.95); s.P != 1 || !math.IsNaN(s.Value) {
		t.Errorf("%+v of nothing", s)
	}
	if s := RankSum([]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, 0.95); s.P != 1 || s.Value != 0 {
		t.Errorf("equal values: %+v", s)
	}
}

// Beyond the bound of the exact distribution nothing jumps.
func TestRankSumApproximation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, 32), make([]float64, 32)
	for i := range x {
		x[i], y[i] = math.Round(9*rng.NormFloat64()), math.Round(9*rng.NormFloat64()+5)
	}
	exact, more := RankSum(x, y, 0.95), RankSum(append(x, 0), y, 0.95)
	if !near(math.Log(more.P/exact.P), 0, 0.5) || !near(more.Lo, exact.Lo, 1.5) || !near(more.Hi, exact.Hi, 1.5) || exact.P > 0.05 || exact.P < 1e-4 {
		t.Errorf("64 values %+v, 65 values %+v", exact, more)
	}
	same := make([]float64, 40)
	if s := RankSum(same, same, 0.95); s.P != 1 {
		t.Errorf("many equal values: %+v", s)
	}
}

func TestHolm(t *testing.T) {
	// By hand: 4·0.005, 3·0.01, then 2·0.03 and 1·0.04, which may not be below it.
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("Holm = %v", got)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("above 1: %v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("Holm of nothing")
	}
}

// Published quantiles of Student's t.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ df, p, q float64 }{{1, 0.975, 12.7062}, {4, 0.975, 2.7764}, {10, 0.95, 1.8125}, {math.Inf(1), 0.975, 1.95996}} {
		s := Student{c.df}
		if got := s.Quantile(c.p); !near(got, c.q, 1e-4) {
			t.Errorf("df %g: quantile %g, want %g", c.df, got, c.q)
		}
		if got := s.TwoSided(-c.q); !near(got, 2*(1-c.p), 1e-5) {
			t.Errorf("df %g: two-sided %g, want %g", c.df, got, 2*(1-c.p))
		}
	}
	if s := (Student{math.Inf(1)}); s.TwoSided(0) != 1 {
		t.Error("0 is not the likeliest")
	}
}
