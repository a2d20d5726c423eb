package sweep_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// inTurn interleaves a grid over senders in a bubble and returns the visits of each,
// the turns taken and the outcomes.
func inTurn(t *testing.T, g sweep.Grid, budget time.Duration, senders ...*sender) (memories []sweep.Memory, turns []int, outcomes []sweep.Outcome) {
	t.Helper()
	memories = make([]sweep.Memory, len(senders))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), budget)
		defer cancel()
		epoch := time.Now()
		var all []sweep.Resting
		for i, s := range senders {
			s.epoch = epoch
			l, err := sweep.NewLocal(sweep.Config{
				Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Sink: memories[i].Take,
				Epoch: epoch, Warmup: 1, Window: 100 * time.Millisecond, MaxErrorRate: 0.05, Seed: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			all = append(all, l)
		}
		var err error
		if outcomes, err = sweep.Interleave(ctx, g, all, func(i int) { turns = append(turns, i) }); err != nil {
			t.Fatal(err)
		}
	})
	return memories, turns, outcomes
}

func answers(time.Duration) (ttft, life time.Duration, cause load.Cause) {
	return 5 * time.Millisecond, 10 * time.Millisecond, ""
}

// Every visit is made on all endpoints, one at a time, and who comes first on the
// way up comes last on the way down.
func TestInterleave(t *testing.T) {
	var a, b, c sender
	busy := func(others ...*sender) func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return func(_ load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) {
			for _, o := range others {
				if n := o.inFlight.Load(); n > 0 {
					t.Errorf("after %v %d requests are in flight at another endpoint", at, n)
				}
			}
			return answers(at)
		}
	}
	a.answer, b.answer, c.answer = busy(&b, &c), busy(&a, &c), busy(&a, &b)
	memories, turns, outcomes := inTurn(t, sweep.Grid{Levels: []int{1, 2, 4}, Measurements: 4, Passes: 2}, time.Hour, &a, &b, &c)
	if want := []int{0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	for i := range memories {
		if outcomes[i].Status != load.StatusComplete {
			t.Errorf("endpoint %d: %+v", i, outcomes[i])
		}
		var levels []string
		for _, v := range memories[i].Visits {
			levels = append(levels, fmt.Sprintf("%d/%d", v.Level.Concurrency, v.Level.Pass))
			if len(v.Windows) != 2 {
				t.Errorf("endpoint %d, level %d: %d windows", i, v.Level.Concurrency, len(v.Windows))
			}
		}
		if got := strings.Join(levels, " "); got != "1/0 2/0 4/0 4/1 2/1 1/1" {
			t.Errorf("endpoint %d visited %s", i, got)
		}
		for _, s := range memories[i].Samples {
			if s.Failed() {
				t.Errorf("endpoint %d: a request ended as %s", i, s.Cause)
			}
		}
	}
}

// An endpoint that fails is spared, and the others are measured to the end.
func TestInterleaveSparesTheFailing(t *testing.T) {
	var a, b sender
	a.answer = func(_ load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) { return answers(at) }
	b.answer = func(_ load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) {
		if b.peak.Load() > 2 {
			return 0, time.Millisecond, load.CauseReset
		}
		return answers(at)
	}
	memories, _, outcomes := inTurn(t, sweep.Grid{Levels: []int{1, 2, 4, 8}, Measurements: 8, Passes: 2}, time.Hour, &a, &b)
	if outcomes[0].Status != load.StatusComplete || len(memories[0].Visits) != 8 {
		t.Errorf("the healthy one: %+v after %d visits", outcomes[0], len(memories[0].Visits))
	}
	if outcomes[1].Status != load.StatusStopped || !strings.Contains(outcomes[1].Reason, "two levels in a row") || len(memories[1].Visits) != 4 {
		t.Errorf("the failing one: %+v after %d visits", outcomes[1], len(memories[1].Visits))
	}
}

// A sweep that is cut short ends for all, and an interrupted visit is no fault of
// its endpoint.
func TestInterleaveInterrupted(t *testing.T) {
	var a, b sender
	a.answer = func(_ load.Prompt, at time.Duration) (time.Duration, time.Duration, load.Cause) { return answers(at) }
	b.answer = a.answer
	memories, _, outcomes := inTurn(t, sweep.Grid{Levels: []int{1, 2, 4, 8}, Measurements: 4, Passes: 2}, time.Second, &a, &b)
	for i, o := range outcomes {
		if o.Status != load.StatusInterrupted || len(memories[i].Visits) == 0 || len(memories[i].Visits) == 8 {
			t.Errorf("endpoint %d: %+v after %d visits", i, o, len(memories[i].Visits))
		}
	}
}
