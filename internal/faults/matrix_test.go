package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// fault is one row of the matrix.
type fault struct {
	name    string
	answers func(n int) func(int) answer // for a level of n streams
	before  func(*endpoint)
	during  func(*endpoint)    // runs beside the sweep
	limit   float64            // 0 = 5 %
	causes  []load.Cause       // all of them, and no other
	ended   func(n int) string // how the visit ends
	valid   func(n int) bool
	rate    func(n int) (lo, hi float64)
	backoff time.Duration // per failure, at least
	longest time.Duration // of the sweep; 0 = its windows and a half
}

func always(s string) func(int) string { return func(int) string { return s } }

func never(int) bool { return false }

func everyTime(int) bool { return true }

func within(lo, hi float64) func(int) (float64, float64) {
	return func(int) (float64, float64) { return lo, hi }
}

// all answers every request alike.
func all(a answer) func(int) func(int) answer {
	return func(int) func(int) answer { return share(1, a) }
}

func some(of float64, a answer) func(int) func(int) answer {
	return func(int) func(int) answer { return share(of, a) }
}

// dead is a row whose endpoint does nothing else than fail.
func dead(name string, a answer, cause load.Cause) fault {
	return fault{
		name: name, answers: all(a), causes: []load.Cause{cause}, ended: always(load.EndedFailing), valid: never,
		rate: within(1, 1), backoff: 100 * time.Millisecond, longest: 25 * time.Second,
	}
}

// seldom is a row in which one request in a hundred fails: too few to matter.
func seldom(name string, a answer, cause load.Cause) fault {
	return fault{
		name: name, answers: some(0.01, a), causes: []load.Cause{cause}, ended: always(""), valid: everyTime,
		rate: within(0, 0.02),
	}
}

func throttled(f fault) fault {
	f.ended = always(load.EndedThrottled)
	return f
}

func slowly(f fault, d time.Duration) fault {
	f.backoff = d
	f.longest += 10 * d
	return f
}

func single(n int) bool { return n == 1 }

// few is a range for the error rate that is low for a single stream, which sends
// hundreds of requests before and after the fault.
func few(n int, lo, hi float64) (float64, float64) {
	if single(n) {
		return 0.005, 0.05
	}
	return lo, hi
}

func matrix() []fault {
	rows := []fault{
		{
			name: "refused", answers: all(good), before: func(e *endpoint) { e.down.Store(true) }, causes: []load.Cause{load.CauseConnect},
			ended: always(load.EndedFailing), valid: never, rate: within(1, 1), backoff: 100 * time.Millisecond, longest: 10 * time.Second,
		},
		dead("stall before the first token", stallsFirst, load.CauseTimeoutFirstToken),
		dead("stall after the first token", stallsLater, load.CauseTimeoutIdle),
		dead("truncated", truncated, load.CauseTruncated),
		dead("malformed", malformed, load.CauseMalformed),
		dead("wrong content type", loginPage, load.CauseNotAStream),
		dead("500 always", status(500, 0), "http_500"),
		throttled(dead("429 always", status(429, 0), "http_429")),
		slowly(throttled(dead("429 always with Retry-After", status(429, 2), "http_429")), 2*time.Second),
		throttled(dead("503 with Retry-After", status(503, 1), "http_503")),
		seldom("stall before the first token, seldom", stallsFirst, load.CauseTimeoutFirstToken),
		seldom("stall after the first token, seldom", stallsLater, load.CauseTimeoutIdle),
		seldom("truncated, seldom", truncated, load.CauseTruncated),
		seldom("malformed, seldom", malformed, load.CauseMalformed),
		seldom("wrong content type, seldom", loginPage, load.CauseNotAStream),
		{
			name: "500 at 5 %", answers: some(0.05, status(500, 0)), limit: 0.10, causes: []load.Cause{"http_500"},
			ended: always(""), valid: everyTime, rate: within(0.02, 0.08),
		},
		{
			name: "500 at 30 %", answers: some(0.30, status(500, 0)), causes: []load.Cause{"http_500"},
			ended: always(load.EndedFailing), valid: never, rate: within(0.1, 0.9),
		},
	}
	rows = append(rows, resetRows()...)
	rows = append(rows, burstRows()...)
	return rows
}

// resetRows break connections in mid-stream, or take the server away and bring it
// back.
func resetRows() []fault {
	broken := dead("reset in mid-stream", breaks, load.CauseReset)
	broken.before = func(e *endpoint) { e.resets.Store(true) }
	rare := seldom("reset in mid-stream, seldom", breaks, load.CauseReset)
	rare.before = broken.before
	outage := func(d time.Duration) func(*endpoint) {
		return func(e *endpoint) {
			time.Sleep(2630 * time.Millisecond)
			e.die()
			time.Sleep(d)
			e.revive()
		}
	}
	return []fault{
		broken, rare,
		{
			// One stream loses two requests of two hundred; the others find that half
			// of them are waiting.
			name: "gone for 200 ms", answers: all(good), during: outage(200 * time.Millisecond), causes: []load.Cause{load.CauseConnect, load.CauseReset},
			ended: func(n int) string {
				if single(n) {
					return ""
				}
				return load.EndedFailing
			},
			valid: single, rate: func(n int) (float64, float64) { return few(n, 0.02, 0.5) },
		},
		{
			name: "gone for 4 s", answers: all(good), during: outage(4 * time.Second), causes: []load.Cause{load.CauseConnect, load.CauseReset},
			ended: always(load.EndedFailing), valid: never, rate: within(0.02, 0.9),
		},
	}
}

