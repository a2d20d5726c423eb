package plots

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// scale maps the values [min, max] to the lengths [from, to], evenly or in the
// logarithm.
type scale struct {
	min, max float64
	log      bool
	from, to vg.Length
}

// at is the position of v. On a logarithmic scale v must be positive.
func (s scale) at(v float64) vg.Length {
	lo, hi := s.min, s.max
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return s.from + vg.Length((v-lo)/(hi-lo))*(s.to-s.from)
}

// shows reports whether v can be drawn inside the range.
func (s scale) shows(v float64) bool {
	return !math.IsNaN(v) && v >= s.min && v <= s.max && (!s.log || v > 0)
}

// clamp moves v into the range.
func (s scale) clamp(v float64) float64 { return min(max(v, s.min), s.max) }

// tick is a mark of an axis; an empty label is a mark alone.
type tick struct {
	value float64
	label string
}

// logSpan is the range of levels (largest over smallest) from which the axis of
// streams is logarithmic, one and a half decades.
const logSpan = 31.6

// margin is the share of the axis of streams left free at each end.
const margin = 0.045

// streamScale is the axis of streams over ascending levels.
func streamScale(levels []int, a Axis) scale {
	if len(levels) == 0 {
		return scale{min: 0, max: 10}
	}
	lo, hi := float64(levels[0]), float64(levels[len(levels)-1])
	log := a == AxisLog || a == AxisAuto && hi/lo > logSpan
	switch {
	case lo == hi && log:
		return scale{min: lo / 2.5, max: 2.5 * hi, log: true}
	case lo == hi:
		return scale{min: 0, max: 2 * hi}
	case log:
		pad := math.Pow(hi/lo, margin)
		return scale{min: lo / pad, max: hi * pad, log: true}
	}
	pad := (hi - lo) * margin
	return scale{min: lo - pad, max: hi + pad}
}

// fromZero is a scale from 0 to a little above the largest finite value, or to 1
// if all are 0; without a finite value its maximum is 0.
func fromZero(values []float64) scale {
	top, some := 0.0, false
	for _, v := range values {
		if !math.IsInf(v, 0) && v >= top { // false for NaN
			top, some = v, true
		}
	}
	if top == 0 && some {
		top = 1
	}
	return scale{max: top * 1.07}
}

// latencyScale is [fromZero], or logarithmic when the positive values span more
// than two decades.
func latencyScale(values []float64) scale { return logFrom(100, values) }

// logFrom is [fromZero], or logarithmic when the largest value is more than ratio
// times the smallest positive one.
func logFrom(ratio float64, values []float64) scale {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if hi == 0 || hi/lo <= ratio {
		return fromZero(values)
	}
	return scale{min: lo / 1.4, max: hi * 1.4, log: true}
}

// ticks marks about n round values of a value axis.
func (s scale) ticks(n int) []tick {
	if s.log {
		return s.decades(n)
	}
	step := (s.max - s.min) / float64(n)
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if unit*m >= step {
			step = unit * m
			break
		}
	}
	var all []tick
	for i := math.Ceil(s.min / step); i*step <= s.max; i++ {
		all = append(all, tick{i * step, short(i * step)})
	}
	return all
}

// decades marks the powers of ten, thinned to at most n labels, and 2 and 5
// between them, with labels if all of them are few.
func (s scale) decades(n int) []tick {
	first, last := int(math.Ceil(math.Log10(s.min))), int(math.Floor(math.Log10(s.max)))
	every := max(1, (last-first+n)/n)
	var all []tick
	for e := first - 1; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, float64(e))
			if !s.shows(v) || m > 1 && every > 1 {
				continue
			}
			t := tick{value: v}
			if m == 1 && (e-first)%every == 0 {
				t.label = short(v)
			}
			all = append(all, t)
		}
	}
	if len(all) <= n+1 || first >= last {
		for i := range all {
			all[i].label = short(all[i].value)
		}
	}
	return all
}

// short is [Number] for round values: 2e-06 and not 2.00e-06.
func short(v float64) string {
	mantissa, exponent, found := strings.Cut(Number(v), "e")
	if !found {
		return mantissa
	}
	return strings.TrimRight(strings.TrimRight(mantissa, "0"), ".") + "e" + exponent
}

// levelTicks marks exactly the levels and labels as many as fit with gap
// between them: the first and the last, then on a logarithmic axis the powers of
// two, then the others from left to right. A single level is shown between its
// half, or 0, and its double, so that the axis can be read.
func levelTicks(levels []int, s scale, width func(string) vg.Length, gap vg.Length) []tick {
	if len(levels) == 1 {
		n := levels[0]
		switch {
		case !s.log:
			levels = []int{0, n, 2 * n}
		case n%2 == 0:
			levels = []int{n / 2, n, 2 * n}
		default:
			levels = []int{n, 2 * n}
		}
	}
	all := make([]tick, len(levels))
	order := []int{0, len(levels) - 1}
	var rest []int
	for i, n := range levels {
		all[i] = tick{value: float64(n)}
		if s.log && bits.OnesCount(uint(n)) == 1 {
			order = append(order, i)
		} else {
			rest = append(rest, i)
		}
	}
	if len(all) == 0 {
		return nil
	}
	type span struct{ from, to vg.Length }
	var taken []span
	for _, i := range append(order, rest...) {
		label := Streams(all[i].value)
		at, half := s.at(all[i].value), width(label)/2
		overlaps := func(o span) bool { return at-half < o.to+gap && o.from-gap < at+half }
		if !slices.ContainsFunc(taken, overlaps) {
			all[i].label = label
			taken = append(taken, span{at - half, at + half})
		}
	}
	return all
}
