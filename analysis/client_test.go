package analysis

import (
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// healthy is four streams of 100 ms answers, ten tokens 10 ms apart, that the kernel
// stamped and that were read within 16 µs.
func healthy() Data {
	d := Data{
		Run:     load.Run{Settings: load.Settings{MaxErrorRate: 0.05}},
		Visits:  []load.Visit{visit(0, 4, 0, 1000, 1000, 60)},
		Samples: backToBack(4, 10, 100, 62_000),
	}
	d.Visits[0].Client = load.Process{CPU: 0.2, Cores: 2, LagP50: 1e-4, LagP99: 9e-4, SchedP50: 5e-6, SchedP99: 2e-4}
	for i := range d.Samples {
		s := &d.Samples[i]
		s.Clock, s.Dispatch = load.ClockKernel, load.Some(time.Millisecond)
		s.Lag = load.Lag{Max: 12 * time.Microsecond, Counts: []int32{5, int32(len(s.Chunks) - 5)}}
		if len(s.Chunks) < 5 {
			s.Lag.Counts = []int32{int32(len(s.Chunks))}
		}
	}
	return d
}

// lagged makes one chunk of a request late, so that its lag falls into a bucket.
func lagged(s *load.Sample, bucket int) {
	counts := make([]int32, bucket+1)
	counts[0], counts[bucket] = int32(len(s.Chunks)-1), 1
	s.Lag = load.Lag{Max: load.LagEdge(bucket), Counts: counts}
}

// Every rule by itself: what it takes for a step to be bound, and what is no reason.
func TestClientRules(t *testing.T) {
	process := func(change func(p *load.Process)) func(*Data) {
		return func(d *Data) { change(&d.Visits[0].Client) }
	}
	every := func(change func(s *load.Sample)) func(*Data) {
		return func(d *Data) {
			for i := range d.Samples {
				change(&d.Samples[i])
			}
		}
	}
	both := func(a, b func(*Data)) func(*Data) { return func(d *Data) { a(d); b(d) } }
	user := every(func(s *load.Sample) { s.Clock, s.Lag = load.ClockUser, load.Lag{} })
	// 13 is 32.8 to 65.5 ms, 8 is 1.02 to 2.05 ms, 12 16.4 to 32.8 ms
	tests := []struct {
		name   string
		change func(d *Data)
		reason string // "" = not bound
	}{
		{"healthy", func(*Data) {}, ""},
		{"CPU just below", process(func(p *load.Process) { p.CPU = 0.899 }), ""},
		{"CPU used up", process(func(p *load.Process) { p.CPU, p.Cores = 0.9, 3 }), "it used 90 % of the 3 cores that it may use"},

		{"the kernel's stamps do not care for late reads", every(func(s *load.Sample) { lagged(s, 13) }), ""},
		{"nor for a late scheduler, as long as the median is well", process(func(p *load.Process) { p.SchedP99, p.LagP99 = 0.05, 0.05 }), ""},
		{"chunks that come together share a stamp rightly", every(func(s *load.Sample) { s.Coalesced = 5 }), ""},
		{"chunks that share a stamp since reads were late", every(func(s *load.Sample) { s.Coalesced = 1; lagged(s, 12) }),
			"10.0 % of the tokens share the stamp of a later one, since reads were late (p99 31.1 ms, between tokens 10 ms)"},
		{"chunks that come together in some requests, late reads in others", every(func(s *load.Sample) {
			if s.Coalesced = 1; s.ID%2 == 0 {
				s.Coalesced = 0
				lagged(s, 12)
			}
		}), ""},
		{"not so late that two tokens could meet", every(func(s *load.Sample) { s.Coalesced = 1; lagged(s, 8) }), ""},
		{"too few to move a p99", both(every(func(s *load.Sample) { lagged(s, 12) }), every(func(s *load.Sample) {
			if s.ID%12 == 0 {
				s.Coalesced = 1
			}
		})), ""},

		{"our own stamps, on time", user, ""},
		{"our own stamps, the scheduler late", both(user, process(func(p *load.Process) { p.SchedP99 = 0.0006 })),
			"it woke up 0.6 ms late (p99), 6 % of the 10 ms between tokens"},
		{"our own stamps, timers late by their grain", both(user, process(func(p *load.Process) { p.LagP99 = 0.0014 })), ""},
		{"our own stamps, timers late", both(user, process(func(p *load.Process) { p.LagP99 = 0.0016 })),
			"it woke up 0.6 ms late (p99), 6 % of the 10 ms between tokens"},
		{"the kernel stamped most", both(every(func(s *load.Sample) {
			if s.ID%50 == 0 {
				s.Lag = load.Lag{}
			}
		}), process(func(p *load.Process) { p.SchedP99 = 0.0006 })), "arrivals are stamped when this process reads them"},

		{"requests leave late", process(func(p *load.Process) { p.SchedP50 = 0.0011 }),
			"it woke up 1.1 ms late (median), so requests left late and TTFT (10 ms) is too long by 11 %"},
		{"requests leave late by their timers", process(func(p *load.Process) { p.LagP50 = 0.0021 }), "it woke up 1.1 ms late (median)"},
		{"less than a millisecond is not judged", process(func(p *load.Process) { p.SchedP50 = 0.0009 }), ""},
		{"against a long TTFT it does not matter", both(process(func(p *load.Process) { p.SchedP50 = 0.002 }), every(func(s *load.Sample) { s.Sent -= 90 * ms })), ""},

		{"streams stand empty", every(func(s *load.Sample) { s.Dispatch = load.Some(6 * ms) }),
			"streams stood empty between two requests for 6.0 % of the time (6 ms each time, median)"},
		{"streams wait for the endpoint", every(func(s *load.Sample) { s.Dispatch, s.Drain = load.Some(6*ms), 5900*time.Microsecond }), ""},
		{"streams wait for us to see that the endpoint is done", both(every(func(s *load.Sample) { s.Dispatch, s.Drain = load.Some(6*ms), 5900*time.Microsecond }),
			process(func(p *load.Process) { p.SchedP50 = 0.009 })), "streams stood empty between two requests for 6.0 %"},

		{"few failures of our own", every(func(s *load.Sample) {
			if s.ID%25 == 0 {
				s.Cause, s.Error = load.CauseClient, "no memory"
			}
		}), ""},
		{"few failures of our own on which the level ended", both(every(func(s *load.Sample) {
			if s.ID%25 == 0 {
				s.Cause, s.Error = load.CauseClient, "no memory"
			}
		}), func(d *Data) { d.Visits[0].Ended = load.EndedFailing }), "requests failed on this machine (no memory)"},
		{"failures of our own", every(func(s *load.Sample) {
			if s.ID%5 == 0 {
				s.Cause, s.Error = load.CauseClient, "too many open files"
			}
		}), "requests failed on this machine (too many open files)"},
		{"no port left", every(func(s *load.Sample) {
			if s.ID%5 == 0 {
				s.Cause, s.Error = load.CauseClient, "dial tcp 127.0.0.1:1: connect: cannot assign requested address"
			}
		}), "no local port is left for a connection to that address: do without --new-connection"},
		{"two at once", process(func(p *load.Process) { p.CPU, p.SchedP50 = 1, 0.002 }), "cores that it may use; it woke up"},
		{"no token of which to know the time", both(user, every(func(s *load.Sample) { s.Chunks = s.Chunks[:min(1, len(s.Chunks))] })), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := healthy()
			test.change(&d)
			st := one(t, d)
			c := st.Client.V
			if !st.Client.OK || c.Bound != (test.reason != "") || c.Bound != (c.Reason != "") || !strings.Contains(c.Reason, test.reason) {
				t.Fatalf("bound %v, %q, want %q", c.Bound, c.Reason, test.reason)
			}
			if c.Bound && (st.Valid || !strings.Contains(st.InvalidReason, "the client was at its limit: "+c.Reason)) {
				t.Errorf("valid %v, %q", st.Valid, st.InvalidReason)
			}
			if c.Bound != hasWarning(st.Warnings, load.WarnClientBound) {
				t.Errorf("bound %v with %+v", c.Bound, st.Warnings)
			}
		})
	}
}

