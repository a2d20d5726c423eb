package knee

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What all windows of a level share is found again, on average over many curves,
// and windows alone are not taken for it.
func TestScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, tau := range []float64{0, 0.10} {
		sum, curves := 0.0, 300
		for range curves {
			var points []Point
			for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
				x := 50 * math.Min(float64(n), 24) * math.Exp(tau*rng.NormFloat64())
				p := Point{N: n}
				for range 10 {
					p.Windows = append(p.Windows, x*math.Exp(0.1*rng.NormFloat64()))
				}
				points = append(points, p)
			}
			got, df, ok := Scatter(points)
			if !ok || df < 1 {
				t.Fatalf("%g, %d, %t", got, df, ok)
			}
			sum += got * got
		}
		if got := math.Sqrt(sum / float64(curves)); math.Abs(got-tau) > 0.03 {
			t.Errorf("τ = %.3f, want %.2f", got, tau)
		}
	}
	if _, _, ok := Scatter([]Point{{1, []float64{1}}, {2, []float64{2}}}); ok {
		t.Error("two levels show their scatter")
	}
}
