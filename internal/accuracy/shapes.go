package accuracy

import (
	"math"
	"math/rand/v2"

	"kneesweep/analysis/knee"
)

// Shape is a kind of capacity curve as published tables show it, drawn at random
// within the kind: what the endpoint would deliver without noise.
type Shape struct {
	Name string
	// Knee is whether the kind has one in the tested range.
	Knee bool
	draw func(rng *rand.Rand, levels []float64) drawn
}

// drawn is one curve of a kind: its throughput at n streams in any unit, and
// where its corner lies.
type drawn struct {
	at   func(n float64) float64
	knee float64
}

// grids are the levels of the published tables, 5 to 12 of them.
var grids = [][]float64{ //nolint:gochecknoglobals // a constant table
	{1, 4, 16, 32, 64},
	{1, 2, 4, 8, 16, 32},
	{1, 2, 4, 8, 16, 32, 64},
	{10, 50, 100, 200, 500, 750, 1000},
	{1, 5, 25, 50, 100, 150, 200, 250},
	{1, 2, 4, 8, 16, 32, 64, 128},
	{1, 8, 16, 32, 64, 128, 256, 512, 1024},
	{1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64},
}

// Shapes are the kinds of the study. The corner lies at or between levels such
// that two or more are below and three or more at or above it.
func Shapes() []Shape {
	return []Shape{
		{"straight ramp, plateau", true, func(rng *rand.Rand, levels []float64) drawn {
			k := corner(rng, levels)
			return drawn{func(n float64) float64 { return min(n, k) }, k}
		}},
		{"ramp slowed by batching, slots", true, func(rng *rand.Rand, levels []float64) drawn {
			k := corner(rng, levels)
			slow := between(rng, 0.3, 2) / k
			return drawn{func(n float64) float64 { return min(n, k) / (1 + slow*min(n, k)) }, k}
		}},
		{"power ramp, slots", true, func(rng *rand.Rand, levels []float64) drawn {
			k, p := corner(rng, levels), between(rng, 0.5, 0.9)
			return drawn{func(n float64) float64 { return math.Pow(min(n, k), p) }, k}
		}},
		{"straight ramp, two levels past", true, func(rng *rand.Rand, levels []float64) drawn {
			k := late(rng, levels)
			return drawn{func(n float64) float64 { return min(n, k) }, k}
		}},
		{"power ramp, two levels past", true, func(rng *rand.Rand, levels []float64) drawn {
			k, p := late(rng, levels), between(rng, 0.5, 0.9)
			return drawn{func(n float64) float64 { return math.Pow(min(n, k), p) }, k}
		}},
		{"rounded corner, plateau", true, func(rng *rand.Rand, levels []float64) drawn {
			k, q := corner(rng, levels), between(rng, 1.3, 6)
			third := levels[len(levels)-3]
			k = min(k, third*math.Pow(1/0.15-1, -1/q)) // elasticity 0.15 at the third last level, at most
			return drawn{func(n float64) float64 { return n / math.Pow(1+math.Pow(n/k, q), 1/q) }, k}
		}},
		{"straight ramp, plateau, decline", true, retrograde},
		{"flat", false, func(rng *rand.Rand, levels []float64) drawn {
			p := between(rng, -0.02, 0.02)
			return drawn{func(n float64) float64 { return math.Pow(n, p) }, math.NaN()}
		}},
		{"straight line", false, func(*rand.Rand, []float64) drawn {
			return drawn{func(n float64) float64 { return n }, math.NaN()}
		}},
		{"power without end", false, func(rng *rand.Rand, levels []float64) drawn {
			p := between(rng, 0.25, 0.9)
			return drawn{func(n float64) float64 { return math.Pow(n, p) }, math.NaN()}
		}},
		{"hyperbola still rising", false, func(rng *rand.Rand, levels []float64) drawn {
			e := between(rng, 0.25, 0.8) // elasticity at the last level
			half := levels[len(levels)-1] * e / (1 - e)
			return drawn{func(n float64) float64 { return n / (n + half) }, math.NaN()}
		}},
		{"stall, then rise", false, stall},
	}
}

func retrograde(rng *rand.Rand, levels []float64) drawn {
	k := corner(rng, levels)
	last := levels[len(levels)-1]
	from := levels[len(levels)-3]
	loss := between(rng, 0.3, 0.6)
	return drawn{func(n float64) float64 {
		return min(n, k) * (1 - loss*max(0, n-from)/(last-from))
	}, k}
}

// stall rises in proportion, gains next to nothing over the next one or two
// levels, and grows again with an elasticity of 0.5 to 1 to the last level.
func stall(rng *rand.Rand, levels []float64) drawn {
	first := rng.IntN(len(levels) - 3)
	begin, end := levels[first], levels[first+1+rng.IntN(len(levels)-3-first)]
	p := max(between(rng, 0.5, 1), math.Log(1.4)/math.Log(levels[len(levels)-1]/end))
	return drawn{func(n float64) float64 {
		return min(n, begin) * math.Pow(max(1, n/end), p)
	}, math.NaN()}
}

func corner(rng *rand.Rand, levels []float64) float64 {
	lo, hi := levels[1], levels[len(levels)-3]
	return lo * math.Pow(hi/lo, rng.Float64())
}

// late is a corner with two levels at or above it.
func late(rng *rand.Rand, levels []float64) float64 {
	lo, hi := levels[len(levels)-3], levels[len(levels)-2]
	return lo * math.Pow(hi/lo, 0.1+0.9*rng.Float64())
}

func between(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// Draw makes the curve of one seed: levels from a published table, windows a
// level with the given coefficient of variation, and the true knee (NaN without
// one). The same seed gives the same levels and shape at any noise.
func (s Shape) Draw(seed uint64, windows int, cv float64) ([]knee.Point, float64) {
	rng := rand.New(rand.NewPCG(seed, 0x7368617065))
	levels := grids[rng.IntN(len(grids))]
	curve := s.draw(rng, levels)
	points := make([]knee.Point, len(levels))
	for i, n := range levels {
		points[i].N = int(n)
		for range windows {
			points[i].Windows = append(points[i].Windows, 100*curve.at(n)*math.Exp(cv*rng.NormFloat64()))
		}
	}
	return points, curve.knee
}
