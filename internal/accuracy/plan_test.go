//go:build accuracy

package accuracy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

const (
	planSeeds  = 200 // 1…200, all of them
	planNeeded = 184 // of them must be right
	planWarmup = 10 * time.Second
	planSpan   = 120 * time.Second
	planDrain  = 10 * time.Second // after the last arrival: what is unsent then has waited so long
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

// served is what replicas of an endpoint, each by its own configuration, give when a
// Poisson stream is divided among them by chance: all samples that arrived in the span.
func served(t *testing.T, s accuracy.Setting, replicas, streams int, rate float64, seed uint64) (samples []load.Sample, unsent int) {
	t.Helper()
	var mu sync.Mutex
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var all sync.WaitGroup
		for k := range replicas {
			own := seed<<16 + uint64(k) + 1
			e, err := sim.New(s.Endpoint(own))
			if err != nil {
				t.Fatal(err)
			}
			e.SetEpoch(epoch)
			o := sweep.Open{
				Sender: e, Source: workload.Synthetic{InputTokens: s.Input, OutputTokens: s.Output, Output: s.Lengths, Seed: own},
				Epoch: epoch, Streams: streams,
				Sink: func(ev sweep.Event) {
					if at := ev.Sample.Scheduled.V; at >= planWarmup {
						mu.Lock()
						samples = append(samples, load.Sample{Scheduled: ev.Sample.Scheduled, Sent: ev.Sample.Sent, End: ev.Sample.End, OutputTokens: ev.Sample.OutputTokens,
							Chunks: []load.Chunk{ev.Sample.Chunks[0], ev.Sample.Chunks[len(ev.Sample.Chunks)-1]}})
						mu.Unlock()
					}
				},
			}
			all.Go(func() {
				arrivals := &until{Process: pace.NewPoisson(rate/float64(replicas), rand.New(rand.NewPCG(own, 1))), left: planWarmup + planSpan}
				phase, err := o.Run(context.Background(), arrivals, planWarmup, planSpan+planDrain)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				unsent += phase.Unsent
				mu.Unlock()
				e.Close()
			})
		}
		all.Wait()
	})
	return samples, unsent
}

// above is the share of the arrivals that lie above a limit, from the schedule. Those
// that were never sent waited for ever.
func above(samples []load.Sample, unsent int, l slo.Limit) float64 {
	over := unsent
	for i := range samples {
		s := &samples[i]
		var v time.Duration
		switch l.Figure {
		case slo.TTFT:
			v = s.Chunks[0].At - s.Scheduled.V
		case slo.E2E:
			v = s.End - s.Scheduled.V
		case slo.TPOT:
			v = (s.Chunks[1].At - s.Chunks[0].At) / time.Duration(s.OutputTokens-1)
		}
		if v > l.Max {
			over++
		}
	}
	return float64(over) / float64(len(samples)+unsent)
}

func keeps(samples []load.Sample, unsent int, limits slo.Limits) (bool, string) {
	ok, text := true, ""
	for _, l := range limits {
		share := above(samples, unsent, l)
		ok = ok && share <= l.Allowed
		text += fmt.Sprintf(" %.4f of %.2f", share, l.Allowed)
	}
	return ok, text
}

// TestPlanByOpenLoop sweeps an endpoint, plans for a rate drawn by the seed, and lets
// that rate arrive at so many replicas, and at one fewer.
func TestPlanByOpenLoop(t *testing.T) {
	for _, c := range []struct {
		slo    string
		noise  float64
		needed int // plans that must be right
	}{
		{"ttft_p95<=300ms", 0.05, planNeeded}, {"e2e_p95<=1.5s", 0.05, planNeeded}, {"ttft_p95<=300ms", 0.10, 0},
	} {
		limits, err := slo.Parse(c.slo)
		if err != nil {
			t.Fatal(err)
		}
		s := planned()
		s.Noise = c.noise
		var mu sync.Mutex
		right, enough, needed, replicas := 0, 0, 0, 0
		eachSeed(t, fmt.Sprintf("%s, noise %g", c.slo, c.noise), planSeeds, func(t *testing.T, seed uint64) {
			rate := 30 + 90*rand.New(rand.NewPCG(seed, 2)).Float64()
			p, err := plan.Make(analysis.Analyze(runSweep(t, s, seed)), plan.Demand{Rate: rate, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			n := int(p.Replicas.Value)
			holds, with := check(t, s, n, p.Streams, rate, seed, limits)
			fewer, without := false, ""
			if n > 1 {
				fewer, without = check(t, s, n-1, p.Streams, rate, seed, limits)
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
		t.Logf("%s, noise %g: right %d of %d, enough %d, none too many %d, %.1f replicas on average", c.slo, c.noise, right, planSeeds, enough, needed, float64(replicas)/planSeeds)
		if right < c.needed {
			t.Errorf("%s, noise %g: %d of %d plans are right", c.slo, c.noise, right, planSeeds)
		}
	}
}

// check lets a rate arrive at replicas and reports whether they keep the limits.
func check(t *testing.T, s accuracy.Setting, replicas, streams int, rate float64, seed uint64, limits slo.Limits) (bool, string) {
	t.Helper()
	samples, unsent := served(t, s, replicas, streams, rate, seed)
	return keeps(samples, unsent, limits)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
