package knee

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// noisy draws windows around f with a coefficient of variation of cv.
func noisy(rng *rand.Rand, f func(n float64) float64, levels []int, windows int, cv float64) []Point {
	points := make([]Point, len(levels))
	for i, n := range levels {
		points[i].N = n
		for range windows {
			points[i].Windows = append(points[i].Windows, f(float64(n))*math.Exp(cv*rng.NormFloat64()))
		}
	}
	return points
}

func ramp(slope, k float64) func(float64) float64 {
	return func(n float64) float64 { return slope * min(n, k) }
}

func random(seed uint64) []Point {
	rng := rand.New(rand.NewPCG(seed, 99))
	levels := []int{1, 2, 4, 8, 16, 32, 64, 128, 256}[:5+rng.IntN(5)]
	return noisy(rng, ramp(25, math.Exp(rng.Float64()*5)), levels, 1+rng.IntN(6), 0.02+0.2*rng.Float64())
}

func TestInvariants(t *testing.T) {
	for seed := range uint64(60) {
		checkInvariants(t, Choose(random(seed), seed))
	}
}

func TestSameSeedSameBits(t *testing.T) {
	for seed := range uint64(20) {
		a, b := Choose(random(seed), seed), Choose(random(seed), seed)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}

// The order of points and windows carries nothing, nor does it matter whether
// the windows of a level come as one point or several, and the input stays.
func TestOrderCarriesNothing(t *testing.T) {
	for seed := range uint64(20) {
		points := random(seed)
		want := Choose(points, seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		var shuffled []Point
		for _, p := range points {
			w := slices.Clone(p.Windows)
			rng.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
			cut := rng.IntN(len(w) + 1)
			shuffled = append(shuffled, Point{p.N, w[:cut]}, Point{p.N, w[cut:]})
		}
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := Choose(shuffled, seed); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %+v in another order, %+v before", seed, got, want)
		}
		if !reflect.DeepEqual(points, random(seed)) {
			t.Errorf("seed %d: the points were changed", seed)
		}
	}
}

// Scaling throughput scales line and plateau and leaves the knee; scaling
// concurrency scales the knee.
func TestScaling(t *testing.T) {
	for seed := range uint64(20) {
		points := random(seed)
		want := Choose(points, seed)
		faster, wider := make([]Point, len(points)), make([]Point, len(points))
		for i, p := range points {
			faster[i].N, wider[i].N = p.N, 1024*p.N
			wider[i].Windows = p.Windows
			for _, x := range p.Windows {
				faster[i].Windows = append(faster[i].Windows, 1024*x)
			}
		}
		f, w := Choose(faster, seed), Choose(wider, seed)
		if f.Verdict != want.Verdict || w.Verdict != want.Verdict {
			t.Fatalf("seed %d: %s and %s when scaled, %s before", seed, f.Verdict, w.Verdict, want.Verdict)
		}
		if want.Fit == nil {
			continue
		}
		if !near(f.Fit.K, want.Fit.K, 1e-9) || !near(f.Fit.B, 1024*want.Fit.B, 1e-9) || math.Abs(f.Fit.A-1024*want.Fit.A) > 1e-6*f.Fit.At(f.Fit.K) {
			t.Errorf("seed %d: %+v at 1024 times the throughput, %+v before", seed, f.Fit, want.Fit)
		}
		if !near(w.Fit.K, 1024*want.Fit.K, 1e-9) {
			t.Errorf("seed %d: %+v at 1024 times the concurrency, %+v before", seed, w.Fit, want.Fit)
		}
		if want.Verdict == Found && (!near(f.Concurrency.V.Hi, want.Concurrency.V.Hi, 1e-9) || !near(w.Concurrency.V.Lo, 1024*want.Concurrency.V.Lo, 1e-9)) {
			t.Errorf("seed %d: interval %+v and %+v when scaled, %+v before", seed, f.Concurrency.V, w.Concurrency.V, want.Concurrency.V)
		}
	}
}

// Sweeping further past the knee does not move it.
func TestFarLevelsDoNotCount(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		levels := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
		points := noisy(rng, ramp(25, 20), levels, 6, 0.05)
		near, far := Choose(points[:8], seed), Choose(points, seed)
		if near.Verdict != Found || far.Verdict != Found {
			t.Fatalf("seed %d: %s up to 128, %s up to 1024", seed, near.Verdict, far.Verdict)
		}
		if near.Concurrency.V.Value != far.Concurrency.V.Value {
			t.Errorf("seed %d: knee %g up to 128, %g up to 1024", seed, near.Concurrency.V.Value, far.Concurrency.V.Value)
		}
	}
}

