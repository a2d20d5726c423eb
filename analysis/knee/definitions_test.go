package knee

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// On a straight ramp without noise the definitions of a corner agree, and the
// others lie where their formulas say.
func TestDefinitionsOfAStraightRamp(t *testing.T) {
	points := curveOf(ramp(25, 20), 1, 2, 4, 8, 16, 32, 64, 128)
	want := map[string]float64{
		MethodSegmented: 20, MethodSegmentedFree: 20, MethodHyperbolaCap: 20, MethodAsymptotic: 20,
		MethodN95: 19, MethodKneedle: 32,
	}
	for _, f := range Finders() {
		e := f.Find(points, 1)
		k, known := want[f.Method()]
		if e.Method != f.Method() || known && !(e.Concurrency.OK && near(e.Concurrency.V.Value, k, 1e-6)) {
			t.Errorf("%s: %+v, want %g", f.Method(), e, k)
		}
	}
}

// What holds for every definition: an interval around the value and inside the
// levels, or a reason; the same points and seed give the same bits, and the order
// of points carries nothing.
func TestDefinitionsInvariants(t *testing.T) {
	check := func(name string, points []Point, again bool) {
		for _, f := range Finders() {
			e := f.Find(points, 1)
			first, last := math.Inf(1), 0.0
			for _, p := range points {
				first, last = min(first, float64(p.N)), max(last, float64(p.N))
			}
			if k := e.Concurrency.V; e.Concurrency.OK && !(first <= k.Lo && k.Lo <= k.Value && k.Value <= k.Hi && k.Hi <= last) {
				t.Errorf("%s, %s: %+v, levels %g to %g", name, e.Method, k, first, last)
			}
			if !e.Concurrency.OK && e.Note == "" {
				t.Errorf("%s, %s: neither a knee nor a reason", name, e.Method)
			}
			if !again {
				continue
			}
			mixed := append([]Point(nil), points...)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if got := f.Find(mixed, 1); !reflect.DeepEqual(got, e) {
				t.Errorf("%s, %s: %+v in another order, %+v before", name, e.Method, got, e)
			}
		}
	}
	for _, test := range toughCases() {
		check(test.name, test.points, false)
	}
	for _, c := range readCurves(t) {
		check(c.Name, c.points(), strings.HasPrefix(c.Name, "s"))
	}
}

// Every definition gives the same knee in other units of throughput, and a knee
// in proportion in other units of concurrency; the law alone knows what one stream
// is.
func TestDefinitionsScale(t *testing.T) {
	for seed := range uint64(3) {
		points := random(seed)
		faster, wider := make([]Point, len(points)), make([]Point, len(points))
		for i, p := range points {
			faster[i], wider[i] = Point{N: p.N}, Point{1024 * p.N, p.Windows}
			for _, x := range p.Windows {
				faster[i].Windows = append(faster[i].Windows, x/1024)
			}
		}
		for _, f := range Finders() {
			want, got, far := f.Find(points, seed), f.Find(faster, seed), f.Find(wider, seed)
			same := func(a, b Estimate, by float64) bool {
				return a.Concurrency.OK == b.Concurrency.OK && near(a.Concurrency.V.Value, by*b.Concurrency.V.Value, 1e-6)
			}
			if !same(got, want, 1) {
				t.Errorf("seed %d, %s: %+v at another throughput, %+v before", seed, f.Method(), got, want)
			}
			if f.Method() != MethodUSL && !same(far, want, 1024) {
				t.Errorf("seed %d, %s: %+v at 1024 times the streams, %+v before", seed, f.Method(), far, want)
			}
		}
	}
}

// Curves without a knee give a reason in place of one.
func TestNoKneeByDefinition(t *testing.T) {
	line := curveOf(func(n float64) float64 { return 20 * n }, doubling...)
	flat := one(doubling, 100, 101, 100, 99, 100, 101, 100)
	few := one([]int{1, 2, 4}, 100, 200, 210)
	for _, f := range Finders() {
		for name, points := range map[string][]Point{"line": line, "flat": flat, "few": few, "none": nil} {
			if f.Method() == MethodSegmented && name == "flat" {
				continue // says where the fit bends, however little
			}
			if e := f.Find(points, 1); e.Concurrency.OK || e.Note == "" {
				t.Errorf("%s of %s: %+v, want a reason and no knee", f.Method(), name, e)
			}
		}
	}
}

