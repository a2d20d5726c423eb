package sweep_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// sender answers by a function of the time since the start.
type sender struct {
	epoch    time.Time
	answer   func(p load.Prompt, at time.Duration) (ttft, life time.Duration, cause load.Cause)
	inFlight atomic.Int32
	peak     atomic.Int32
	sent     atomic.Int32
}

func (s *sender) Send(ctx context.Context, p load.Prompt) load.Sample {
	s.sent.Add(1)
	n := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	for old := s.peak.Load(); n > old && !s.peak.CompareAndSwap(old, n); old = s.peak.Load() {
	}
	out := load.Sample{ID: p.ID, Sent: time.Since(s.epoch), Streaming: true, Reused: true}
	ttft, life, cause := s.answer(p, out.Sent)
	sleep := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-ctx.Done():
			cause = load.CauseCanceled
			return false
		}
	}
	if cause == "" && sleep(ttft) {
		out.Chunks = []load.Chunk{{At: time.Since(s.epoch)}}
		if p.Arrived != nil {
			p.Arrived(out.Chunks[0].At)
		}
		if sleep(life - ttft) {
			out.Chunks = append(out.Chunks, load.Chunk{At: time.Since(s.epoch)})
			out.OutputTokens, out.TokenSource, out.ContentAt = 2, load.SourceServer, 1
		}
	} else if cause != "" {
		sleep(life)
	}
	out.Cause = cause
	if cause == "http_429" {
		out.Status = 429
	}
	out.End = time.Since(s.epoch)
	return out
}

// hold runs levels one after the other in a bubble and returns what was seen.
func hold(t *testing.T, s *sender, cfg sweep.Config, levels ...load.Level) (mem *sweep.Memory, visits []load.Visit) {
	t.Helper()
	mem = &sweep.Memory{}
	synctest.Test(t, func(t *testing.T) {
		s.epoch = time.Now()
		cfg.Sender, cfg.Epoch, cfg.Sink = s, s.epoch, mem.Take
		cfg.Source = workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}
		l, err := sweep.NewLocal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range levels {
			v, err := l.Hold(t.Context(), level)
			if err != nil {
				t.Fatal(err)
			}
			visits = append(visits, v)
		}
		l.Close()
		if n := s.inFlight.Load(); n != 0 {
			t.Errorf("%d requests outlive Close", n)
		}
	})
	return mem, visits
}

func steadyAnswer(ttft, life time.Duration) func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
	return func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) { return ttft, life, "" }
}

func TestHoldWarmsUpThenMeasures(t *testing.T) {
	s := &sender{answer: steadyAnswer(20*time.Millisecond, 100*time.Millisecond)}
	cfg := sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.05}
	mem, visits := hold(t, s, cfg, load.Level{Concurrency: 1, Windows: 3}, load.Level{Concurrency: 4, Windows: 2}, load.Level{Concurrency: 2, Windows: 2})
	for i, v := range visits {
		if v.Ended != "" || len(v.Windows) != v.Level.Windows {
			t.Errorf("visit %d: %+v", i, v)
		}
		discarded := 0
		for _, m := range mem.Samples {
			if m.End >= v.Started && m.End <= v.Windows[0].From {
				discarded++
			}
			if m.Visit == i && m.Warmup != (m.Sent < v.Windows[0].From) && m.Sent != v.Windows[0].From {
				t.Errorf("visit %d: request sent at %v is marked warm-up %v", i, m.Sent, m.Warmup)
			}
		}
		if discarded < 5 {
			t.Errorf("visit %d discarded %d requests, want at least 5", i, discarded)
		}
	}
	if got := visits[0].Windows[0].From; got != 500*time.Millisecond {
		t.Errorf("one stream of 100 ms answers was warm after %v, want five answers", got)
	}
	if s.peak.Load() != 4 {
		t.Errorf("at most %d in flight, want 4", s.peak.Load())
	}
	steps := analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples})
	for _, st := range steps {
		if !st.InFlight.OK || st.InFlight.Peak != st.Concurrency || st.InFlight.Mean < 0.999*float64(st.Concurrency) {
			t.Errorf("N = %d: in flight %+v", st.Concurrency, st.InFlight)
		}
	}
}

