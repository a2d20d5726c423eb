package plots

import (
	"math"
	"strconv"
	"strings"

	"kneesweep/load"
)

// Missing stands for a value that is undefined.
const Missing = "–"

// Number writes x with three significant digits, a comma between thousands and
// no trailing zeros: 5912 is "5,910", 24.04 is "24", 0.0012345 is "0.00123". A
// value that is not finite is [Missing].
func Number(x float64) string {
	s := Fixed(x)
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Fixed is [Number] with its trailing zeros, for columns: 24.04 is "24.0".
func Fixed(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return Missing
	case x == 0:
		return "0"
	case a < 1e-4 || a >= 1e12:
		return strconv.FormatFloat(x, 'e', 2, 64)
	}
	x = significant(x)
	decimals := max(0, 2-exponent(x))
	return Grouped(strconv.FormatFloat(x, 'f', decimals, 64))
}

// Streams writes a number of streams: whole from 10 on, with one decimal below.
func Streams(n float64) string {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return Missing
	case math.Abs(n) >= 9.95:
		return Grouped(strconv.FormatFloat(n, 'f', 0, 64))
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// Interval writes the bounds of a number of streams, as "22–26"; with more digits
// where the bounds are close. It is empty when a bound is undefined.
func Interval(e load.Estimate) string {
	lo, hi := Streams(e.Lo), Streams(e.Hi)
	if lo == hi {
		lo, hi = Number(e.Lo), Number(e.Hi)
	}
	if lo == Missing || hi == Missing {
		return ""
	}
	return lo + "–" + hi
}

// Grouped puts a comma between the thousands of a decimal number.
func Grouped(s string) string {
	whole, fraction, dotted := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	return sign + whole
}

// exponent is the power of ten of the first digit of x, which is not 0.
func exponent(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }

// significant rounds x to three significant digits.
func significant(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	if err != nil {
		return x
	}
	return r
}
