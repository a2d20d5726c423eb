package accuracy

import (
	"math"
	"math/rand/v2"

	"kneesweep/analysis/knee"
)

// Shape is a kind of capacity curve as published tables show it, drawn at random
// within the kind. It is not simulated: what the endpoint would deliver at n
// streams is a formula, and every window has an error of its own.
type Shape struct {
	Name string
	// Want is the verdict that is right for every curve of the kind; for
	// [knee.StillRising] so is [knee.NotLocated].
	Want knee.Verdict
	draw func(rng *rand.Rand, levels []float64) drawn
}

// drawn is one curve of a kind: its throughput at n streams in any unit, and
// where its corner lies, NaN without one.
type drawn struct {
	at   func(n float64) float64
	knee float64
}

// grids are levels of published tables, 5 to 12 of them.
func grids() [][]float64 {
	return [][]float64{
		{1, 4, 16, 32, 64},
		{1, 2, 4, 8, 16, 32},
		{1, 2, 4, 8, 16, 32, 64},
		{10, 50, 100, 200, 500, 750, 1000},
		{1, 5, 25, 50, 100, 150, 200, 250},
		{1, 2, 4, 8, 16, 32, 64, 128},
		{1, 8, 16, 32, 64, 128, 256, 512, 1024},
		{1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64},
	}
}

// Shapes are the kinds of the study. Unless the name says otherwise a corner has
// two levels or more below and three or more at or above it.
func Shapes() []Shape {
	return []Shape{
		{"straight ramp, plateau", knee.Found, straight(early)},
		{"straight ramp, plateau of two levels", knee.Found, straight(late)},
		{"ramp slowed by batching, slots", knee.Found, slowed},
		{"power ramp, slots", knee.Found, power(early)},
		{"power ramp, plateau of two levels", knee.Found, power(late)},
		{"rounded corner, plateau", knee.Found, rounded},
		{"straight ramp, plateau, decline", knee.Found, declining},
		{"flat", knee.AtOrBelowFirst, endless(func(rng *rand.Rand, _ []float64) func(float64) float64 {
			p := between(rng, -0.02, 0.02)
			return func(n float64) float64 { return math.Pow(n, p) }
		})},
		{"straight line", knee.StillRising, endless(func(*rand.Rand, []float64) func(float64) float64 {
			return func(n float64) float64 { return n }
		})},
		{"power without end", knee.StillRising, endless(func(rng *rand.Rand, _ []float64) func(float64) float64 {
			p := between(rng, 0.25, 0.9)
			return func(n float64) float64 { return math.Pow(n, p) }
		})},
		{"hyperbola still rising", knee.StillRising, endless(func(rng *rand.Rand, levels []float64) func(float64) float64 {
			e := between(rng, 0.25, 0.8) // elasticity at the last level
			half := levels[len(levels)-1] * e / (1 - e)
			return func(n float64) float64 { return n / (n + half) }
		})},
		{"stall, then rise", knee.StillRising, endless(stall)},
	}
}

type drawCorner func(rng *rand.Rand, levels []float64) float64

func straight(corner drawCorner) func(*rand.Rand, []float64) drawn {
	return func(rng *rand.Rand, levels []float64) drawn {
		k := corner(rng, levels)
		return drawn{func(n float64) float64 { return min(n, k) }, k}
	}
}

func power(corner drawCorner) func(*rand.Rand, []float64) drawn {
	return func(rng *rand.Rand, levels []float64) drawn {
		k, p := corner(rng, levels), between(rng, 0.5, 0.9)
		return drawn{func(n float64) float64 { return math.Pow(min(n, k), p) }, k}
	}
}

// slowed is a server with k slots whose step takes 1.3 to 3 times as long with
// all of them busy.
func slowed(rng *rand.Rand, levels []float64) drawn {
	k := early(rng, levels)
	slow := between(rng, 0.3, 2) / k
	return drawn{func(n float64) float64 { return min(n, k) / (1 + slow*min(n, k)) }, k}
}

// rounded goes over from a line to a plateau without a corner; its elasticity is
// 0.15 or less at the third level from the end. The lines meet at k.
func rounded(rng *rand.Rand, levels []float64) drawn {
	const flat = 0.15
	k, q := early(rng, levels), between(rng, 1.3, 6)
	k = min(k, levels[len(levels)-3]*math.Pow(1/flat-1, -1/q))
	return drawn{func(n float64) float64 { return n / math.Pow(1+math.Pow(n/k, q), 1/q) }, k}
}

// declining loses 30 to 60 % over the last two levels.
func declining(rng *rand.Rand, levels []float64) drawn {
	k, loss := early(rng, levels), between(rng, 0.3, 0.6)
	from, last := levels[len(levels)-3], levels[len(levels)-1]
	return drawn{func(n float64) float64 { return min(n, k) * (1 - loss*max(0, n-from)/(last-from)) }, k}
}

// stall rises in proportion, gains nothing over one level or more, and grows
// again with an elasticity of 0.5 or more, by 40 % at least, to the last level.
func stall(rng *rand.Rand, levels []float64) func(n float64) float64 {
	first := rng.IntN(len(levels) - 3)
	begin, end := levels[first], levels[first+1+rng.IntN(len(levels)-3-first)]
	p := max(between(rng, 0.5, 1), math.Log(1.4)/math.Log(levels[len(levels)-1]/end))
	return func(n float64) float64 { return min(n, begin) * math.Pow(max(1, n/end), p) }
}

func endless(f func(rng *rand.Rand, levels []float64) func(n float64) float64) func(*rand.Rand, []float64) drawn {
	return func(rng *rand.Rand, levels []float64) drawn { return drawn{f(rng, levels), math.NaN()} }
}

// early is a corner with two levels or more at or below it and three or more at
// or above it.
func early(rng *rand.Rand, levels []float64) float64 {
	lo, hi := levels[1], levels[len(levels)-3]
	return lo * math.Pow(hi/lo, rng.Float64())
}

// late is a corner with two levels at or above it.
func late(rng *rand.Rand, levels []float64) float64 {
	lo, hi := levels[len(levels)-3], levels[len(levels)-2]
	return lo * math.Pow(hi/lo, between(rng, 0.1, 1))
}

func between(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// Draw makes the curve of one seed: levels from a published table, windows a
// level with a lognormal error of the given coefficient of variation, and the
// true knee. The same seed gives the same levels and the same shape at any noise.
func (s Shape) Draw(seed uint64, windows int, cv float64) (points []knee.Point, truth float64) {
	const stream = 0x73686170 // "shap"
	rng := rand.New(rand.NewPCG(seed, stream))
	all := grids()
	levels := all[rng.IntN(len(all))]
	curve := s.draw(rng, levels)
	for _, n := range levels {
		p := knee.Point{N: int(n)}
		for range windows {
			p.Windows = append(p.Windows, 100*curve.at(n)*math.Exp(cv*rng.NormFloat64()))
		}
		points = append(points, p)
	}
	return points, curve.knee
}

// Right reports whether a verdict is right for the kind.
func (s Shape) Right(v knee.Verdict) bool {
	return v == s.Want || s.Want == knee.StillRising && v == knee.NotLocated
}
