//go:build accuracy

package accuracy_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/internal/accuracy"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

const (
	planSeeds  = 200       // 1…200, all of them
	planNeeded = 184       // of them must be right
	planTime   = time.Hour // of arrivals, for the plan to be held against
	planWarmup = 10 * time.Second
	planSpan   = 120 * time.Second // of the endpoint itself
	planDrain  = 10 * time.Second  // after the last arrival: what is unsent then has waited so long
)

// planned is an endpoint whose steps slow down as they fill, with answers of 20 to 60
// tokens and a prefill: 16 sequences at once, about 29 requests/s.
func planned() accuracy.Setting {
	return accuracy.Setting{
		Slots: 16, Levels: []int{1, 2, 4, 8, 12, 16, 20, 24, 32}, Noise: 0.10, Window: time.Second,
		Step: 10 * time.Millisecond, Slowdown: 200 * time.Microsecond, Output: 60, Lengths: workload.Uniform{From: 20, To: 60},
		Input: 64, Prefill: 50 * time.Microsecond,
	}
}

// until ends a process after a time.
type until struct {
	pace.Process
	left time.Duration
}

func (u *until) Next() (time.Duration, bool) {
	gap, ok := u.Process.Next()
	u.left -= gap
	return gap, ok && u.left > 0
}

// answered is a request of an open loop: times from its arrival on, in seconds.
type answered struct{ ttft, e2e float64 }

// served is what the endpoint gives, over its own Send, when a Poisson stream arrives
// in front of so many streams.
func served(t *testing.T, s accuracy.Setting, streams int, rate float64, seed uint64) (all []answered) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		e, err := sim.New(s.Endpoint(seed))
		if err != nil {
			t.Fatal(err)
		}
		e.SetEpoch(epoch)
		o := sweep.Open{
			Sender: e, Source: workload.Synthetic{InputTokens: s.Input, OutputTokens: s.Output, Output: s.Lengths, Seed: seed},
			Epoch: epoch, Streams: streams,
			Sink: func(ev sweep.Event) {
				if at := ev.Sample.Scheduled.V; at >= planWarmup {
					all = append(all, answered{(ev.Sample.Chunks[0].At - at).Seconds(), (ev.Sample.End - at).Seconds()})
				}
			},
		}
		arrivals := &until{Process: pace.NewPoisson(rate, rand.New(rand.NewPCG(seed, 1))), left: planWarmup + planSpan}
		phase, err := o.Run(context.Background(), arrivals, planWarmup, planSpan+planDrain)
		if err != nil {
			t.Fatal(err)
		}
		for range phase.Unsent {
			all = append(all, answered{math.Inf(1), math.Inf(1)})
		}
		e.Close()
	})
	return all
}

// replica serves an hour of a Poisson stream by the configuration of the endpoint,
// step by step, as its engine does and without its goroutines: of those that have
// arrived streams are let in, first come, first served, and join at the next step.
func replica(c sim.Config, s accuracy.Setting, streams int, rate float64, seed uint64) (all []answered) {
	rng := rand.New(rand.NewPCG(seed, 3))
	type request struct {
		arrived, first float64
		left           int
	}
	var running []request
	lognormal := func(cv float64) float64 {
		sigma := math.Sqrt(math.Log1p(cv * cv))
		return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2)
	}
	now, window, speed := 0.0, -1.0, 1.0
	next := rng.ExpFloat64() / rate
	lengths := s.Lengths.(workload.Uniform)
	for end := planTime.Seconds(); next < end || len(running) > 0; {
		if len(running) == 0 {
			now = max(now, next)
		}
		admitted := 0
		for len(running) < min(streams, c.Slots) && next <= now && next < end {
			running = append(running, request{arrived: next, left: lengths.From + rng.IntN(lengths.To-lengths.From+1)})
			admitted++
			next += rng.ExpFloat64() / rate
		}
		if w := math.Floor(now / c.NoiseWindow.Seconds()); w != window {
			window, speed = w, lognormal(c.Noise)
		}
		step := c.StepBase + time.Duration(len(running))*c.StepPerSequence + time.Duration(admitted*s.Input)*c.Prefill
		now += step.Seconds() / speed * lognormal(c.StepJitter)
		kept := running[:0]
		for _, r := range running {
			if r.first == 0 {
				r.first = now
			}
			if r.left--; r.left > 0 {
				kept = append(kept, r)
				continue
			}
			if r.arrived >= planWarmup.Seconds() {
				all = append(all, answered{r.first - r.arrived, now - r.arrived})
			}
		}
		running = kept
	}
	return all
}

