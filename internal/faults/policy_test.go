package faults_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report"
	"kneesweep/sweep"
)

// grid is a sweep of several levels, up and down.
func grid(levels ...int) plan {
	return plan{grid: sweep.Grid{Levels: levels, Measurements: 6, Passes: 2, Seed: 1}, window: 2 * time.Second, warmup: 5, limit: 0.05}
}

// byLevel answers by the level that the sweep is at.
func byLevel(p *plan, choose func(level int) func(n int) answer) func(n int) answer {
	var level atomic.Int64
	p.watch = func(e sweep.Event) {
		if e.Visit != nil {
			level.Store(int64(e.Visit.Level.Concurrency))
		}
	}
	return func(n int) answer { return choose(int(level.Load()))(n) }
}

// visited lists the levels in the order of the visits.
func (r result) visited() []int {
	var order []int
	for _, v := range r.data.Visits {
		order = append(order, v.Level.Concurrency)
	}
	return order
}

// From 16 streams on three requests in ten fail: that step ends early, higher ones
// are skipped, lower ones are kept and fitted, and it is said (vllm-project/guidellm#105).
func TestStopsAtTheFirstLevelThatFails(t *testing.T) {
	p := grid(1, 2, 4, 8, 16, 32, 64)
	r := measure(t, &p, func(p *plan) func(int) answer {
		return byLevel(p, func(level int) func(int) answer {
			if level >= 16 {
				return share(0.30, status(500, 0))
			}
			return share(0, good)
		})
	})
	r.checkAccount(t)
	if got, want := r.visited(), []int{1, 2, 4, 8, 16, 8, 4, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("visited %v, want %v", got, want)
	}
	if run := r.curve.Run; run.Status != load.StatusStopped || !strings.Contains(run.StopReason, "16 streams") {
		t.Errorf("status %s, reason %q", run.Status, run.StopReason)
	}
	for _, s := range r.curve.Steps {
		if s.Valid != (s.Concurrency < 16) || s.Valid && len(s.Measurements) != 6 {
			t.Errorf("N = %d: valid %v (%s), %d windows", s.Concurrency, s.Valid, s.InvalidReason, len(s.Measurements))
		}
	}
	broken := r.data.Visits[4]
	if next := r.data.Visits[5]; broken.Ended != load.EndedFailing || len(broken.Windows) == 3 || next.Started-broken.Started > 4*time.Second {
		t.Errorf("the visit %+v did not end early: the next one began at %v", broken, next.Started)
	}
	if k := r.curve.Knee; k.Verdict == knee.Found || k.Verdict == knee.TooFewLevels || k.LowerBound.OK && k.LowerBound.V > 8 {
		t.Errorf("verdict %s, lower bound %v", k.Verdict, k.LowerBound)
	}
	checkSaid(t, r, "16", "http_500")
}

