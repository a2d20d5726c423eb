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
	References []struct {
		Fit   string `json:"fit"`
		Exact struct {
			Breakpoint, Slope, Intercept, Plateau, RSS float64
		} `json:"exact_line_plus_plateau"`
	} `json:"references"`
	Expected  string `json:"expected_verdict"`
	Tolerance struct {
		Truth *float64 `json:"knee_rel_vs_truth"`
	} `json:"tolerance"`
}

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
	if err != nil || len(names) == 0 {
		t.Fatalf("no curves: %v", err)
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
// exhaustive search by another program found.
func TestScanAgainstReference(t *testing.T) {
	for _, c := range readCurves(t) {
		t.Run(c.Name, func(t *testing.T) {
			n, x, w := columns(pool(c.points()))
			for i := range w {
				w[i] = 1
			}
			var s scanner
			s.load(n, x, w)
			found, ok := s.fit(len(n))
			if !ok {
				if c.Name != "s08-flat-from-start" { // best line falls
					t.Error("no rising line")
				}
				return
			}
			got := refine(found, n, x, w)
			for _, ref := range c.References {
				if ref.Fit != "ols-medians" {
					continue
				}
				want := ref.Exact
				var tss float64
				for _, v := range x {
					tss += v * v
				}
				if !near(got.k, want.Breakpoint, 1e-6) {
					t.Errorf("knee %.9g, want %.9g", got.k, want.Breakpoint)
				}
				if math.Abs(got.rss-want.RSS) > 1e-6*want.RSS+1e-18*tss {
					t.Errorf("rss %.9g, want %.9g", got.rss, want.RSS)
				}
				if math.Abs(found.rss-got.rss) > 1e-6*got.rss+1e-12*tss {
					t.Errorf("rss by the scan %.9g, by QR %.9g", found.rss, got.rss)
				}
				if !near(got.b, want.Slope, 1e-6) || !near(got.plateau(), want.Plateau, 1e-6) {
					t.Errorf("slope %g plateau %g, want %g %g", got.b, got.plateau(), want.Slope, want.Plateau)
				}
			}
		})
	}
}

func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }
