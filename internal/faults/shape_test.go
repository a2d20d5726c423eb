package faults_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/sweep"
)

// pace answers with n tokens, one each 100 ms, the first after 100 ms; the answer
// ends with its last token. A stream of such answers gets exactly 10 tokens/s.
func pace(n int) answer {
	return answer{serve: func(w *writer) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range n {
			if !w.until(time.Duration(i+1) * 100 * time.Millisecond) {
				return
			}
			w.send(tokenFrame)
		}
		w.send(strings.Replace(endFrames, `"completion_tokens":8,"total_tokens":15`, fmt.Sprintf(`"completion_tokens":%d,"total_tokens":%d`, n, n+7), 1))
	}}
}

// held is one visit of a level with windows of 2 s.
func held(n, windows int) plan {
	return plan{grid: sweep.Grid{Levels: []int{n}, Measurements: windows, Passes: 1, Seed: 1}, window: 2 * time.Second, warmup: 5, limit: 0.05}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s is %.4g, want %.4g ± %g %%", what, got, want, 100*tolerance)
	}
}

// The windows of a level lie behind its ramp: 20 s in which all streams are busy, at
// the rate of a full level, also when the server lets new streams in one by one over
// 10 s (NVIDIA-NeMo/Guardrails#2321, vllm-project/guidellm#93).
func TestTheRampIsNotMeasured(t *testing.T) {
	const n = 32
	for name, c := range map[string]struct {
		ramp    time.Duration
		tokens  int
		starved bool
	}{
		"all at once, short answers": {0, 8, false},
		"all at once, long answers":  {0, 100, false},
		"over 10 s, long answers":    {10 * time.Second, 100, false},
		"over 10 s, short answers":   {10 * time.Second, 8, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := held(n, 10)
			p.patience = time.Minute
			r := measure(t, &p, func(*plan) func(int) answer {
				began := time.Now()
				return func(i int) answer {
					if i >= n {
						return pace(c.tokens)
					}
					return admitted(pace(c.tokens), began, c.ramp*time.Duration(i)/n)
				}
			})
			r.checkAccount(t)
			v, s := r.data.Visits[0], r.step(t, n)
			span, _ := v.Span()
			if span.To-span.From != 20*time.Second || len(v.Windows) != 10 || v.Extended {
				t.Errorf("measured %v in %d windows, lengthened %v", span.To-span.From, len(v.Windows), v.Extended)
			}
			// Streams that the server lets wait while others end twice as many requests as
			// there are streams are no longer waited for, and that is said.
			said := slices.ContainsFunc(s.Warnings, func(w load.Warning) bool { return w.Code == load.WarnStarved })
			if early := span.From < c.ramp*(n-1)/n; early != c.starved || said != early || (v.Starved > 0) != early {
				t.Errorf("measured from %v on, in a ramp of %v; %d streams starved, said %v", span.From, c.ramp, v.Starved, said)
			}
			if !s.Valid || s.InFlight.Mean < 0.999*n {
				t.Errorf("valid %v (%s), in flight %+v", s.Valid, s.InvalidReason, s.InFlight)
			}
			near(t, "the throughput", s.Throughput.V.Value, 10*n, 0.02)
		})
	}
}

// admitted begins an answer after a time since began.
func admitted(a answer, began time.Time, after time.Duration) answer {
	return answer{serve: func(w *writer) {
		if w.until(time.Until(began.Add(after))) {
			w.began = time.Now()
			a.serve(w)
		}
	}}
}

// Requests that run when the windows end count with what they got
// (vllm-project/guidellm#529).
func TestTheLastRequestsCount(t *testing.T) {
	p := held(4, 5)
	r := measure(t, &p, func(*plan) func(int) answer { return share(1, pace(40)) })
	r.checkAccount(t)
	near(t, "the throughput", r.step(t, 4).Throughput.V.Value, 40, 0.02)
}

// Four streams of answers that take a second are four requests a second, by
// Little's law (kubernetes-sigs/inference-perf#711).
func TestLittlesLawHolds(t *testing.T) {
	p := held(4, 20)
	r := measure(t, &p, func(*plan) func(int) answer { return share(1, pace(10)) })
	r.checkAccount(t)
	s := r.step(t, 4)
	near(t, "requests per second", s.Requests, 4, 0.05)
	near(t, "mean E2E", s.E2E.Mean, 1, 0.001)
	near(t, "X·R/N", s.LittlesLaw.V, 1, 0.05)
	if !s.Valid || s.Started != s.Finished+s.Failed+s.InFlightAtEnd || s.DispatchDelay.P99 > 0.001 {
		t.Errorf("valid %v (%s): %d started, %d finished, dispatch delay %v", s.Valid, s.InvalidReason, s.Started, s.Finished, s.DispatchDelay)
	}
}