// burstRows throttle once every stream has had some answers, for a while.
func burstRows() []fault {
	row := func(name string, retryAfter int) fault {
		return fault{
			name: name,
			answers: func(n int) func(int) answer {
				return burst(6*n, 3*n, status(429, retryAfter))
			},
			causes: []load.Cause{"http_429"}, valid: single,
			rate: func(n int) (float64, float64) { return few(n, 0.03, 0.9) },
			ended: func(n int) string {
				if single(n) { // three failures are too few to judge by
					return ""
				}
				return load.EndedThrottled
			},
			backoff: max(100*time.Millisecond, time.Duration(retryAfter)*time.Second),
		}
	}
	return []fault{row("429 burst", 0), row("429 burst with Retry-After", 1)}
}

func TestFaults(t *testing.T) {
	for _, f := range matrix() {
		t.Run(f.name, func(t *testing.T) {
			for _, n := range []int{1, 16, 256} {
				if testing.Short() && n == 256 {
					continue
				}
				t.Run(fmt.Sprint(n), func(t *testing.T) { f.check(t, n) })
			}
		})
	}
}

func (f fault) check(t *testing.T, n int) {
	p := one(n)
	p.before, p.meanwhile = f.before, f.during
	if f.limit > 0 {
		p.limit = f.limit
	}
	r := measure(t, &p, func(*plan) func(int) answer { return f.answers(n) })
	r.checkAccount(t)
	r.checkCalm(t, n)
	v, s := r.data.Visits[0], r.step(t, n)
	if v.Ended != f.ended(n) {
		t.Errorf("the visit ended as %q, want %q", v.Ended, f.ended(n))
	}
	if v.Ended != "" && (r.data.Run.Status != load.StatusStopped || !strings.Contains(r.data.Run.StopReason, fmt.Sprintf("%d streams", n))) {
		t.Errorf("status %s, reason %q", r.data.Run.Status, r.data.Run.StopReason)
	}
	if why := analysis.Unusable(r.data, r.curve); (why == "") != f.valid(n) { // exit code 0 or 4
		t.Errorf("the sweep is said to be unusable: %q", why)
	}
	f.checkStep(t, s, n)
	f.checkSamples(t, r, p)
}

// checkSamples wants every bad answer as a failure with its cause, and no other.
func (f fault) checkSamples(t *testing.T, r result, p plan) {
	t.Helper()
	longest := f.longest
	if longest == 0 {
		longest = 6 * p.window * 3 / 2
	}
	failed, canceled := 0, 0
	var end time.Duration
	for _, m := range r.data.Samples {
		end = max(end, m.End)
		switch {
		case m.Cause == load.CauseCanceled:
			canceled++
		case m.Failed():
			failed++
			if !slices.Contains(f.causes, m.Cause) {
				t.Fatalf("a request failed with %s: %s", m.Cause, m.Error)
			}
		}
	}
	if f.during == nil && r.bad > 0 && (failed > r.bad || failed+canceled < r.bad) || failed == 0 {
		t.Errorf("%d requests failed and %d were stopped, where %d answers were bad", failed, canceled, r.bad)
	}
	if end > longest {
		t.Errorf("the sweep took %v, want at most %v", end, longest)
	}
	if lo, _ := f.rate(1); lo == 1 && len(r.data.Visits[0].Windows) > 0 {
		t.Error("a level of a dead endpoint was warm enough to be measured")
	}
	if v := r.data.Visits[0]; v.Backoff < time.Duration(failed-p.grid.Levels[0])*f.backoff/4 {
		t.Errorf("%d failures and a back-off of %v", failed, v.Backoff)
	}
}

func (f fault) checkStep(t *testing.T, s load.Step, n int) {
	t.Helper()
	t.Logf("valid %v (%s), %d started, %d finished, %v failed, back-off %v, %v in flight",
		s.Valid, s.InvalidReason, s.Started, s.Finished, s.Failures, s.Backoff, s.InFlight)
	if s.Valid != f.valid(n) {
		t.Errorf("valid %v: %s", s.Valid, s.InvalidReason)
	}
	if lo, hi := f.rate(n); s.ErrorRate.V < lo || s.ErrorRate.V > hi {
		t.Errorf("error rate %.3f, want %g to %g", s.ErrorRate.V, lo, hi)
	}
	if s.Failed == 0 {
		return
	}
	said := 0
	for _, c := range f.causes {
		if len(f.causes) == 1 && s.Failures[string(c)] != s.Failed {
			t.Errorf("failures %v of %d, want all of them %s", s.Failures, s.Failed, c)
		}
		if strings.Contains(s.InvalidReason, string(c)) {
			said++
		}
	}
	if !s.Valid && said == 0 {
		t.Errorf("the reason %q names no cause", s.InvalidReason)
	}
}