// checkSaid wants a text in the table and in the page, the failures by cause
// included, and a picture that can be drawn.
func checkSaid(t *testing.T, r result, level, cause string) {
	t.Helper()
	var table, page, picture bytes.Buffer
	if err := report.Table(&table, r.curve); err != nil {
		t.Error(err)
	}
	if err := report.Markdown(&page, r.curve, "curve.png"); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{"table": table.String(), "page": page.String()} {
		text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), `\`, "")
		for _, want := range []string{"The sweep stopped before its end: ", level + " streams", cause} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not say %q:\n%s", name, want, text)
			}
		}
	}
	checkFailureTable(t, r, table.String(), page.String())
	if testing.Short() { // drawing is slow under the race detector
		return
	}
	figure, err := plots.Capacity(r.curve)
	if err != nil {
		t.Fatal(err)
	}
	if err := figure.Write(&picture, "png"); err != nil || picture.Len() == 0 {
		t.Errorf("the picture: %v", err)
	}
}

// checkFailureTable wants a count for every cause of every level.
func checkFailureTable(t *testing.T, r result, table, page string) {
	t.Helper()
	for _, s := range r.curve.Steps {
		for cause, n := range s.Failures {
			row := fmt.Sprintf("| %d | %s | %d | ", s.Concurrency, strings.ReplaceAll(cause, "_", `\_`), n)
			if !strings.Contains(page, row) {
				t.Errorf("no %q in the page", row)
			}
			if line := fmt.Sprintf("%d %s", n, cause); !strings.Contains(table, line) {
				t.Errorf("no %q in the table", line)
			}
		}
	}
}

// A server that fails always, one that dies when the third of four levels begins, and
// one that dies within a window: nothing of them is a point at 0 tokens/s
// (SeraphimSerapis/tool-eval-bench#152).
func TestAServerThatDies(t *testing.T) {
	fails := func(from int) func(*plan) func(int) answer {
		return func(p *plan) func(int) answer {
			dead := false
			return byLevel(p, func(level int) func(int) answer {
				if dead = dead || level >= from; dead {
					return share(1, status(500, 0))
				}
				return share(0, good)
			})
		}
	}
	for _, c := range []struct {
		name    string
		answers func(*plan) func(int) answer
		visited []int
		valid   []int
		said    string // the level that the reason names
		cause   string
	}{
		{"at once", fails(1), []int{1}, nil, "1", "http_500"},
		{"after two levels", fails(4), []int{1, 2, 4, 2}, []int{1}, "2", "http_500"},
		{"in a window of the third", func(p *plan) func(int) answer {
			p.meanwhile = func(e *endpoint) {
				time.Sleep(18300 * time.Millisecond)
				e.die()
			}
			return share(0, good)
		}, []int{1, 2, 4, 2}, []int{1}, "2", "reset"},
		{"silent from then on", func(p *plan) func(int) answer {
			began := time.Now()
			return func(int) answer {
				if time.Since(began) > 18300*time.Millisecond {
					return stallsFirst
				}
				return good
			}
			// Timeouts of a level come in long after it: how far down the sweep gets
			// hangs on which of two events of the same moment comes first.
		}, nil, nil, "", "timeout_first_token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := grid(1, 2, 4, 8)
			r := measure(t, &p, c.answers)
			r.checkAccount(t)
			r.checkCalm(t, 8)
			if got := r.visited(); c.visited != nil && !slices.Equal(got, c.visited) {
				t.Errorf("visited %v, want %v", got, c.visited)
			}
			var valid []int
			for _, s := range r.curve.Steps {
				if s.Valid {
					valid = append(valid, s.Concurrency)
				}
				if s.Throughput.OK && s.Throughput.V.Value <= 0 {
					t.Errorf("N = %d is a point at %v tokens/s", s.Concurrency, s.Throughput.V.Value)
				}
			}
			if c.visited != nil && !slices.Equal(valid, c.valid) {
				t.Errorf("levels %v are valid, want %v", valid, c.valid)
			}
			if r.curve.Run.Status != load.StatusStopped || r.curve.Knee.Concurrency.OK || r.curve.Recommended.Concurrency.OK {
				t.Errorf("status %s, knee %v, recommended %v", r.curve.Run.Status, r.curve.Knee.Concurrency, r.curve.Recommended.Concurrency)
			}
			checkSaid(t, r, c.said, c.cause)
		})
	}
}

// Windows too short for five failures do not hide a dead endpoint: the next level is
// not tried.
func TestADeadEndpointInShortWindows(t *testing.T) {
	p := grid(2, 3, 4, 8)
	p.window, p.warmup = 50*time.Millisecond, 2
	r := measure(t, &p, func(*plan) func(int) answer { return share(1, status(500, 0)) })
	r.checkAccount(t)
	if got := r.visited(); !slices.Equal(got, []int{2}) || r.data.Visits[0].Ended != load.EndedFailing {
		t.Errorf("visited %v, the first ended as %q", got, r.data.Visits[0].Ended)
	}
}

// Retries are bounded by the same calm, and their failures count once.
func TestRetriesAreNoStorm(t *testing.T) {
	for name, dead := range map[string]answer{"500": status(500, 0), "429": status(429, 0), "hangs up": bad((*writer).hangUp)} {
		t.Run(name, func(t *testing.T) {
			p := one(16)
			p.retries = 5
			r := measure(t, &p, func(*plan) func(int) answer { return share(1, dead) })
			r.checkAccount(t)
			r.checkCalm(t, 16)
			if s := r.step(t, 16); s.Valid || s.Failed == 0 || s.Failed > 100 || s.ErrorRate.V != 1 {
				t.Errorf("valid %v, %d failed of %d", s.Valid, s.Failed, s.Started)
			}
		})
	}
}