// A server that is slow for two seconds after each idle gap: nothing of that
// reaches the figures, since levels are raised without a gap and the start is
// warm-up (paiml/probar#35).
func TestASlowStartIsDiscarded(t *testing.T) {
	s := &sender{answer: func(_ load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) {
		if at < 2*time.Second {
			return 550 * time.Millisecond, 600 * time.Millisecond, ""
		}
		return 50 * time.Millisecond, 100 * time.Millisecond, ""
	}}
	cfg := sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.05}
	mem, _ := hold(t, s, cfg, load.Level{Concurrency: 1, Windows: 5}, load.Level{Concurrency: 2, Windows: 5}, load.Level{Concurrency: 4, Windows: 5})
	for _, st := range analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples}) {
		if st.TTFT.P99 > 0.1 {
			t.Errorf("N = %d: TTFT p99 %.3f s on a 50 ms server", st.Concurrency, st.TTFT.P99)
		}
	}
}

// A dead server costs few requests: workers back off.
func TestADeadServerIsNotStormed(t *testing.T) {
	s := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return 0, time.Millisecond, load.CauseConnect
	}}
	_, visits := hold(t, s, sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.05, Seed: 3}, load.Level{Concurrency: 16, Windows: 5})
	v := visits[0]
	if v.Ended != load.EndedFailing || len(v.Windows) != 0 {
		t.Errorf("visit %+v, want an early end as failing", v)
	}
	if n := s.sent.Load(); n > 3*16 {
		t.Errorf("%d requests to a dead server from 16 workers", n)
	}
}

// One failure in eleven answers is over no limit of ten in a hundred; the time
// that its worker waits is accounted.
func TestBackoffIsAccounted(t *testing.T) {
	var n atomic.Int32
	s := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		if n.Add(1)%11 == 0 {
			return 0, 10 * time.Millisecond, load.CauseReset
		}
		return 10 * time.Millisecond, 100 * time.Millisecond, ""
	}}
	mem, visits := hold(t, s, sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.10}, load.Level{Concurrency: 1, Windows: 6})
	v := visits[0]
	if v.Ended != "" || v.Backoff < 300*time.Millisecond || v.Backoff > 1500*time.Millisecond {
		t.Errorf("visit %+v, want some 5 waits of 100 to 125 ms accounted", v)
	}
	st := analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples})[0]
	if st.Failures["reset"] != st.Failed || st.Failed == 0 || st.Backoff != v.Backoff {
		t.Errorf("failures %v of %d, back-off %v", st.Failures, st.Failed, st.Backoff)
	}
}

func TestThrottlingEndsAVisit(t *testing.T) {
	var mu sync.Mutex
	count := 0
	s := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		mu.Lock()
		defer mu.Unlock()
		if count++; count > 40 {
			return 0, time.Millisecond, "http_429"
		}
		return 10 * time.Millisecond, 50 * time.Millisecond, ""
	}}
	_, visits := hold(t, s, sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.05}, load.Level{Concurrency: 8, Windows: 5})
	if v := visits[0]; v.Ended != load.EndedThrottled {
		t.Errorf("ended as %q, want throttled", v.Ended)
	}
}

// Streams that take much longer than the rest do not hold up a level for ever.
func TestALongStreamIsReportedAsStarved(t *testing.T) {
	var once atomic.Bool
	s := &sender{answer: func(p load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) {
		if at > 500*time.Millisecond && once.CompareAndSwap(false, true) {
			return time.Second, time.Hour, ""
		}
		return 10 * time.Millisecond, 100 * time.Millisecond, ""
	}}
	_, visits := hold(t, s, sweep.Config{Warmup: 5, Window: time.Second, MaxErrorRate: 0.05},
		load.Level{Concurrency: 1, Windows: 1}, load.Level{Concurrency: 2, Windows: 2}, load.Level{Concurrency: 8, Windows: 2})
	last := visits[len(visits)-1]
	if last.Ended != "" || last.Starved != 1 {
		t.Errorf("visit %+v, want it measured with one starved stream", last)
	}
}

func TestInterruptKeepsCompleteWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mem sweep.Memory
		s := &sender{epoch: time.Now(), answer: steadyAnswer(10*time.Millisecond, 100*time.Millisecond)}
		l, err := sweep.NewLocal(sweep.Config{
			Sender: s, Source: workload.Synthetic{InputTokens: 1, OutputTokens: 2}, Sink: mem.Take, Epoch: s.epoch,
			Warmup: 5, Window: time.Second, MaxErrorRate: 0.05,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5650*time.Millisecond)
		defer cancel()
		grid := sweep.Grid{Levels: []int{1, 2, 4}, Measurements: 6, Passes: 2}
		out, err := sweep.Run(ctx, l, grid)
		l.Close()
		if err != nil || out.Status != load.StatusInterrupted {
			t.Errorf("outcome %+v, %v", out, err)
		}
		if at := time.Since(s.epoch); at != 5650*time.Millisecond {
			t.Errorf("stopped after %v, not at once", at)
		}
		last := mem.Visits[len(mem.Visits)-1]
		if last.Ended != load.EndedInterrupted || len(last.Windows) != 1 {
			t.Errorf("last visit %+v, want one complete window and the mark", last)
		}
		for _, m := range mem.Samples {
			if m.End > 5650*time.Millisecond {
				t.Errorf("sample %d ended after the interrupt", m.ID)
			}
		}
	})
}

func TestAnUnsteadyVisitIsLengthenedOnce(t *testing.T) {
	for drift, extended := range map[float64]bool{0: false, 3: true} {
		synctest.Test(t, func(t *testing.T) {
			e, err := sim.New(sim.Config{
				Slots: 8, StepBase: 5 * time.Millisecond, OutputTokens: 10, StepJitter: 0.3,
				Drift: drift, DriftOver: 4 * time.Second, Seed: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			l, err := sweep.NewLocal(sweep.Config{
				Sender: e, Source: workload.Synthetic{InputTokens: 1, OutputTokens: 10}, Epoch: time.Now(),
				Warmup: 5, Window: 500 * time.Millisecond, MaxErrorRate: 0.05,
			})
			if err != nil {
				t.Fatal(err)
			}
			v, err := l.Hold(t.Context(), load.Level{Concurrency: 4, Windows: 5})
			l.Close()
			e.Close()
			if err != nil {
				t.Fatal(err)
			}
			if v.Extended != extended || len(v.Windows) != 5 {
				t.Fatalf("speed changes by %+.0f %%: visit %+v, want extended = %v and five windows", 100*drift, v, extended)
			}
			for i := 1; i < len(v.Windows); i++ {
				if v.Windows[i].From != v.Windows[i-1].To {
					t.Errorf("windows %v are not contiguous", v.Windows)
				}
			}
		})
	}
}

// The default window is the larger of 1 s and half the median answer, the same
// on all passes of a level.
func TestTheWindowFollowsTheAnswers(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: time.Second,
		6 * time.Second:        3 * time.Second,
	} {
		s := &sender{answer: steadyAnswer(10*time.Millisecond, life)}
		_, visits := hold(t, s, sweep.Config{Warmup: 2, MaxErrorRate: 0.05}, load.Level{Concurrency: 2, Windows: 2}, load.Level{Concurrency: 2, Windows: 2, Pass: 1})
		for _, v := range visits {
			for _, w := range v.Windows {
				if w.To-w.From != want {
					t.Errorf("answers of %v: window of %v, want %v", life, w.To-w.From, want)
				}
			}
		}
	}
}

// With a count of requests a visit ends when they have; few of them against many
// streams are few waves, and said to be (vllm-project/guidellm#88).
func TestRequestsInsteadOfTime(t *testing.T) {
	for n, few := range map[int]bool{1: false, 64: true} {
		s := &sender{answer: steadyAnswer(10*time.Millisecond, 100*time.Millisecond)}
		grid := sweep.Grid{Levels: []int{n}, Measurements: 10, Passes: 2, Requests: 64}
		mem, visits := hold(t, s, sweep.Config{Warmup: 5, MaxErrorRate: 0.05}, grid.Plan()[0])
		v := visits[0]
		if len(v.Windows) != 5 || v.Ended != "" {
			t.Errorf("visit %+v, want five windows", v)
		}
		st := analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples})[0]
		// Half of the requests in each pass; answers that end at the very
		// edges belong to the span, so a wave or two more may count.
		if st.Finished < 32 || st.Finished > 32+3*n || hasCode(st.Warnings, load.WarnOneWave) != few && st.Waves < 3 {
			t.Errorf("N = %d: %d finished, %.1f waves, %+v", n, st.Finished, st.Waves, st.Warnings)
		}
	}
	if got := plan(sweep.Grid{Levels: []int{1, 2}, Measurements: 10, Passes: 2, Requests: 1}.Plan()); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("one request in two passes: %v", got)
	}
}

