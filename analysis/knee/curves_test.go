package knee

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// curve is one file of testdata/curves: levels, reference fits by other
// programs, and what is known of the truth.
type curve struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Points []struct {
		N       int       `json:"n"`
		Repeats []float64 `json:"repeats"`
	} `json:"points"`
	Truth struct {
		Knee any `json:"knee"`
	} `json:"truth"`
	Expert *struct {
		Regime string    `json:"regime"`
		Range  []float64 `json:"knee_range"`
	} `json:"expert"`
	Reference struct {
		Breakpoint *float64 `json:"breakpoint"` // of two free slopes, by R's segmented where it converged
	} `json:"reference"`
	References []struct {
		Fit   string        `json:"fit"`
		Exact reference     `json:"exact_line_plus_plateau"`
		Free  freeReference `json:"exact_free_two_slopes"`
	} `json:"references"`
	HyperbolicCap *struct{ Knee, T0, T1, C float64 } `json:"reference_hyperbolic_cap"`
	Kneed         struct {
		Knee *float64 `json:"knee"`
	} `json:"reference_kneed"`
	Other struct {
		Law *struct {
			Sigma, Kappa, RSS float64
			Peak              float64 `json:"n_peak"`
		} `json:"usl_nls_ols_means"`
	} `json:"reference_other_models"`
	Expected  string `json:"expected_verdict"`
	Tolerance struct {
		Truth *float64 `json:"knee_rel_vs_truth"`
	} `json:"tolerance"`
}

// reference is another program's exact fit of X(N) = intercept + slope·min(N, K).
type reference struct{ Breakpoint, Slope, Plateau, RSS float64 }

// freeReference is the same for two free slopes.
type freeReference struct {
	Breakpoint *float64
	Slopes     []float64
	RSS        float64
}

// publishedCurves is how many files testdata/curves has.
const publishedCurves = 39

func (c curve) points() []Point {
	var points []Point
	for _, p := range c.Points {
		points = append(points, Point{p.N, p.Repeats})
	}
	return points
}

func readCurves(t testing.TB) []curve {
	t.Helper()
	names, err := filepath.Glob("../../testdata/curves/*.json")
	if err != nil || len(names) != publishedCurves {
		t.Fatalf("%d curves (%v), want %d", len(names), err, publishedCurves)
	}
	var curves []curve
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c curve
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.Name = strings.TrimSuffix(filepath.Base(name), ".json")
		curves = append(curves, c)
	}
	return curves
}

// The scan over all levels, without weights, must be the optimum that an
// exhaustive search by another program found: breakpoint within 0.5 %, residual
// sum not above 1 + 1e-9 times the reference. The reference is printed with nine
// digits, so half a unit of the ninth is allowed on top, and where the fit is
// exact 1e-18 of the sum of squares, which is what rounding leaves.
func TestScanAgainstReference(t *testing.T) {
	tried := 0
	for _, c := range readCurves(t) {
		for _, ref := range c.References {
			if ref.Fit != "ols-medians" {
				continue
			}
			tried++
			t.Run(c.Name, func(t *testing.T) {
				n, x, w := columns(pool(c.points()))
				for i := range w {
					w[i] = 1
				}
				checkScan(t, optimum(t, n, x, w), ref.Exact, x)
			})
		}
	}
	if tried != publishedCurves {
		t.Errorf("%d references, want one for each of %d curves", tried, publishedCurves)
	}
}

// optimum is the best line with a plateau, rising or falling: the scan finds
// those that rise, and a falling one is a rising one upside down.
func optimum(t *testing.T, n, x, w []float64) line {
	t.Helper()
	best := line{rss: math.Inf(1)}
	for _, sign := range []float64{1, -1} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = sign * x[i]
		}
		var s scanner
		s.load(n, y, w)
		found, ok := s.fit(len(n))
		if !ok {
			continue
		}
		l := refine(found, n, y, w)
		if math.Abs(found.rss-l.rss) > 1e-6*l.rss+1e-12*squares(x) {
			t.Errorf("residual sum by the scan %.9g, by QR %.9g", found.rss, l.rss)
		}
		if l.rss < best.rss {
			best = line{sign * l.a, sign * l.b, l.k, l.rss}
		}
	}
	return best
}

func checkScan(t *testing.T, got line, want reference, x []float64) {
	t.Helper()
	if !near(got.k, want.Breakpoint, 0.005) {
		t.Errorf("knee %.9g, want %.9g", got.k, want.Breakpoint)
	}
	unit := math.Pow(10, math.Floor(math.Log10(want.RSS))-8)
	if limit := want.RSS*(1+1e-9) + unit/2 + 1e-18*squares(x); got.rss > limit {
		t.Errorf("residual sum %.12g, want at most %.12g", got.rss, limit)
	}
	if !near(got.b, want.Slope, 1e-6) || !near(got.plateau(), want.Plateau, 1e-6) {
		t.Errorf("slope %g plateau %g, want %g %g", got.b, got.plateau(), want.Slope, want.Plateau)
	}
}

func squares(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }
