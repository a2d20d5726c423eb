package plots_test

import (
	"math"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/plots"
)

// nights are runs of four weeks: the plateau falls on the 20th, one run located no
// knee, and one no plateau.
func nights() []plots.TrendPoint {
	var points []plots.TrendPoint
	for i := range 28 {
		wave := math.Sin(float64(i) * 1.7)
		knee, plateau := 24+0.8*wave, 2400+30*wave
		if i >= 19 {
			knee, plateau = knee-5, plateau-380
		}
		p := plots.TrendPoint{
			At: time.Date(2026, 11, 1+i, 2, 30, 0, 0, time.UTC), Baseline: i == 2,
			Knee:    load.Some(load.Estimate{Value: knee, Lo: knee - 1.5, Hi: knee + 1.9}),
			Plateau: load.Some(load.Estimate{Value: plateau, Lo: plateau - 35, Hi: plateau + 35}),
		}
		switch i {
		case 5:
			p.Change = 1
		case 19:
			p.Change = -1
		case 8:
			p.Knee = load.Opt[load.Estimate]{}
		case 12:
			p.Knee, p.Plateau = load.Opt[load.Estimate]{}, load.Opt[load.Estimate]{}
		case 15:
			p.Plateau.V.Lo, p.Plateau.V.Hi = math.NaN(), math.NaN()
		}
		points = append(points, p)
	}
	return points
}

// The knee and the plateau of four weeks of nights.
func ExampleTrend() {
	figure, err := plots.Trend("my-model · http://llm:8000/v1", nights())
	compare("trend", figure, err)
	// Output: trend.png
}

// TestTrendOfFew: nothing, one run, and runs without any value make no broken figure.
func TestTrendOfFew(t *testing.T) {
	t.Parallel()
	if _, err := plots.Trend("", nil); err == nil {
		t.Error("a figure of nothing")
	}
	for _, points := range [][]plots.TrendPoint{nights()[:1], nights()[12:13], nights()[3:5]} {
		figure, err := plots.Trend("m", points)
		if err != nil {
			t.Fatal(err)
		}
		var got discard
		if err := figure.Write(&got, "svg"); err != nil || got == 0 {
			t.Errorf("%d bytes: %v", got, err)
		}
	}
}

// discard counts what is written.
type discard int

func (d *discard) Write(p []byte) (int, error) {
	*d += discard(len(p))
	return len(p), nil
}
