// Package regress watches an endpoint from night to night: it tells a lasting change of
// level from the noise between nights and from a slow drift (docs/method.md).
//
//	nights ─ figures ─▶ line with known steps ─ does tonight lie on it? ─▶ report
package regress

import (
	"math"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// Night is what one run says of an endpoint. Runs that failed are no nights.
type Night struct {
	ID          string
	At          time.Time
	Levels      map[int]Level     // by the number of streams; valid ones
	Plateau     load.Opt[float64] // tokens/s
	Knee        load.Opt[float64] // streams
	Recommended load.Opt[int]     // streams
}

// Level is what a night says of one number of streams; 0 = not known.
type Level struct {
	Rate float64 // tokens/s
	TTFT float64 // median, seconds
}

// FromCurve returns the night of a run with a curve.
func FromCurve(c analysis.Curve) Night {
	n := Night{ID: c.Run.ID, At: c.Run.Started, Levels: map[int]Level{}, Plateau: c.Knee.Plateau, Recommended: c.Recommended.Concurrency}
	if k := c.Knee.Concurrency; k.OK {
		n.Knee = load.Some(k.V.Value)
	}
	for _, s := range c.Steps {
		if s.Valid && s.Throughput.OK && s.Throughput.V.Value > 0 {
			l := Level{Rate: s.Throughput.V.Value}
			if s.TTFT.Count > 0 && s.TTFT.P50 > 0 {
				l.TTFT = s.TTFT.P50
			}
			n.Levels[s.Concurrency] = l
		}
	}
	return n
}

// The figures that are watched.
const (
	Throughput = "throughput" // geometric mean over common levels, tokens/s
	Plateau    = "plateau"    // tokens/s
	Knee       = "knee"       // streams
	TTFT       = "ttft_p50"   // geometric mean over common levels
)

// Figures are the names of the figures in the order in which they are told.
func Figures() []string { return []string{Throughput, Plateau, Knee, TTFT} }

// series is one figure over the nights, as logarithms; NaN = the night has none.
type series struct {
	name          string
	level         int // the number of streams, of a single level; else 0
	lowerIsBetter bool
	y             []float64
}

// common are the levels of the last night that three in four of the nights have.
func common(nights []Night) []int {
	var levels []int
	for n := range nights[len(nights)-1].Levels {
		have := 0
		for _, x := range nights {
			if _, ok := x.Levels[n]; ok {
				have++
			}
		}
		if 4*have >= 3*len(nights) {
			levels = append(levels, n)
		}
	}
	return levels
}

// figures are the series of a stretch of nights that ends with the one to be judged:
// those of whole curves, and those of its single levels.
func figures(nights []Night) (whole, single []series) {
	levels := common(nights)
	mean := func(of func(Level) float64) func(Night) float64 {
		return func(x Night) float64 {
			if len(levels) == 0 {
				return math.NaN()
			}
			sum := 0.0
			for _, n := range levels {
				sum += positive(of(x.Levels[n]))
			}
			return sum / float64(len(levels))
		}
	}
	add := func(list *[]series, s series, of func(Night) float64) {
		for _, x := range nights {
			s.y = append(s.y, of(x))
		}
		if !math.IsNaN(s.y[len(s.y)-1]) {
			*list = append(*list, s)
		}
	}
	rate := func(l Level) float64 { return l.Rate }
	add(&whole, series{name: Throughput}, mean(rate))
	add(&whole, series{name: Plateau}, func(x Night) float64 { return positive(x.Plateau.V) })
	add(&whole, series{name: Knee}, func(x Night) float64 { return positive(x.Knee.V) })
	add(&whole, series{name: TTFT, lowerIsBetter: true}, mean(func(l Level) float64 { return l.TTFT }))
	for _, n := range levels {
		add(&single, series{name: Throughput, level: n}, func(x Night) float64 { return positive(x.Levels[n].Rate) })
	}
	return whole, single
}

// positive is the logarithm of a figure, NaN where there is none.
func positive(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	return math.Log(x)
}
