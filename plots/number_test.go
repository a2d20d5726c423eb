package plots

import (
	"math"
	"testing"

	"kneesweep/load"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		x                      float64
		number, fixed, streams string
	}{
		{0, "0", "0", "0"},
		{5912, "5,910", "5,910", "5,912"},
		{24.04, "24", "24.0", "24"},
		{24.37, "24.4", "24.4", "24"},
		{1.6, "1.6", "1.60", "1.6"},
		{9.97, "9.97", "9.97", "10"},
		{999.9, "1,000", "1,000", "1,000"},
		{9.999, "10", "10.0", "10"},
		{0.0012345, "0.00123", "0.00123", "0"},
		{1234567, "1,230,000", "1,230,000", "1,234,567"},
		{-4321, "-4,320", "-4,320", "-4,321"},
		{1e-7, "1.00e-07", "1.00e-07", "0"},
		{math.NaN(), "–", "–", "–"},
		{math.Inf(1), "–", "–", "–"},
	} {
		if got := Number(c.x); got != c.number {
			t.Errorf("Number(%v) = %q, want %q", c.x, got, c.number)
		}
		if got := Fixed(c.x); got != c.fixed {
			t.Errorf("Fixed(%v) = %q, want %q", c.x, got, c.fixed)
		}
		if got := Streams(c.x); got != c.streams {
			t.Errorf("Streams(%v) = %q, want %q", c.x, got, c.streams)
		}
	}
}

func TestInterval(t *testing.T) {
	for want, e := range map[string]load.Estimate{
		"22–26": {Lo: 22.3, Hi: 26.1}, "8.9–9": {Lo: 8.93, Hi: 9}, "15.9–16.2": {Lo: 15.92, Hi: 16.21}, "9.7–10": {Lo: 9.7, Hi: 10.4},
		"": {Lo: math.NaN(), Hi: 3},
	} {
		if got := Interval(e); got != want {
			t.Errorf("Interval(%v, %v) = %q, want %q", e.Lo, e.Hi, got, want)
		}
	}
}