func hasCode(warnings []load.Warning, code string) bool {
	return slices.ContainsFunc(warnings, func(w load.Warning) bool { return w.Code == code })
}

func TestThinkTimeIsKept(t *testing.T) {
	s := &sender{answer: steadyAnswer(10*time.Millisecond, 100*time.Millisecond)}
	mem, _ := hold(t, s, sweep.Config{Warmup: 5, Window: time.Second, Think: 300 * time.Millisecond, MaxErrorRate: 0.05}, load.Level{Concurrency: 4, Windows: 4})
	run := load.Run{Settings: load.Settings{Think: 300 * time.Millisecond}}
	st := analysis.Summarize(analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples})[0]
	if st.InFlight.Mean < 0.9 || st.InFlight.Mean > 1.1 || !st.Valid {
		t.Errorf("in flight %.2f, valid %v (%s); want 4·100/(100+300) = 1", st.InFlight.Mean, st.Valid, st.InvalidReason)
	}
}

// Events reach the sink in the order in which a journal needs them.
func TestVisitsAreReportedAsTheyGo(t *testing.T) {
	var states []string
	s := &sender{answer: steadyAnswer(10*time.Millisecond, 50*time.Millisecond)}
	synctest.Test(t, func(t *testing.T) {
		s.epoch = time.Now()
		l, err := sweep.NewLocal(sweep.Config{
			Sender: s, Source: workload.Synthetic{InputTokens: 1, OutputTokens: 2}, Epoch: s.epoch, Window: 2 * time.Second, MaxErrorRate: 0.05,
			Sink: func(e sweep.Event) {
				switch {
				case e.Visit != nil:
					states = append(states, e.Visit.Ended+string(rune('0'+len(e.Visit.Windows))))
				case e.Beat != nil && e.Beat.InFlight != 1:
					t.Errorf("beat %+v of one stream", e.Beat)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Hold(t.Context(), load.Level{Concurrency: 1, Windows: 2}); err != nil {
			t.Fatal(err)
		}
		if st := l.Status(); st.Level.Concurrency != 1 || st.Window != 2 || st.Chunks == 0 || st.TTFT != 10*time.Millisecond {
			t.Errorf("status %+v", st)
		}
		l.Close()
	})
	if want := []string{"running0", "running1", "running2", "2"}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
}

func TestConfigNamesTheFlags(t *testing.T) {
	_, err := sweep.NewLocal(sweep.Config{Warmup: -1, Window: -1, Think: -1, MaxErrorRate: 2})
	for _, part := range []string{"Sender", "--warmup", "--window", "--think", "--max-error-rate"} {
		if err == nil || !containsText(err, part) {
			t.Errorf("error %v does not name %s", err, part)
		}
	}
}
