package tinymodel

import (
	"math"
	"testing"
)

// fromHalf is the definition of the format.
func fromHalf(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exp, frac := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac == 0 {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

func TestToHalf(t *testing.T) {
	tests := []struct {
		in   float64
		want uint16
	}{
		{0, 0}, {math.Copysign(0, -1), 0x8000}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff},
		{65519, 0x7bff}, {65520, 0x7c00}, {math.Inf(-1), 0xfc00}, {math.NaN(), 0x7e00},
		{math.Ldexp(1, -14), 0x0400}, {math.Ldexp(1, -24), 1}, {math.Ldexp(1, -25), 0}, {math.Ldexp(3, -25), 2},
		{1 + math.Ldexp(1, -11), 0x3c00}, {1 + math.Ldexp(3, -11), 0x3c02}, // ties to even
		{2 - math.Ldexp(1, -12), 0x4000}, // rounds into the next exponent
	}
	for _, tt := range tests {
		if got := toHalf(float32(tt.in)); got != tt.want {
			t.Errorf("toHalf(%g) = %#04x, want %#04x", tt.in, got, tt.want)
		}
	}
}

// Every half survives the way through single precision, and what lies between
// two neighbours goes to one of them.
func TestToHalfIsNearest(t *testing.T) {
	for h := range uint16(0x7c00) {
		v := fromHalf(h)
		if got := toHalf(float32(v)); got != h {
			t.Fatalf("toHalf(%g) = %#04x, want %#04x", v, got, h)
		}
		if h == 0x7bff {
			continue
		}
		step := fromHalf(h+1) - v
		if got := toHalf(float32(v + 0.49*step)); got != h {
			t.Fatalf("toHalf(%g) = %#04x, want %#04x", v+0.49*step, got, h)
		}
		if got := toHalf(float32(v + 0.51*step)); got != h+1 {
			t.Fatalf("toHalf(%g) = %#04x, want %#04x", v+0.51*step, got, h+1)
		}
	}
}
