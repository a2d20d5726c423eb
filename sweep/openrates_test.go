package sweep_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

// offered runs a sweep over rates in a bubble.
func offered(t *testing.T, s sweep.Sender, streams int, rates []float64, arm func(*sweep.Rates, context.CancelFunc)) (analysis.Data, sweep.Outcome) {
	t.Helper()
	data := analysis.Data{Run: load.Run{Seed: 1, Settings: load.Settings{Passes: 2, Measurements: 6, MaxErrorRate: 0.05, Rates: rates, Arrivals: "evenly spaced"}}}
	var out sweep.Outcome
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		switch s := s.(type) {
		case *sender:
			s.epoch = epoch
		case *late:
			s.start(t, epoch)
			defer s.Close()
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mem sweep.Memory
		r := &sweep.Rates{
			Open:    sweep.Open{Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 20, Seed: 1}, Sink: mem.Take, Epoch: epoch, Streams: streams},
			Offered: rates, Measurements: 6, Passes: 2, Warmup: 5, Answer: 200 * time.Millisecond, MaxErrorRate: 0.05, Seed: 1,
			Process: func(rate float64, _ int) pace.Process { return &pace.Constant{Rate: rate} },
		}
		if arm != nil {
			arm(r, cancel)
		}
		var err error
		if out, err = r.Run(ctx); err != nil {
			t.Fatal(err)
		}
		data.Samples, data.Open = mem.Samples, mem.Open
	})
	return data, out
}

// late is an endpoint that is made inside the bubble.
type late struct {
	sim.Config
	*sim.Endpoint
}

func (l *late) start(t *testing.T, epoch time.Time) {
	t.Helper()
	e, err := sim.New(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	e.SetEpoch(epoch)
	l.Endpoint = e
}

// TestRateSweepFindsTheCapacity: 8 slots of 200 ms serve 40 requests a second. Below, the
// endpoint follows; above, arrivals find no free stream, and none is hidden.
func TestRateSweepFindsTheCapacity(t *testing.T) {
	e := &late{Config: sim.Config{Slots: 8, StepBase: 10 * time.Millisecond, OutputTokens: 20, Seed: 1}}
	data, out := offered(t, e, 64, []float64{5, 10, 20, 30, 50, 60, 80}, nil)
	if out.Status != load.StatusComplete || len(data.Open) != 14 {
		t.Fatalf("%+v, %d phases", out, len(data.Open))
	}
	c := analysis.Analyze(data)
	k := c.Rates.Knee
	if k.Verdict != knee.Found || k.Rate.V.Value < 39 || k.Rate.V.Value > 41 || k.Plateau.V < 780 || k.Plateau.V > 820 || k.Slope.V < 19 || k.Slope.V > 21 {
		t.Errorf("%+v", k)
	}
	if len(c.Steps) != 0 || c.Recommended.Concurrency.OK || c.Knee.Concurrency.OK {
		t.Error("a number of streams is claimed")
	}
	// 38 requests/s of somewhat more than 200 ms are 8 in flight.
	if a := c.Rates.Recommended; !a.Rate.OK || a.Rate.V > k.Rate.V.Value || a.Streams.V != 8 {
		t.Errorf("%+v", a)
	}
	for _, s := range c.Rates.Steps {
		followed := s.Rate < 40
		switch {
		case !s.Valid:
			t.Errorf("%g/s: %s", s.Rate, s.InvalidReason)
		case followed && (s.Waited > 0 || s.Requests < 0.97*s.Rate || s.Delay.P99 != 0 || s.ScheduledTTFT != s.TTFT):
			t.Errorf("%g/s: %+v", s.Rate, s)
		case s.Rate >= 60 && (s.Unsent == 0 || s.ScheduledTTFT.P50 <= s.TTFT.P50 || s.ScheduledE2E.P50 <= s.E2E.P50):
			t.Errorf("%g/s: %d unsent, TTFT %v from the schedule and %v from the send", s.Rate, s.Unsent, s.ScheduledTTFT, s.TTFT)
		}
	}
}

// TestRateSweepFromItsJournal gives the live result again bit for bit.
func TestRateSweepFromItsJournal(t *testing.T) {
	data, _ := offered(t, &late{Config: sim.Config{Slots: 4, StepBase: 10 * time.Millisecond, OutputTokens: 20, Seed: 2}}, 16, []float64{2, 5, 10, 25, 40}, func(r *sweep.Rates, _ context.CancelFunc) {
		r.Process = func(rate float64, pass int) pace.Process {
			return pace.NewPoisson(rate, rand.New(rand.NewPCG(1, uint64(pass))))
		}
	})
	var file bytes.Buffer
	w := journal.NewWriter(&file, data.Run)
	for i := range data.Samples {
		w.Sample(&data.Samples[i])
	}
	for i := range data.Open {
		w.Open(&data.Open[i])
	}
	if err := w.Close(load.StatusComplete, ""); err != nil {
		t.Fatal(err)
	}
	read, err := journal.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	data.Run.Status = load.StatusComplete
	live := analysis.Analyze(data)
	again := analysis.Analyze(analysis.Data{Run: read.Run, Samples: read.Samples, Open: read.Open})
	if !reflect.DeepEqual(live, again) {
		t.Errorf("live\n%+v\nagain\n%+v", live.Rates, again.Rates)
	}
}

// TestRateSweepStopsWhereItFails: a rate that fails ends early, and no higher one is
// offered.
func TestRateSweepStopsWhereItFails(t *testing.T) {
	down := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return 0, time.Millisecond, load.CauseConnect
	}}
	data, out := offered(t, down, 64, []float64{10, 20, 40}, nil)
	if out.Status != load.StatusStopped || len(data.Open) != 1 {
		t.Fatalf("%+v after %d phases", out, len(data.Open))
	}
	c := analysis.Analyze(data)
	if s := c.Rates.Steps[0]; s.Valid || s.InvalidReason == "" || s.Failures["connect"] < 10 || len(data.Samples) > 40 {
		t.Errorf("%d samples, %+v", len(data.Samples), s)
	}
	if analysis.Unusable(data, c) == "" {
		t.Error("a dead endpoint is usable")
	}
}

// TestRateSweepInterrupted keeps what was measured, and marks the rest.
func TestRateSweepInterrupted(t *testing.T) {
	data, out := offered(t, &late{Config: sim.Config{Slots: 8, StepBase: 10 * time.Millisecond, OutputTokens: 20, Seed: 1}}, 64, []float64{10, 20}, func(r *sweep.Rates, cancel context.CancelFunc) {
		r.Began = func(p load.OpenPhase, until time.Duration) {
			if p.Index == 1 {
				time.AfterFunc(until-time.Second/2, cancel)
			}
		}
	})
	if out.Status != load.StatusInterrupted || len(data.Open) != 2 || data.Open[1].Ended != load.EndedInterrupted || data.Open[1].Windows != 2 {
		t.Fatalf("%+v, %+v", out, data.Open)
	}
	c := analysis.Analyze(data)
	if s := c.Rates.Steps; !s[0].Valid || s[1].Valid || s[1].InvalidReason != "interrupted" {
		t.Errorf("%+v", s)
	}
}
