package claims

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Contradiction is a set of claims that cannot all be true.
type Contradiction struct {
	Claims []int // their places in the file, ascending
	Text   string
}

// contradictions finds claims that contradict each other, each by itself taken
// literally. Two claims are held together where no condition that both state
// differs; what is assumed does not count.
func contradictions(f File) []Contradiction {
	var found []Contradiction
	for j := range f.Claims {
		for i := range j {
			a, b := f.Claims[i], f.Claims[j]
			if a.Kind == Stream && b.Kind == Throughput || a.Kind == TTFT && b.Kind == Stream {
				a, b = b, a
			}
			t := max(f.tolerance(a), f.tolerance(b))
			if text := contradiction(a, b, t); text != "" {
				found = append(found, Contradiction{[]int{i, j}, text})
			}
		}
	}
	return append(found, triples(f)...)
}

// contradiction says why two claims cannot both be true within a tolerance; empty
// if they can.
func contradiction(a, b Claim, t float64) string {
	n, together := common(a.Conditions, b.Conditions)
	switch {
	case !together, a.Hardware != "" && b.Hardware != "" && a.Hardware != b.Hardware:
	case a.Kind == b.Kind && a.Percentile == b.Percentile && (n > 0 || a.Kind == SpeedUp) && a.Conditions == b.Conditions && differ(a.Value, b.Value, t):
		return fmt.Sprintf("%s and %s are both given for the same conditions", figure(a), figure(b))
	case a.Kind == Throughput && b.Kind == Stream:
		return rates(a, b, n, t)
	case a.Kind == Stream && b.Kind == TTFT:
		tokens := max(a.Conditions.OutputTokens, b.Conditions.OutputTokens)
		if whole := a.Value * float64(tokens) / 1000; tokens > 0 && b.Value > whole*(1+t) {
			return fmt.Sprintf("with %s a whole answer of %d tokens takes %.4g ms, less than its first token: %s", figure(a), tokens, whole, figure(b))
		}
	}
	return ""
}

// rates holds the throughput of all streams against the time that one takes. A
// stream of b ms per 1,000 tokens brings 10⁶/b tokens/s, N of them N times that; and
// there is one at least.
func rates(a, b Claim, n int, t float64) string {
	one := 1e6 / b.Value
	switch {
	case n > 0 && differ(a.Value, float64(n)*one, t):
		return fmt.Sprintf("%s is %s tokens/s for one stream and %s for %d, not %s", figure(b), amount(one), amount(float64(n)*one), n, amount(a.Value))
	case n == 0 && one > a.Value*(1+t):
		return fmt.Sprintf("%s is %s tokens/s, not %s: one stream alone would bring more than all are said to", figure(b), amount(one), amount(a.Value))
	}
	return ""
}

// triples holds speed-ups against the throughputs of one GPU and of k.
func triples(f File) []Contradiction {
	var found []Contradiction
	for s, speed := range f.Claims {
		if speed.Kind != SpeedUp || speed.Conditions.GPUs < 2 {
			continue
		}
		for i, one := range f.Claims {
			for k, many := range f.Claims {
				if one.Kind != Throughput || many.Kind != Throughput || one.Conditions.GPUs != 1 || many.Conditions.GPUs != speed.Conditions.GPUs {
					continue
				}
				same := many.Conditions
				same.GPUs = 1
				t := max(f.tolerance(speed), f.tolerance(one), f.tolerance(many))
				if ratio := many.Value / one.Value; same == one.Conditions && differ(ratio, speed.Value, t) {
					found = append(found, Contradiction{ascending(s, i, k),
						fmt.Sprintf("%s tokens/s on %s is %.3g times the %s on one, not %.3g times", amount(many.Value), gpus(speed.Conditions.GPUs), ratio, amount(one.Value), speed.Value)})
				}
			}
		}
	}
	return found
}

// common says whether no condition that both state differs, and at how many streams
// both are meant; 0 = not stated.
func common(a, b Conditions) (streams int, ok bool) {
	agree := func(x, y int) bool { return x <= 0 || y <= 0 || x == y }
	ok = agree(a.GPUs, b.GPUs) && agree(a.Streams, b.Streams) && agree(a.InputTokens, b.InputTokens) && agree(a.OutputTokens, b.OutputTokens)
	if a.Streams > 0 && b.Streams > 0 {
		streams = a.Streams
	}
	return streams, ok
}

// differ reports whether two figures are further apart than a tolerance.
func differ(x, y, t float64) bool { return math.Abs(math.Log(x/y)) > math.Log1p(t) }

// figure is a claim in words.
func figure(c Claim) string {
	unit := string(c.Kind)
	if c.Kind == TTFT {
		unit += fmt.Sprintf(" (p%d)", c.Percentile)
	}
	return amount(c.Value) + " " + unit
}

// amount is a number with a comma between its thousands.
func amount(x float64) string {
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if x < 1000 || x >= 1e12 {
		return s
	}
	s = strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func ascending(a ...int) []int {
	slices.Sort(a)
	return a
}
