package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxConcurrency is the highest level that can be asked for.
const MaxConcurrency = 100_000

const maxLevels = 1000

// ParseLevels reads a list of concurrency levels: numbers and ranges separated
// by commas. "50:100:10" counts up by 10, "1:256:x2" multiplies by 2; both ends
// belong to a range. The result is ascending, without duplicates. An error
// names the part that cannot be read.
func ParseLevels(s string) ([]int, error) {
	var levels []int
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("--levels: %q has an empty item (examples: 1,2,4,8 or 50:100:10 or 1:256:x2)", s)
		}
		more, err := parseRange(part)
		if err != nil {
			return nil, fmt.Errorf("--levels: %q: %w (examples: 1,2,4,8 or 50:100:10 or 1:256:x2)", part, err)
		}
		levels = append(levels, more...)
		if len(levels) > maxLevels {
			return nil, fmt.Errorf("--levels: %q: more than %d levels", part, maxLevels)
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels), nil
}

func parseRange(part string) ([]int, error) {
	fields := strings.Split(part, ":")
	switch len(fields) {
	case 1:
		n, err := parseLevel(fields[0])
		return []int{n}, err
	case 3:
	default:
		return nil, fmt.Errorf("a range is FROM:TO:STEP or FROM:TO:xFACTOR")
	}
	from, err := parseLevel(fields[0])
	if err != nil {
		return nil, err
	}
	to, err := parseLevel(fields[1])
	if err != nil {
		return nil, err
	}
	if from > to {
		return nil, fmt.Errorf("%d is above %d", from, to)
	}
	if factor, ok := strings.CutPrefix(fields[2], "x"); ok {
		f, err := strconv.ParseFloat(factor, 64)
		if err != nil || math.IsNaN(f) || f <= 1 || f > MaxConcurrency {
			return nil, fmt.Errorf("the factor %q is not a number above 1", factor)
		}
		return multiply(from, to, f), nil
	}
	step, err := parseLevel(fields[2])
	if err != nil {
		return nil, fmt.Errorf("the step: %w", err)
	}
	if (to-from)/step > maxLevels {
		return nil, fmt.Errorf("more than %d levels", maxLevels)
	}
	levels := []int{}
	for n := from; n < to; n += step {
		levels = append(levels, n)
	}
	return append(levels, to), nil
}

// multiply lists from, from·f, from·f² … below to, and to.
func multiply(from, to int, f float64) []int {
	levels := []int{}
	for x := float64(from); math.Round(x) < float64(to) && len(levels) <= maxLevels; x *= f {
		levels = append(levels, int(math.Round(x)))
	}
	return append(levels, to)
}

func parseLevel(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a whole number", s)
	case n < 1:
		return 0, fmt.Errorf("%d is not at least 1", n)
	case n > MaxConcurrency:
		return 0, fmt.Errorf("%d is above the bound of %d streams", n, MaxConcurrency)
	}
	return n, nil
}
