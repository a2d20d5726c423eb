//go:build accuracy

package accuracy_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

// The endpoint of the study of rates: 8 slots, answers of 20 tokens, 10 ms a step, so 40
// requests a second.
const (
	rateSlots    = 8
	rateOutput   = 20
	rateStep     = 10 * time.Millisecond
	rateCapacity = rateSlots / (rateOutput * 0.010)
)

func rateEndpoint(seed uint64, noise float64, log bool) sim.Config {
	jitter := 0.20
	if noise == 0 {
		jitter = 0
	}
	return sim.Config{Slots: rateSlots, StepBase: rateStep, OutputTokens: rateOutput, StepJitter: jitter, Noise: noise, NoiseWindow: time.Second, Seed: seed, Log: log}
}

// sweepRates runs a sweep over rates in virtual time; it returns the endpoint's log too.
func sweepRates(t *testing.T, cfg sim.Config, rates []float64, streams int, process func(uint64) func(float64, int) pace.Process) (analysis.Data, []*sim.Entry, time.Time) {
	t.Helper()
	settings := load.Settings{Measurements: 10, Passes: 2, MaxErrorRate: 0.05, Rates: rates}
	data := analysis.Data{Run: load.Run{Seed: cfg.Seed, Settings: settings}}
	var log []*sim.Entry
	var epoch time.Time
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		epoch = time.Now()
		e.SetEpoch(epoch)
		var mem sweep.Memory
		r := sweep.Rates{
			Open:    sweep.Open{Sender: e, Source: workload.Synthetic{InputTokens: 1, OutputTokens: rateOutput, Seed: cfg.Seed}, Sink: mem.Take, Epoch: epoch, Streams: streams},
			Offered: rates, Measurements: 10, Passes: 2, Warmup: 5, Answer: rateOutput * rateStep, MaxErrorRate: 0.05, Seed: cfg.Seed, Process: process(cfg.Seed),
		}
		if _, err := r.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		log = e.Log()
		e.Close()
		data.Samples, data.Open = mem.Samples, mem.Open
	})
	return data, log, epoch
}

// gaps are the arrivals of a study: gamma with a coefficient of variation, 0 = even.
func gaps(cv float64) func(uint64) func(float64, int) pace.Process {
	return func(seed uint64) func(float64, int) pace.Process {
		return func(rate float64, pass int) pace.Process {
			if cv == 0 {
				return &pace.Constant{Rate: rate}
			}
			return pace.NewGamma(rate, cv, rand.New(rand.NewPCG(seed, uint64(pass)<<32|uint64(rate*1000))))
		}
	}
}

// TestRateQueueing: at 80 % of the capacity TTFT from the schedule is what the endpoint
// itself logged, with as many streams as may come; with fewer, the wait moves into
// the client, and only the latency from the schedule still holds it.
func TestRateQueueing(t *testing.T) {
	fmt.Println("| most in flight | TTFT p50 / p95 from the schedule, ms | from the send, ms | by the endpoint's log, p50 / p95, ms | largest difference of one request | waited | unsent |")
	for _, streams := range []int{500, 16, 9} {
		var schedule, send, logged []float64
		worst := time.Duration(0)
		waited, unsent, arrivals := 0, 0, 0
		for seed := range uint64(50) {
			data, log, epoch := sweepRates(t, rateEndpoint(seed+1, 0, true), []float64{0.8 * rateCapacity}, streams, gaps(1))
			spans := []load.Span{}
			for _, p := range data.Open {
				spans = append(spans, p.Measured)
			}
			byArrival := map[time.Duration][]time.Duration{}
			for _, e := range log {
				if len(e.Events) > 0 {
					at := e.Arrived.Sub(epoch)
					byArrival[at] = append(byArrival[at], e.Events[0].At.Sub(epoch))
					if slices.ContainsFunc(spans, func(s load.Span) bool { return s.Holds(at) }) {
						logged = append(logged, e.Events[0].At.Sub(e.Arrived).Seconds())
					}
				}
			}
			for _, p := range data.Open {
				waited, unsent, arrivals = waited+p.Waited, unsent+p.Unsent, arrivals+p.Arrivals
			}
			for i := range data.Samples {
				s := &data.Samples[i]
				if s.Warmup || s.Failed() {
					continue
				}
				schedule = append(schedule, (s.TTFT().V + s.FromSchedule().V).Seconds())
				send = append(send, s.TTFT().V.Seconds())
				best := time.Duration(math.MaxInt64) // several may be sent in one instant
				for _, at := range byArrival[s.Sent] {
					if d := (s.Chunks[0].At - at).Abs(); d < best {
						best = d
					}
				}
				worst = max(worst, best)
			}
		}
		q := func(v []float64, p float64) float64 {
			v = slices.Clone(v)
			slices.Sort(v)
			return 1e3 * stat.Quantile(v, p)
		}
		fmt.Printf("| %d | %.1f / %.1f | %.1f / %.1f | %.1f / %.1f | %v | %.1f %% | %.2f %% |\n", streams,
			q(schedule, .5), q(schedule, .95), q(send, .5), q(send, .95), q(logged, .5), q(logged, .95), worst, 100*float64(waited)/float64(arrivals), 100*float64(unsent)/float64(arrivals))
		if worst != 0 {
			t.Errorf("%d streams: off by %v from the log", streams, worst)
		}
	}
}

// TestRateKnee finds the endpoint's capacity in requests/s over 50 seeds, for each way of
// arriving and two grids of rates.
func TestRateKnee(t *testing.T) {
	grids := map[string][]float64{"5 to 80": {5, 10, 20, 30, 36, 44, 50, 60, 80}, "5 to 160, by doubling": {5, 10, 20, 40, 80, 160}}
	fmt.Println("| rates | arrivals | noise | verdict `knee` | median error | bias | truth in the interval | streams recommended |")
	for _, name := range []string{"5 to 80", "5 to 160, by doubling"} {
		for _, cv := range []float64{0, 1, 2} {
			for _, noise := range []float64{0, 0.10} {
				var errs, off, streams []float64
				found, inside := 0, 0
				for seed := range uint64(50) {
					data, _, _ := sweepRates(t, rateEndpoint(seed+1, noise, false), grids[name], 128, gaps(cv))
					r := analysis.Analyze(data).Rates
					if r.Knee.Verdict != knee.Found {
						continue
					}
					found++
					k := r.Knee.Rate.V
					off = append(off, k.Value/rateCapacity-1)
					errs = append(errs, math.Abs(k.Value/rateCapacity-1))
					if k.Lo <= rateCapacity && rateCapacity <= k.Hi {
						inside++
					}
					streams = append(streams, float64(r.Recommended.Streams.V))
				}
				fmt.Printf("| %s | CV %g | %.0f %% | %d of 50 | %.1f %% | %+.1f %% | %d of %d | %.0f |\n", name, cv, 100*noise, found, 100*stat.Median(errs), 100*stat.Median(off), inside, found, stat.Median(streams))
				if found < 40 && cv <= 1 && name == "5 to 80" {
					t.Errorf("%s, CV %g: a knee in %d of 50", name, cv, found)
				}
			}
		}
	}
}
