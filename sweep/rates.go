package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a rate that can be asked for, in requests/s. Rates are told apart to the
// lower one.
const (
	MinRate = 0.001
	MaxRate = 100_000
)

const rateExamples = "(examples: 1,2,4,8 or 0.5:4:0.5 or 1:256:x2)"

// ParseRates reads a list of rates in requests/s, written as [ParseLevels] reads levels,
// but with fractions. The result is ascending, without duplicates.
func ParseRates(s string) ([]float64, error) {
	var rates []float64
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("--rates: %q has an empty item %s", s, rateExamples)
		}
		more, err := parseRateRange(part)
		if err != nil {
			return nil, fmt.Errorf("--rates: %q: %w %s", part, err, rateExamples)
		}
		if rates = append(rates, more...); len(rates) > maxLevels {
			return nil, fmt.Errorf("--rates: %q: more than %d rates", part, maxLevels)
		}
	}
	slices.Sort(rates)
	return slices.Compact(rates), nil
}

func parseRateRange(part string) ([]float64, error) {
	fields := strings.Split(part, ":")
	switch len(fields) {
	case 1:
		r, err := parseRate(fields[0])
		return []float64{r}, err
	case 3:
	default:
		return nil, fmt.Errorf("a range is FROM:TO:STEP or FROM:TO:xFACTOR")
	}
	from, err := parseRate(fields[0])
	if err != nil {
		return nil, err
	}
	to, err := parseRate(fields[1])
	if err != nil {
		return nil, err
	}
	if from > to {
		return nil, fmt.Errorf("%g is above %g", from, to)
	}
	next, err := rateStep(fields[2])
	if err != nil {
		return nil, err
	}
	rates := []float64{}
	for i := 0; i <= maxLevels; i++ {
		r := roundRate(next(from, i))
		if r >= to {
			break
		}
		rates = append(rates, r)
	}
	return append(rates, to), nil
}

// rateStep reads the last part of a range: how it goes on from its first rate.
func rateStep(s string) (func(from float64, i int) float64, error) {
	if factor, ok := strings.CutPrefix(s, "x"); ok {
		f, err := strconv.ParseFloat(factor, 64)
		if err != nil || !(f > 1) || f > MaxRate {
			return nil, fmt.Errorf("the factor %q is not a number above 1", factor)
		}
		return func(from float64, i int) float64 { return from * math.Pow(f, float64(i)) }, nil
	}
	step, err := parseRate(s)
	if err != nil {
		return nil, fmt.Errorf("the step: %w", err)
	}
	return func(from float64, i int) float64 { return from + float64(i)*step }, nil
}

func parseRate(s string) (float64, error) {
	r, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(r):
		return 0, fmt.Errorf("%q is not a number", s)
	case !(r >= MinRate):
		return 0, fmt.Errorf("%g requests/s is not at least %g", r, MinRate)
	case r > MaxRate:
		return 0, fmt.Errorf("%g is above the bound of %d requests/s", r, MaxRate)
	}
	return roundRate(r), nil
}

// roundRate rounds to what is told apart.
func roundRate(r float64) float64 { return math.Round(r/MinRate) / (1 / MinRate) }
