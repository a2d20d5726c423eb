package plots

import (
	"math"
	"testing"
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
