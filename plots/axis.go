package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Axis chooses the scale of the axis of streams.
type Axis string

// The scales of the axis of streams.
const (
	AxisAuto   Axis = ""       // logarithmic when the levels span more than one and a half decades
	AxisLinear Axis = "linear" // even
	AxisLog    Axis = "log"    // logarithmic
)

func (a Axis) check() error {
	switch a {
	case AxisAuto, AxisLinear, AxisLog:
		return nil
	}
	return fmt.Errorf("plot: unknown axis %q, want linear or log", string(a))
}

// horizontal is the axis that all panels of a page share. Its ticks may depend
// on its length and on the width of labels.
type horizontal struct {
	name  string
	scale scale
	ticks func(s scale, width func(string) vg.Length) []tick
}

// labelGap is the least distance between two labels of an axis.
const labelGap vg.Length = 9

// streamAxis is the axis of streams over ascending levels, which it marks.
func streamAxis(levels []int, a Axis) horizontal {
	h := horizontal{name: "Parallel streams (requests held in flight)", scale: streamScale(levels, a)}
	if h.scale.log {
		h.name += ", logarithmic"
	}
	h.ticks = func(s scale, width func(string) vg.Length) []tick { return levelTicks(levels, s, width, labelGap) }
	return h
}

// valueAxis is an axis of values with about n round marks.
func valueAxis(name string, s scale, n int) horizontal {
	ticks := func(s scale, _ func(string) vg.Length) []tick {
		if s.max <= 0 {
			return nil
		}
		return s.ticks(n)
	}
	return horizontal{name: name, scale: s, ticks: ticks}
}
