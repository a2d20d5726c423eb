package knee

import (
	"math"
	"slices"
	"testing"

	"kneesweep/load"
)

// one makes points with one window each.
func one(n []int, x ...float64) []Point {
	points := make([]Point, len(n))
	for i := range n {
		points[i] = Point{n[i], []float64{x[i]}}
	}
	return points
}

// spread makes points with r windows each, evenly spread up to a share on either
// side of x.
func spread(share float64, r int, n []int, x ...float64) []Point {
	points := make([]Point, len(n))
	for i := range n {
		points[i].N = n[i]
		for j := range r {
			points[i].Windows = append(points[i].Windows, x[i]*(1+share*(2*float64(j)/float64(r-1)-1)))
		}
	}
	return points
}

// curveOf evaluates f at the levels, one window each.
func curveOf(f func(n float64) float64, n ...int) []Point {
	var x []float64
	for _, v := range n {
		x = append(x, f(float64(v)))
	}
	return one(n, x...)
}

var doubling = []int{1, 2, 4, 8, 16, 32, 64}

// toughCase is an input that broke other tools, or one of its kind.
type toughCase struct {
	name       string
	points     []Point
	verdict    Verdict
	lo, hi     float64 // bounds on the knee; for other verdicts unused
	retrograde int     // 0 = none
	outliers   []int
}

