package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Streams of randomness, one per use, so that one draw never shifts another.
const (
	streamSpeed = iota + 1
	streamJitter
	streamFaults
	streamFallback
)

// noise turns the configuration's noise into durations of steps. It is used by
// the engine's goroutine alone.
type noise struct {
	cfg    Config
	start  time.Time
	sigma  float64 // of log speed
	jitter float64 // of log step time
	steps  *rand.Rand
	window int64
	factor float64
}

func newNoise(cfg Config, start time.Time) *noise {
	cv := cfg.Noise
	return &noise{
		cfg: cfg, start: start, window: -1,
		sigma:  math.Sqrt(math.Log1p(cv * cv)),
		jitter: math.Sqrt(math.Log1p(cfg.StepJitter * cfg.StepJitter)),
		steps:  rand.New(rand.NewPCG(cfg.Seed, streamJitter)),
	}
}

// stretch returns the time that a step of nominal length d, begun at t, takes.
func (z *noise) stretch(t time.Time, d time.Duration) time.Duration {
	since := t.Sub(z.start)
	out := float64(d) / z.speed(since)
	if z.jitter > 0 {
		out *= math.Exp(z.jitter*z.steps.NormFloat64() - z.jitter*z.jitter/2)
	}
	return max(1, time.Duration(out))
}

// speed is the factor of the endpoint's speed at an age: mean 1, then drift.
func (z *noise) speed(age time.Duration) float64 {
	f := 1.0
	if z.sigma > 0 {
		if w := int64(age / z.cfg.NoiseWindow); w != z.window {
			rng := rand.New(rand.NewPCG(z.cfg.Seed, streamSpeed<<32|uint64(w)))
			z.window = w
			z.factor = math.Exp(z.sigma*rng.NormFloat64() - z.sigma*z.sigma/2)
		}
		f = z.factor
	}
	if z.cfg.Drift != 0 && z.cfg.DriftOver > 0 {
		f *= 1 + z.cfg.Drift*min(1, float64(age)/float64(z.cfg.DriftOver))
	}
	return f
}