// What was measured per visit counts as in the worst, what the requests tell is pooled.
func TestClientHealthOfAStep(t *testing.T) {
	d := healthy()
	second := visit(1, 4, 1, 61_000, 1000, 1)
	second.Client = load.Process{CPU: 0.5, Cores: 2, LagP50: 0.002, LagP99: 0.1, SchedP50: 1e-3, GCPause: 0.25}
	d.Visits[0].Client.GCPause = 0.5
	d.Visits = append(d.Visits, second)
	h := one(t, d).Client.V
	if h.CPU != 0.5 || h.Cores != 2 || h.GCPause != 0.75 || h.WakeP50 != 0.001 || h.WakeP99 != 0.099 {
		t.Errorf("%+v", h)
	}
	if h.LagClock != load.ClockKernel || math.Abs(h.LagP50-8e-6) > 1e-8 || math.Abs(h.LagP99-11.92e-6) > 1e-8 || h.Coalesced != load.Some(0.0) || math.Abs(h.Refill.V-0.01) > 2e-4 {
		t.Errorf("%+v", h)
	}
	for i := range d.Samples {
		d.Samples[i].Lag = load.Lag{}
	}
	if h := one(t, d).Client.V; h.LagClock != load.ClockUser || h.LagP50 != h.WakeP50 || h.LagP99 != h.WakeP99 {
		t.Errorf("without stamps of the kernel: %+v", h)
	}
	d.Visits[0].Client, d.Visits[1].Client = load.Process{}, load.Process{}
	if c := one(t, d).Client; c.OK {
		t.Errorf("nobody looked: %+v", c)
	}
}

// Quantiles and shares of a histogram, values spread over their bucket.
func TestLags(t *testing.T) {
	var l lags
	if l.quantile(0.5) != 0 || l.above(0) != 0 {
		t.Error("an empty histogram has values")
	}
	l.add(&load.Lag{Max: 20 * time.Microsecond, Counts: []int32{2, 0, 2}}, 1)
	l.add(&load.Lag{Max: 24 * time.Microsecond, Counts: []int32{0, 0, 8}}, 0.5)
	for p, want := range map[float64]float64{0.125: 4e-6, 0.25: 8e-6, 0.625: 20e-6, 1: 24e-6} {
		near(t, "quantile", l.quantile(p), want, 1e-9)
	}
	for x, want := range map[float64]float64{0: 1, 4e-6: 0.875, 10e-6: 0.75, 20e-6: 0.375, 24e-6: 0, 1: 0} {
		if got := l.above(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("above %g: %g, want %g", x, got, want)
		}
	}
	// A pair of which one lies in each half: the share above is one less the share below.
	for p := 0.05; p < 1; p += 0.05 {
		near(t, "above the quantile", l.above(l.quantile(p)), 1-p, 1e-9)
	}
}
