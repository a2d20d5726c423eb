package knee

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kneesweep/load"
)

// bent says whether a result calls the knee soft because a curve without a corner
// fits better.
func bent(r Result) bool {
	return r.Soft && slices.ContainsFunc(r.Warnings, func(w load.Warning) bool {
		return w.Code == load.WarnSoftKnee && strings.Contains(w.Text, "bends")
	})
}

// A curve that bends all the way is soft; a corner is not, nor a decline past it,
// and few levels do not tell.
func TestSoftByShape(t *testing.T) {
	law := func(n float64) float64 { return 30 * n / (1 + 0.03*(n-1) + 0.0005*n*(n-1)) }
	tests := []struct {
		name   string
		points []Point
		want   bool
	}{
		{"universal scalability law", curveOf(law, 1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64), true},
		{"saturates like a batching server", curveOf(func(n float64) float64 { return 1000 * n / (n + 4) }, 1, 2, 4, 8, 16, 32, 64, 128), true},
		{"corner", curveOf(ramp(25, 16), 1, 2, 4, 8, 12, 16, 24, 32, 64), false},
		{"power of N up to a corner", curveOf(func(n float64) float64 { return math.Pow(min(n, 20), 0.6) }, 1, 2, 4, 8, 16, 24, 32, 64), false},
		{"corner, then a decline", one([]int{1, 2, 4, 8, 16, 32, 64, 128}, 60, 120, 240, 480, 480, 480, 350, 200), false},
		{"too few levels past the knee", curveOf(law, 1, 2, 4, 8, 20, 30), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Choose(test.points, 1)
			if test.want && r.Verdict != Found {
				t.Fatalf("verdict %s, want a knee", r.Verdict)
			}
			if got := bent(r); got != test.want {
				t.Errorf("soft %t (%v), want %t", got, r.Warnings, test.want)
			}
		})
	}
}

// The curve without a corner is found exactly where it is one.
func TestSmoothSum(t *testing.T) {
	levels := pool(curveOf(func(n float64) float64 { return 1e5 * n / (7 + 0.3*n + 2e-4*n*n) }, 1, 5, 25, 50, 100, 150, 200, 250))
	if sum, ok := smoothSum(levels); !ok || sum > roundingSum(levels)*1e-6 {
		t.Errorf("residual sum %g, %t; want none", sum, ok)
	}
	if _, ok := smoothSum(pool(one([]int{1, 2, 3, 7}, 1000, 1000, 1200, 1))); ok {
		t.Error("a curve with a pole among the levels is believed")
	}
}

// A ramp that bends is no noise, and noise about it is seen.
func TestScatterOfABend(t *testing.T) {
	bend := func(n float64) float64 { return 50 * math.Pow(min(n, 30), 0.5) }
	levels := pool(curveOf(bend, doubling...))
	if sd := math.Sqrt(scatter(levels)); sd > 1e-6 {
		t.Errorf("scatter %.3g of an exact power, want none", sd)
	}
	if sd := math.Sqrt(lackOfFit(levels)); sd < 0.05 {
		t.Errorf("lack of fit %.3g about a straight ramp, want it seen", sd)
	}
	for i, shift := range []float64{1.05, 0.95, 1.05, 0.95, 1.05, 0.95, 1.05} {
		levels[i].median *= shift
	}
	if sd := math.Sqrt(scatter(levels)); sd < 0.04 || sd > 0.12 {
		t.Errorf("scatter %.3g, want about 0.05 to 0.08", sd)
	}
}

// Two flat levels past a bending ramp are believed with one window each, and not
// where the ramp is as noisy as the step between them.
func TestTwoSingleLevels(t *testing.T) {
	n := []int{1, 2, 4, 8, 16, 32, 64}
	if r := Choose(one(n, 57.5, 78.4, 107.9, 153.5, 218.5, 318.7, 315.2), 1); r.Verdict != Found {
		t.Errorf("%s, want a knee", r.Verdict)
	}
	if r := Choose(one(n, 57.5, 68, 125, 133, 250, 318.7, 315.2), 1); r.Verdict == Found {
		t.Errorf("a knee at %+v of a noisy ramp", r.Concurrency.V)
	}
}
