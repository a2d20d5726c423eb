package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// Nights is an endpoint as a sweep finds it night after night: a straight ramp of Rate
// tokens/s a stream up to Knee streams, and a queue beyond. What changes is given for
// each night, from 1 on.
type Nights struct {
	Levels  []int
	Rate    float64                 // tokens/s of a stream
	Knee    func(night int) float64 // streams
	Speed   func(night int) float64 // factor of everything; nil = 1
	Fails   func(night int) bool    // the sweep fails; nil = never
	Noise   float64                 // CV of a window
	Nightly float64                 // CV from night to night
	Windows int
}

// firstNight is three weeks before the clocks of Europe go forward in 2027.
var firstNight = time.Date(2027, 3, 7, 2, 30, 0, 0, time.UTC)

// Run is what the sweep of a night measured, through the analysis of every sweep. False: it
// failed, and there is no curve.
func (n Nights) Run(night int, seed uint64) (analysis.Curve, bool) {
	rng := rand.New(rand.NewPCG(seed, uint64(night)))
	if n.Fails != nil && n.Fails(night) {
		return analysis.Curve{}, false
	}
	draw := func(cv float64) float64 { // lognormal, mean 1
		s := math.Sqrt(math.Log1p(cv * cv))
		return math.Exp(s*rng.NormFloat64() - s*s/2)
	}
	speed := draw(n.Nightly)
	if n.Speed != nil {
		speed *= n.Speed(night)
	}
	k := n.Knee(night)
	var steps []load.Step
	for _, level := range n.Levels {
		s := load.Step{Concurrency: level, Valid: true, Steady: true}
		x := speed * n.Rate * min(float64(level), k)
		for range n.Windows {
			s.Measurements = append(s.Measurements, x*draw(n.Noise))
		}
		s.Throughput = load.Some(stat.MedianEstimate(s.Measurements))
		ttft := (0.050 + 2*max(0, float64(level)/k-1)) / speed * draw(0.05)
		s.TTFT = load.Dist{P50: ttft, P90: 1.3 * ttft, P95: 1.5 * ttft, P99: 2 * ttft, Mean: ttft, Count: 50}
		steps = append(steps, s)
	}
	run := load.Run{
		ID: fmt.Sprintf("night-%d", night), Started: firstNight.AddDate(0, 0, night-1), Seed: seed + uint64(night), Status: load.StatusComplete,
		Settings: load.Settings{Measurements: n.Windows, Passes: 2},
	}
	return analysis.Build(run, steps), true
}