// toughCases are named after what is special about them; the comments give the
// public report of the first of each kind.
func toughCases() []toughCase {
	nan, inf := math.NaN(), math.Inf(1)
	return []toughCase{
		// cjekel/piecewise_linear_fit_py#19, arvkevi/kneed#27
		{"knee between levels", one(doubling, 40, 80, 160, 320, 640, 1000, 1000), Found, 24.7, 25.3, 0, nil},
		{"knee on a level", one(doubling, 50, 100, 200, 400, 800, 800, 800), Found, 15.999, 16.001, 0, nil},
		{"knee between close levels", curveOf(ramp(30, 10), 1, 2, 4, 6, 8, 12, 16, 24), Found, 9.99, 10.01, 0, nil},
		{"knee of a ramp that does not pass the origin", curveOf(func(n float64) float64 { return 90 + 30*min(n, 20) },
			1, 2, 4, 8, 16, 32, 64, 128), Found, 19.99, 20.01, 0, nil},
		// arvkevi/kneed#4
		{"straight line", curveOf(func(n float64) float64 { return 100 * n },
			2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19), NotLocated, 0, 0, 0, nil},
		{"straight line over doublings", curveOf(func(n float64) float64 { return 50 + 7*n }, 1, 2, 4, 8, 16, 32), NotLocated, 0, 0, 0, nil},
		// triton-inference-server/model_analyzer#675
		{"declines from the first level", one([]int{1, 2, 4, 8}, 400, 350, 300, 250), AtOrBelowFirst, 0, 0, 2, nil},
		{"declines slowly, then fast", one([]int{1, 2, 4, 8, 16, 32}, 400, 390, 370, 330, 250, 90), AtOrBelowFirst, 0, 0, 4, nil},
		{"flat, then declines", one([]int{8, 16, 32, 64, 128}, 900, 905, 895, 600, 300), AtOrBelowFirst, 0, 0, 64, nil},
		// arvkevi/kneed#84
		{"rise, plateau, collapse", one(doubling, 100, 200, 400, 800, 800, 700, 500), Found, 7.999, 8.5, 32, nil},
		{"rise, long plateau, collapse", one([]int{1, 2, 4, 8, 16, 32, 64, 128, 256}, 60, 120, 240, 480, 600, 600, 600, 450, 200),
			Found, 9.9, 10.1, 128, nil},
		// SeraphimSerapis/tool-eval-bench#152: a failed level is absent, or zero
		{"failed level absent", one([]int{1, 2, 4, 8, 32, 64}, 50, 100, 200, 400, 800, 800), Found, 15.7, 16.3, 0, nil},
		{"failed level zero", one(doubling, 50, 100, 200, 400, 0, 800, 800), Found, 15.7, 16.3, 0, nil},
		{"failed level undefined", one(doubling, 50, 100, 200, 400, nan, 800, 800), Found, 15.7, 16.3, 0, nil},
		{"first and last level failed", one(append([]int{128}, doubling...), 0, 0, 100, 200, 400, 800, 800, 800), Found, 15.7, 16.3, 0, nil},
		// cjekel/piecewise_linear_fit_py#2
		{"nothing", nil, TooFewLevels, 0, 0, 0, nil},
		{"one level", one([]int{1}, 100), TooFewLevels, 0, 0, 0, nil},
		{"two levels", one([]int{1, 2}, 100, 180), TooFewLevels, 0, 0, 0, nil},
		{"three levels", one([]int{1, 2, 4}, 100, 200, 210), TooFewLevels, 0, 0, 0, nil},
		{"three levels, repeated", one([]int{1, 2, 4, 4, 2}, 100, 200, 210, 212, 199), TooFewLevels, 0, 0, 0, nil},
		{"three levels beside a failed one", one([]int{1, 2, 4, 8}, 100, 200, 210, 0), TooFewLevels, 0, 0, 0, nil},
		{"unsorted and repeated", one([]int{8, 1, 4, 2, 8, 16}, 800, 100, 400, 200, 780, 800), Found, 7.9, 8.1, 0, nil},
		// arvkevi/kneed#74
		{"one bad step on the plateau", one([]int{1, 2, 4, 8, 16, 24, 32, 48, 64}, 100, 200, 400, 800, 1600, 1600, 1100, 1600, 1600),
			Found, 14.5, 16.5, 0, []int{32}},
		{"one bad step on the ramp", one([]int{1, 2, 4, 8, 12, 16, 24, 32, 64}, 20, 40, 80, 90, 240, 320, 400, 400, 400), Found, 19.9, 20.1, 0, []int{8}},
		// arvkevi/kneed#74
		{"hyperbola", curveOf(func(n float64) float64 { return 1000 * n / (n + 16) }, 1, 2, 4, 8, 16, 32, 64, 128), StillRising, 0, 0, 0, nil},
		{"hyperbola, half way", curveOf(func(n float64) float64 { return 5000 * n / (n + 100) }, 1, 2, 4, 8, 16, 32, 64, 128), NotLocated, 0, 0, 0, nil},
		{"superlinear", one([]int{1, 2, 4, 8}, 100, 220, 480, 1000), NotLocated, 0, 0, 0, nil},
		{"superlinear over many levels", curveOf(func(n float64) float64 { return 10 * math.Pow(n, 1.2) }, doubling...), NotLocated, 0, 0, 0, nil},
		{"universal scalability law", one([]int{1, 2, 4, 8, 16, 32, 64, 128}, 100, 190.1, 344.2, 569.0, 804.0, 903.4, 782.2, 542.2),
			Found, 10, 31, 128, nil}, // 782 is 6 % below the plateau: with one window that is not certain

		{"all equal", one(doubling, 100, 100, 100, 100, 100, 100, 100), AtOrBelowFirst, 0, 0, 0, nil},
		{"all failed", one(doubling, 0, 0, nan, -1, inf, 0, 0), TooFewLevels, 0, 0, 0, nil},
		{"a lone peak", one(doubling, 100, 150, 50, 50, 50, 50, 50), Found, 1, 4, 4, nil},
		{"peak and slow decline", one([]int{1, 2, 4, 8, 16}, 100, 200, 150, 120, 100), Found, 1.7, 4, 4, nil},
		{"one level past the knee", one(doubling, 25, 50, 100, 200, 400, 800, 1000), NotLocated, 0, 0, 0, nil},
		{"collapse at the last level", one(doubling, 100, 200, 400, 800, 800, 800, 300), Found, 7.999, 8.001, 64, []int{64}},
		{"cold first level", one(doubling, 20, 100, 200, 400, 800, 800, 800), Found, 15.9, 16.1, 0, []int{1}},
		{"rises again", one([]int{1, 2, 4, 8, 16, 32}, 100, 200, 210, 210, 400, 800), NotLocated, 0, 0, 0, nil},
		{"rises again after a long stall", spread(0.01, 3, []int{1, 5, 25, 50, 100, 150, 200, 250}, 100, 500, 2500, 2500, 2500, 2500, 3050, 3500),
			StillRising, 0, 0, 0, nil},
		{"creeps on", spread(0.01, 3, []int{1, 2, 4, 8, 16, 32, 64, 128}, 100, 200, 400, 800, 840, 880, 925, 970), Found, 7.5, 10, 0, nil},
	}
}

