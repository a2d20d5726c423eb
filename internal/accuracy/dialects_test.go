package accuracy_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
)

// TestEveryDialectEqualsTheEndpointsLog sweeps in every dialect, as the chat dialect
// is swept above. Where usage cannot grow with the chunks, uneven ones have n/m tokens
// each, which no log can equal.
func TestEveryDialectEqualsTheEndpointsLog(t *testing.T) {
	for _, dialect := range client.Dialects()[1:] {
		for _, v := range variants {
			cfg := small().Endpoint(1)
			v.with(&cfg)
			if cfg.UsageInChunks && dialect != client.Completions {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", dialect, v.name), func(t *testing.T) {
				d, log, epoch := overPipe(t, small(), cfg, func(c *client.Config) { c.Dialect = dialect })
				checkRequests(t, 1, d, log, epoch)
				checkSteps(t, 1, d, log, epoch)
			})
		}
	}
}

// TestWholeAnswersEqualTheEndpointsLog sweeps in every dialect without streaming: the
// figures are those of answers whose tokens are spread over their lives.
func TestWholeAnswersEqualTheEndpointsLog(t *testing.T) {
	for _, dialect := range client.Dialects() {
		for _, hidden := range []int{0, 5} {
			t.Run(fmt.Sprintf("%s, %d hidden tokens", dialect, hidden), func(t *testing.T) {
				s := small()
				cfg := s.Endpoint(1)
				cfg.HiddenTokens = hidden
				d, log, epoch := overPipe(t, s, cfg, func(c *client.Config) { c.Dialect, c.NoStream = dialect, true })
				finished := checkWhole(t, d, log, epoch, hidden)
				checkSpread(t, d, finished)
			})
		}
	}
}

// never is the end of a request that we stopped.
const never = time.Duration(math.MaxInt64)

// checkWhole compares request by request, and returns the finished ones.
func checkWhole(t *testing.T, d analysis.Data, log []*sim.Entry, epoch time.Time, hidden int) (finished []load.Sample) {
	t.Helper()
	samples := slices.Clone(d.Samples)
	byTime := func(a, b load.Sample) int { return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.End, b.End)) }
	slices.SortFunc(samples, byTime)
	var served []load.Sample // what the log says
	for _, e := range log {
		r := load.Sample{Sent: e.Arrived.Sub(epoch), OutputTokens: e.HiddenTokens}
		for _, m := range e.Events {
			r.OutputTokens += m.Tokens
		}
		r.End = e.Ended.Sub(epoch)
		if e.Ended.IsZero() {
			r.End = never
		}
		served = append(served, r)
	}
	slices.SortFunc(served, byTime)
	if len(samples) != len(served) {
		t.Fatalf("%d requests served, %d sampled", len(served), len(samples))
	}
	for i, r := range served {
		s := &samples[i]
		if s.Sent != r.Sent || s.Failed() != (r.End == never) {
			t.Fatalf("served %+v, sampled %+v", r, s)
		}
		if s.Failed() {
			continue
		}
		finished = append(finished, *s)
		if s.End != r.End || s.OutputTokens != r.OutputTokens || s.HiddenTokens != hidden || s.TokenSource != load.SourceServer || s.TTFT().OK || s.TPOT().OK {
			t.Fatalf("served %+v, sampled %+v", r, s)
		}
	}
	if len(finished) < 40 {
		t.Errorf("only %d requests finished", len(finished))
	}
	return finished
}

// checkSpread recomputes the throughput of the windows that no stopped request reaches
// into, and E2E.
func checkSpread(t *testing.T, d analysis.Data, finished []load.Sample) {
	t.Helper()
	stopped := never
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Failed() {
			stopped = min(stopped, s.Sent)
		}
	}
	want, ends := map[int][]float64{}, map[int][]float64{}
	cut := map[int]bool{}
	for _, v := range d.Visits {
		n := v.Level.Concurrency
		span, _ := v.Span()
		for _, w := range v.Windows {
			cut[n] = cut[n] || w.To > stopped
			tokens := 0.0
			for i := range finished {
				s := &finished[i]
				share := (min(s.End, w.To) - max(s.Sent, w.From)).Seconds() / s.E2E().Seconds()
				tokens += float64(s.OutputTokens) * max(0, share)
			}
			want[n] = append(want[n], tokens/w.Seconds())
		}
		for i := range finished {
			if span.Holds(finished[i].End) {
				ends[n] = append(ends[n], finished[i].E2E().Seconds())
			}
		}
	}
	checked := 0
	for _, s := range analysis.Summarize(d) {
		e2e := ends[s.Concurrency]
		slices.Sort(e2e)
		if s.E2E.Count != len(e2e) || s.E2E.P50 != quantile(e2e, 0.5) {
			t.Errorf("N = %d: E2E %+v, want %d with median %v", s.Concurrency, s.E2E, len(e2e), quantile(e2e, 0.5))
		}
		if !cut[s.Concurrency] {
			checked++
			same(t, fmt.Sprintf("N = %d: windows", s.Concurrency), s.Measurements, want[s.Concurrency])
		}
	}
	if checked < 3 {
		t.Errorf("the windows of %d levels could be compared", checked)
	}
}