// Kneedle gives the level that its authors' rule gives as another program has it,
// where throughput grows at all.
func TestKneedleAgainstReference(t *testing.T) {
	tried := 0
	for _, c := range readCurves(t) {
		n, x, _ := columns(pool(c.points()))
		if len(n) < minLevels || highest(pool(c.points())) < minRise*x[0] {
			continue
		}
		tried++
		want := math.NaN()
		if c.Kneed.Knee != nil {
			want = *c.Kneed.Knee
		}
		i, ok := firstKnee(aboveChord(nil, n, x))
		if ok != (c.Kneed.Knee != nil) || ok && n[i] != want {
			t.Errorf("%s: level %g (%t), want %g", c.Name, n[i], ok, want)
		}
	}
	if tried != publishedCurves-4 {
		t.Errorf("%d curves that grow, want %d", tried, publishedCurves-4)
	}
}

// The bent ramp with a cap is at least as good as the optimum that another
// program found for the same levels, and its corner is the same where the
// reference has one among them.
func TestHyperbolaAgainstReference(t *testing.T) {
	tried, corners := 0, 0
	for _, c := range readCurves(t) {
		ref := c.HyperbolicCap
		if ref == nil {
			continue
		}
		tried++
		n, x, w := columns(pool(c.points()))
		sum, tss := 0.0, 0.0
		for i := range n {
			w[i] = 1
			e := math.Log(x[i]) - math.Log(min(n[i]/(ref.T0+ref.T1*n[i]), ref.C))
			sum += e * e
			tss += math.Log(x[i]) * math.Log(x[i])
		}
		var h hyperbolas
		got := h.fit(n, x, w)
		if got.rss > sum*(1+1e-6)+1e-14*tss {
			t.Errorf("%s: residual sum %.9g, want at most %.9g", c.Name, got.rss, sum)
		}
		if ref.Knee > n[0] && ref.Knee < n[len(n)-1] && got.rss > sum*(1-1e-2) {
			corners++
			if !near(got.k, ref.Knee, 5e-3) {
				t.Errorf("%s: knee %.6g, want %.6g", c.Name, got.k, ref.Knee)
			}
		}
	}
	if tried != publishedCurves-2 || corners < 12 {
		t.Errorf("%d references, %d with a corner; want %d and 12 or more", tried, corners, publishedCurves-2)
	}
}

// A server that slows down as it batches is what the bent ramp is for; the line
// reads low there.
func TestHyperbolaIsExact(t *testing.T) {
	slots := func(n float64) float64 { return min(n, 24) / (0.01 + 0.0003*min(n, 24)) }
	points := curveOf(slots, 1, 2, 4, 8, 16, 32, 64, 128)
	if e := (HyperbolaCap{}).Find(points, 1); !e.Concurrency.OK || !near(e.Concurrency.V.Value, 24, 1e-4) {
		t.Errorf("%+v, want 24", e)
	}
	if e := (Segmented{}).Find(points, 1); !e.Concurrency.OK || e.Concurrency.V.Value > 22 {
		t.Errorf("%+v, want a line that reads low", e)
	}
}

// A smooth curve runs away, and the estimate says so.
func TestHyperbolaRunsAway(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"no cap": func(n float64) float64 { return 1000 * n / (n + 16) },
		"flat":   func(n float64) float64 { return min(1000*n/(n+2), 990) },
	} {
		e := HyperbolaCap{}.Find(curveOf(f, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), 1)
		if e.Concurrency.OK || !strings.HasPrefix(e.Note, "runs away") {
			t.Errorf("%s: %+v, want that it runs away", name, e)
		}
	}
}

func BenchmarkSegmented(b *testing.B) {
	benchmarkFinders(b, Segmented{})
}

func BenchmarkFinders(b *testing.B) {
	benchmarkFinders(b, Finders()...)
}

// benchmarkFinders is for 30 levels of ten windows.
func benchmarkFinders(b *testing.B, finders ...Finder) {
	var levels []int
	for n := 1.0; len(levels) < 30; n = max(n+1, n*1.2) {
		levels = append(levels, int(n))
	}
	points := noisy(rand.New(rand.NewPCG(1, 1)), ramp(25, 40), levels, 10, 0.1)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range finders {
			f.Find(points, 1)
		}
	}
}