// Every case gives the same verdict in other units of throughput and of
// concurrency, with everything that is a level scaled along (gonum/plot#209).
func TestCases(t *testing.T) {
	scales := []struct {
		name          string
		throughput, n int // 1e-6 tokens/s or tokens/s; streams
	}{{"", 1e6, 1}, {", tiny values", 1, 1}, {", large levels", 1e6, 1000}}
	for _, test := range toughCases() {
		for _, by := range scales {
			t.Run(test.name+by.name, func(t *testing.T) {
				points := make([]Point, len(test.points))
				for i, p := range test.points {
					points[i].N = p.N * by.n
					for _, x := range p.Windows {
						points[i].Windows = append(points[i].Windows, x*float64(by.throughput)/1e6)
					}
				}
				checkCase(t, test, Choose(points, 1), by.n)
			})
		}
	}
}

func checkCase(t *testing.T, test toughCase, r Result, scale int) {
	t.Helper()
	if r.Verdict != test.verdict {
		t.Fatalf("verdict %s, want %s (fit %+v)", r.Verdict, test.verdict, r.Fit)
	}
	by := float64(scale)
	if k := r.Concurrency; k.OK != (test.verdict == Found) {
		t.Errorf("knee %+v with verdict %s", k, r.Verdict)
	} else if k.OK && !(test.lo*by <= k.V.Value && k.V.Value <= test.hi*by && k.V.Lo <= k.V.Value && k.V.Value <= k.V.Hi) {
		t.Errorf("knee %+v, want %g to %g inside its own interval", k.V, test.lo*by, test.hi*by)
	}
	var from int
	if r.Retrograde != nil {
		from = r.Retrograde.From
	}
	if from != test.retrograde*scale {
		t.Errorf("declines from %d (%+v), want %d", from, r.Retrograde, test.retrograde*scale)
	}
	var outliers []int
	for _, n := range test.outliers {
		outliers = append(outliers, n*scale)
	}
	if !slices.Equal(r.Outliers, outliers) {
		t.Errorf("outliers %v, want %v", r.Outliers, outliers)
	}
	checkInvariants(t, r)
}

// The peak is the first of the levels that are highest.
func TestPeakIsTheFirstOfTies(t *testing.T) {
	for _, test := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{100, 200, 400, 800, 800, 700, 500}, 8},
		{[]float64{400, 350, 300, 250, 200, 150, 100}, 1},
		{[]float64{100, 190.1, 344.2, 569, 804, 903.4, 782.2}, 32},
	} {
		levels := pool(one(doubling, test.x...))
		if got := levels[peak(levels)].n; got != test.want {
			t.Errorf("peak of %v at %g, want %g", test.x, got, test.want)
		}
	}
}

// checkInvariants holds for every result.
func checkInvariants(t *testing.T, r Result) {
	t.Helper()
	finite := func(name string, v load.Opt[float64]) {
		if v.OK && (math.IsNaN(v.V) || math.IsInf(v.V, 0)) {
			t.Errorf("%s is %g", name, v.V)
		}
	}
	finite("lower bound", r.LowerBound)
	finite("plateau", r.Plateau)
	finite("slope", r.Slope)
	finite("n95", r.N95)
	finite("rise per doubling", r.RisePerDoubling)
	unbounded := r.Verdict == NotLocated || r.Verdict == StillRising
	if r.LowerBound.OK != unbounded {
		t.Errorf("%s with lower bound %+v", r.Verdict, r.LowerBound)
	}
	if r.Method != MethodSegmented || r.Verdict == "" {
		t.Errorf("method %q, verdict %q", r.Method, r.Verdict)
	}
	if r.Verdict == Found && !(r.N95.OK && r.N95.V <= r.Concurrency.V.Value && r.Plateau.OK && r.Slope.V > 0 && r.Fit != nil) {
		t.Errorf("a knee without its figures: %+v", r)
	}
	if r.Verdict == StillRising && (r.Plateau.OK || r.Concurrency.OK) {
		t.Errorf("still rising with a plateau: %+v", r)
	}
}

// The figures beside a knee that lies between levels.
func TestFiguresOfAKnee(t *testing.T) {
	r := Choose(one(doubling, 40, 80, 160, 320, 640, 1000, 1000), 1)
	if !near(r.Plateau.V, 1000, 1e-9) || !near(r.Slope.V, 40, 1e-9) || !near(r.N95.V, 23.75, 1e-9) {
		t.Errorf("plateau %g slope %g n95 %g, want 1000, 40, 23.75", r.Plateau.V, r.Slope.V, r.N95.V)
	}
	if r.Fit.RSS > 1e-15 || r.Fit.From != 1 || r.Fit.To != 64 || !near(r.Fit.At(10), 400, 1e-9) {
		t.Errorf("fit %+v, want exact over 1 to 64", r.Fit)
	}
	if r.Soft {
		t.Error("soft, want sharp")
	}
}