// The scan must find what a search over a fine grid of knees finds.
func TestScanIsExact(t *testing.T) {
	for seed := range uint64(50) {
		n, x, w := columns(pool(random(seed)))
		var s scanner
		s.load(n, x, w)
		got, ok := s.fit(len(n))
		best := math.Inf(1)
		for k := n[0] * 1.001; k <= n[len(n)-1]; k *= 1.001 {
			var m moments
			for i := range n {
				m = m.add(min(n[i], k), x[i], w[i])
			}
			if m.snx > 0 {
				best = min(best, m.sxx-m.snx*m.snx/m.snn)
			}
		}
		if !ok || got.rss > best*(1+1e-9) {
			t.Errorf("seed %d: residual sum %g, a grid finds %g", seed, got.rss, best)
		}
	}
}

// Digits hold at many streams and high throughput.
func TestLargeNumbers(t *testing.T) {
	points := curveOf(func(n float64) float64 { return 6e4 + 1e-3*min(n, 1000.5) }, 1000, 1001, 1002, 1003, 1024, 1100)
	n, x, w := columns(pool(points))
	var s scanner
	s.load(n, x, w)
	// One level lies before the knee, so the scan puts it at the next.
	if got, ok := s.fit(len(n)); !ok || got.k != 1001 {
		t.Errorf("knee %+v, want 1001", got)
	}
	points = curveOf(ramp(60, 1000), 996, 998, 1000, 1002, 1024)
	n, x, w = columns(pool(points))
	s.load(n, x, w)
	if got, ok := s.fit(len(n)); !ok || !near(got.k, 1000, 1e-12) || got.rss > 1e-12*6e4*6e4 {
		t.Errorf("knee %+v, want 1000", got)
	}
}

// On a straight ramp with 10 % noise the median error is about 3 % and the
// interval covers the truth in 95 % of sweeps or more.
func TestCoverage(t *testing.T) {
	const sweeps = 100
	levels := []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
	for _, drift := range []float64{0, 0.05} {
		var covered, found int
		var errs []float64
		rng := rand.New(rand.NewPCG(42, 1))
		for seed := range uint64(sweeps) {
			points := noisy(rng, ramp(25, 40), levels, 10, 0.1)
			for i := range points {
				shift := math.Exp(drift * rng.NormFloat64())
				for j := range points[i].Windows {
					points[i].Windows[j] *= shift
				}
			}
			r := Choose(points, seed)
			if r.Verdict != Found {
				continue
			}
			found++
			k := r.Concurrency.V
			errs = append(errs, math.Abs(k.Value/40-1))
			if k.Lo <= 40 && 40 <= k.Hi {
				covered++
			}
		}
		slices.Sort(errs)
		if found < sweeps*85/100 || covered < found*93/100 || errs[found/2] > 0.06 {
			t.Errorf("drift %.0f %%: %d of %d found, %d covered, median error %.1f %%",
				100*drift, found, sweeps, covered, 100*errs[found/2])
		}
	}
}

// A straight line and a bending ramp without a plateau have no knee.
func TestNoFalseKnees(t *testing.T) {
	levels := []int{1, 2, 4, 8, 16, 32, 64, 128}
	for name, f := range map[string]func(float64) float64{
		"line":        func(n float64) float64 { return 20 * n },
		"square root": func(n float64) float64 { return 100 * math.Sqrt(n) },
		"hyperbola":   func(n float64) float64 { return 1000 * n / (n + 100) },
	} {
		var wrong int
		rng := rand.New(rand.NewPCG(8, 1))
		for seed := range uint64(50) {
			if Choose(noisy(rng, f, levels, 10, 0.1), seed).Verdict == Found {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%s: %d of 50 sweeps show a knee", name, wrong)
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	points := noisy(rand.New(rand.NewPCG(1, 1)), ramp(25, 40), []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, 10, 0.1)
	b.ReportAllocs()
	for b.Loop() {
		Choose(points, 1)
	}
}
