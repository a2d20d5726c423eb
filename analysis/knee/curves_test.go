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

// The synthetic curves have a known answer. The real ones have an expert's: where
// he saw no plateau there must be no knee; a knee must lie where he saw one.
func TestVerdictsOfCurves(t *testing.T) {
	for _, c := range readCurves(t) {
		t.Run(c.Name, func(t *testing.T) {
			r := Choose(c.points(), 1)
			checkInvariants(t, r)
			if c.Kind == "synthetic" {
				checkTruth(t, c, r)
				return
			}
			switch {
			case c.Expected == "none" && (r.Verdict == Found || r.Verdict == AtOrBelowFirst):
				t.Errorf("%s at %+v, want no knee in range", r.Verdict, r.Concurrency)
			case c.Expected == "knee" && r.Verdict == Found:
				lo, hi := c.Expert.Range[0]*0.75, c.Expert.Range[1]*1.25
				if k := r.Concurrency.V; k.Value < lo || k.Value > hi {
					t.Errorf("knee %+v, want %g to %g", k, lo, hi)
				}
			case string(r.Verdict) == c.Expected, c.Expected == "none":
			case c.Expected == "knee" && r.Verdict != AtOrBelowFirst:
				t.Logf("%s: %d windows a level do not show the knee that the expert saw at %v",
					r.Verdict, len(c.Points[0].Repeats), c.Expert.Range)
			default:
				t.Errorf("%s, want %s", r.Verdict, c.Expected)
			}
		})
	}
}

func checkTruth(t *testing.T, c curve, r Result) {
	t.Helper()
	want := map[string]Verdict{
		"knee": Found, "knee+retrograde": Found, "none": NotLocated, "not_located": NotLocated,
		"at_or_below_first": AtOrBelowFirst, "too_few_levels": TooFewLevels,
		"no_sharp_knee": Found, // with a wide interval and a decline
	}[c.Expected]
	if r.Verdict != want {
		t.Fatalf("%s, want %s", r.Verdict, want)
	}
	truth, known := c.Truth.Knee.(float64)
	if r.Verdict == Found && known {
		k := r.Concurrency.V
		if !near(k.Value, truth, *c.Tolerance.Truth) {
			t.Errorf("knee %.4g, want %g within %.0f %%", k.Value, truth, 100**c.Tolerance.Truth)
		}
	}
	if declines := c.Expected == "knee+retrograde" || c.Expected == "no_sharp_knee"; declines != (r.Retrograde != nil) {
		t.Errorf("retrograde %+v, want %t", r.Retrograde, declines)
	}
	if k := r.Concurrency.V; c.Expected == "no_sharp_knee" && k.Hi < 1.5*k.Lo {
		t.Errorf("interval %+v of a curve without a corner", k)
	}
}