// One window a level says nothing of its spread, and the result says that.
func TestLowConfidence(t *testing.T) {
	has := func(r Result) bool {
		return slices.ContainsFunc(r.Warnings, func(w load.Warning) bool { return w.Code == load.WarnLowConfidence })
	}
	points := one(doubling, 40, 80, 160, 320, 640, 1000, 1000)
	if !has(Choose(points, 1)) {
		t.Error("no warning with one window a level")
	}
	for i := range points {
		points[i].Windows = append(points[i].Windows, points[i].Windows[0]*1.001)
	}
	if has(Choose(points, 1)) {
		t.Error("warning with two windows a level")
	}
}

// A hyperbola has no corner, and the interval of the one that the fit puts says
// so. A ramp that goes on slower is still rising, and by how much is said.
func TestNoCorner(t *testing.T) {
	points := curveOf(func(n float64) float64 { return 1000 * n / (n + 16) }, 1, 2, 4, 8, 16, 32, 64, 128)
	e := Segmented{}.Find(points, 1).Concurrency
	if !e.OK || e.V.Lo > 21 || e.V.Hi < 38 {
		t.Errorf("interval %+v, want one that covers 21 to 38", e)
	}
	creep := one(doubling, 100, 200, 400, 800, 950, 1100, 1300)
	for i, p := range creep {
		x := p.Windows[0]
		creep[i].Windows = []float64{x * 0.99, x, x * 1.01}
	}
	r := Choose(creep, 1)
	if r.Verdict != StillRising || r.LowerBound.V != 64 || !near(r.RisePerDoubling.V, math.Sqrt(1300.0/950)-1, 1e-9) {
		t.Errorf("%s from %+v, %+v per doubling; want still rising at 64 by 17 %%", r.Verdict, r.LowerBound, r.RisePerDoubling)
	}
	checkInvariants(t, r)
}

// Only the fit of a level's neighbours can call it an outlier, and on a ramp
// that bends, or next to the knee, they do not determine it.
func TestOutlierNeedsEvidence(t *testing.T) {
	tests := []struct {
		name   string
		points []Point
	}{
		{"bend between neighbours", one([]int{10, 50, 100, 200, 500}, 1902, 6961, 11198, 11193, 11209)},
		{"steep start", one([]int{10, 50, 100, 200, 500, 750}, 2857, 5694, 5518, 5486, 5657, 5550)},
		{"rise at the end", one([]int{1, 2, 4, 8, 16, 32}, 100, 200, 210, 205, 208, 300)},
		{"slow decline", one(doubling, 100, 200, 400, 800, 800, 700, 500)},
		{"peak and collapse", spread(0.025, 10, doubling, 100, 200, 400, 800, 405, 201, 99)},
		{"peak and collapse, one window", one(doubling, 100, 200, 400, 800, 405, 201, 99)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if r := Choose(test.points, 1); len(r.Outliers) > 0 {
				t.Errorf("outliers %v, want none", r.Outliers)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	tests := []struct {
		x    []float64
		want int
	}{
		{nil, 0},
		{[]float64{5}, 1},
		{[]float64{400, 350, 300}, 2},
		{[]float64{100, 200, 400, 800, 800, 700, 500}, 5},
		{[]float64{100, 200, 400, 800, 1600}, 5},
		{[]float64{1, 2, 4, 4, 4, 4}, 6},
	}
	for _, test := range tests {
		if got := trim(test.x); got != test.want {
			t.Errorf("trim(%v) = %d, want %d", test.x, got, test.want)
		}
	}
}

func TestReach(t *testing.T) {
	n := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	tests := []struct {
		k    float64
		want int // levels kept
	}{
		{8, 6},        // to 32 = 4 k, also the third from 8 on
		{7.9, 6},      // 8, 16, 32
		{8.1, 7},      // 16, 32, 64
		{10, 7},       // third is 64
		{256, 9},      // all
		{8 + 1e-9, 6}, // rounding does not move the knee past its level
	}
	for _, test := range tests {
		if got := reach(n, len(n), test.k); got != test.want {
			t.Errorf("reach(%g) = %d, want %d", test.k, got, test.want)
		}
	}
	dense := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20}
	if got := reach(dense, len(dense), 2.5); got != 10 {
		t.Errorf("reach over dense levels = %d, want 10: every level up to 4 k", got)
	}
}