// above is the share of the requests above a limit.
func above(all []answered, l slo.Limit) float64 {
	over := 0
	for _, a := range all {
		v := a.ttft
		if l.Figure == slo.E2E {
			v = a.e2e
		}
		if v > l.Max.Seconds() {
			over++
		}
	}
	return float64(over) / float64(max(1, len(all)))
}

// keep lets a rate arrive at replicas, to which requests are given by chance, and
// returns whether they keep the limits, and the shares above them.
func keep(s accuracy.Setting, replicas, streams int, rate float64, seed uint64, limits slo.Limits) (bool, string) {
	var all []answered
	for k := range replicas {
		own := seed<<16 + uint64(k) + 1
		all = append(all, replica(s.Endpoint(own), s, streams, rate/float64(replicas), own)...)
	}
	ok, text := true, ""
	for _, l := range limits {
		share := above(all, l)
		ok = ok && share <= l.Allowed
		text += fmt.Sprintf(" %.4f", share)
	}
	return ok, text
}

// TestReplicaIsTheEndpoint holds the replicas of the study against the endpoint: at
// the same load as many requests lie above a limit.
func TestReplicaIsTheEndpoint(t *testing.T) {
	limits, err := slo.Parse("ttft_p95<=300ms,e2e_p95<=1s")
	if err != nil {
		t.Fatal(err)
	}
	s := planned()
	for _, rate := range []float64{16, 22, 25} {
		var own, fast []answered
		for seed := uint64(1); seed <= 20; seed++ {
			own = append(own, served(t, s, s.Slots, rate, seed)...)
		}
		for seed := uint64(1); seed <= 4; seed++ {
			fast = append(fast, replica(s.Endpoint(seed), s, s.Slots, rate, seed)...)
		}
		for _, l := range limits {
			a, b := above(own, l), above(fast, l)
			t.Logf("%v/s, above %s: %.4f of the endpoint's requests, %.4f of the replica's", rate, l, a, b)
			if math.Abs(a-b) > 0.004+0.15*max(a, b) {
				t.Errorf("%v/s: %.4f and %.4f lie above %s", rate, a, b, l)
			}
		}
	}
}

// TestPlanByOpenLoop sweeps an endpoint, plans for a rate drawn by the seed, and lets
// that rate arrive at so many replicas, and at one fewer.
func TestPlanByOpenLoop(t *testing.T) {
	for _, text := range []string{"ttft_p95<=300ms", "e2e_p95<=1.5s"} {
		limits, err := slo.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := planned()
		var mu sync.Mutex
		right, enough, needed, replicas := 0, 0, 0, 0
		eachSeed(t, text, planSeeds, func(t *testing.T, seed uint64) {
			rate := 30 + 90*rand.New(rand.NewPCG(seed, 2)).Float64()
			p, err := plan.Make(analysis.Analyze(runSweep(t, s, seed)), plan.Demand{Rate: rate, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			n := int(p.Replicas.Value)
			holds, with := keep(s, n, p.Streams, rate, seed, limits)
			fewer, without := false, ""
			if n > 1 {
				fewer, without = keep(s, n-1, p.Streams, rate, seed, limits)
			}
			mu.Lock()
			defer mu.Unlock()
			replicas += n
			enough += count(holds)
			needed += count(!fewer)
			right += count(holds && !fewer)
			t.Logf("%.1f/s, %d replicas (%v–%v) of %d streams at %.2f (%.2f–%.2f)/s each: %v,%s; one fewer: %v,%s",
				rate, n, p.Replicas.Lo, p.Replicas.Hi, p.Streams, p.PerReplica.Value, p.PerReplica.Lo, p.PerReplica.Hi, holds, with, fewer, without)
		})
		t.Logf("%s: right %d of %d, enough %d, none too many %d, %.1f replicas on average", text, right, planSeeds, enough, needed, float64(replicas)/planSeeds)
		if right < planNeeded {
			t.Errorf("%s: %d of %d plans are right", text, right, planSeeds)
		}
	}
}
