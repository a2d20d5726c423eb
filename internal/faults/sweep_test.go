package faults_test

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/report"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// plan is a sweep to be made of an endpoint.
type plan struct {
	grid          sweep.Grid
	window        time.Duration
	warmup        int
	limit         float64 // on the error rate
	newConnection bool
	retries       int
	patience      time.Duration // with the first token; 0 = 2 s
	before        func(*endpoint)
	meanwhile     func(*endpoint)     // runs beside the sweep
	watch         func(e sweep.Event) // sees every event
}

// one is a single visit of a level, of four windows of a second; of 20 s for a
// single stream, so that its failures can be few of many.
func one(n int) plan {
	p := plan{grid: sweep.Grid{Levels: []int{n}, Measurements: 4, Passes: 1}, window: time.Second, warmup: 5, limit: 0.05}
	if n == 1 {
		p.window = 20 * time.Second
	}
	return p
}

// result is what a sweep left behind.
type result struct {
	data     analysis.Data
	curve    analysis.Curve
	epoch    time.Time
	attempts []time.Time
	opened   int
	bad      int // answers that were to fail
	peak     int
	peakAt   time.Duration
}

// measure runs a sweep in virtual time. The bubble itself sees to it that no
// goroutine outlives it. Answers is called inside the bubble.
func measure(t *testing.T, p *plan, answers func(p *plan) func(n int) answer) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(answers(p))
		if p.before != nil {
			p.before(e)
		}
		r.epoch = time.Now()
		r.data = sweepOf(t, *p, e, r.epoch)
		e.close(t)
		r.attempts, r.opened, r.bad = e.attempted(), int(e.opened.Load()), e.bad
		r.peak, r.peakAt = int(e.peak), e.peakAt.Sub(r.epoch)
	})
	r.curve = analysis.Analyze(r.data)
	return r
}

func sweepOf(t *testing.T, p plan, e *endpoint, epoch time.Time) analysis.Data {
	t.Helper()
	levels := p.grid.Levels
	c, err := client.New(client.Config{
		URL: "http://faulty/v1", Model: "m", Epoch: epoch, Dial: e.dial, Connections: levels[len(levels)-1], NewConnection: p.newConnection, Retries: p.retries,
		TimeoutFirstToken: cmp.Or(p.patience, 2*time.Second), TimeoutIdle: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var mem sweep.Memory
	local, err := sweep.NewLocal(sweep.Config{
		Sender: c, Source: workload.Synthetic{InputTokens: 4, OutputTokens: answerTokens, Seed: 1}, Sink: sweep.Tee(p.watch, mem.Take),
		Epoch: epoch, Warmup: p.warmup, Window: p.window, MaxErrorRate: p.limit, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	if p.meanwhile != nil {
		go func() { defer close(stop); p.meanwhile(e) }()
	} else {
		close(stop)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	out, err := sweep.Run(ctx, local, p.grid)
	local.Close()
	<-stop
	if err != nil {
		t.Fatal(err)
	}
	if out.Status == load.StatusInterrupted {
		t.Error("the sweep did not end by itself")
	}
	return analysis.Data{
		Run: load.Run{
			ID: "faults", Model: "m", Target: "faulty", Seed: 1, Status: out.Status, StopReason: out.Reason,
			Request: load.RequestShape{InputTokensAsked: 4, OutputTokensAsked: answerTokens, Stream: true},
			Settings: load.Settings{
				Window: p.window, Measurements: p.grid.Measurements, Passes: p.grid.Passes, Warmup: p.warmup, MaxErrorRate: p.limit,
			},
		},
		Visits: mem.Visits, Samples: mem.Samples,
	}
}

// step returns the step at a level.
func (r result) step(t *testing.T, n int) load.Step {
	t.Helper()
	for _, s := range r.curve.Steps {
		if s.Concurrency == n {
			return s
		}
	}
	t.Fatalf("there is no step at N = %d", n)
	return load.Step{}
}

// checkAccount holds for every sweep, whatever broke.
func (r result) checkAccount(t *testing.T) {
	t.Helper()
	for _, s := range r.curve.Steps {
		if s.Started != s.Finished+s.Failed+s.InFlightAtEnd {
			t.Errorf("N = %d: %d started, %d finished, %d failed, %d in flight at the end", s.Concurrency, s.Started, s.Finished, s.Failed, s.InFlightAtEnd)
		}
		sum := 0
		for _, n := range s.Failures {
			sum += n
		}
		if ended := s.Finished + s.Failed; sum != s.Failed || ended > 0 && s.ErrorRate.V != float64(s.Failed)/float64(ended) {
			t.Errorf("N = %d: %d failed of %d, causes %v, error rate %v", s.Concurrency, s.Failed, ended, s.Failures, s.ErrorRate)
		}
		if s.LittlesLaw.OK && math.Abs(s.LittlesLaw.V-1) > 0.1 && s.Valid {
			t.Errorf("N = %d is valid with Little's law at %.2f", s.Concurrency, s.LittlesLaw.V)
		}
		if s.Valid && (!s.Throughput.OK || s.Throughput.V.Value <= 0 || s.ErrorRate.V > r.data.Run.Settings.MaxErrorRate) {
			t.Errorf("N = %d is valid with %v tokens/s and an error rate of %v", s.Concurrency, s.Throughput, s.ErrorRate)
		}
		if s.Valid == (s.InvalidReason != "") {
			t.Errorf("N = %d: valid %v, reason %q", s.Concurrency, s.Valid, s.InvalidReason)
		}
	}
	r.recount(t)
	sent := 0
	for i := range r.data.Samples {
		s := &r.data.Samples[i]
		if s.Failed() && s.Cause != load.CauseCanceled && s.Error == "" {
			t.Errorf("sample %d failed with %s and without a word", s.ID, s.Cause)
		}
		sent += 1 + s.Replayed + s.Retries
	}
	if len(r.attempts) > sent {
		t.Errorf("%d attempts for %d requests: something was tried again in secret", len(r.attempts), sent)
	}
	checkDocument(t, r.curve)
}

// checkDocument wants strict JSON that says the same when it is read and written again.
func checkDocument(t *testing.T, c analysis.Curve) {
	t.Helper()
	doc, err := report.MarshalCurve(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadCurve(bytes.NewReader(doc))
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	again, err := report.MarshalCurve(back)
	if err != nil || !bytes.Equal(doc, again) {
		t.Errorf("the document changes when it is read and written (%v)", err)
	}
}

// checkCalm wants at most 20 attempts a second and worker in every second.
func (r result) checkCalm(t *testing.T, workers int) {
	t.Helper()
	first := 0
	for i, at := range r.attempts {
		for at.Sub(r.attempts[first]) >= time.Second {
			first++
		}
		if n := i - first + 1; n > 20*workers {
			t.Fatalf("%d attempts of %d workers within a second", n, workers)
		}
	}
}

// recount counts the failures of each level that was visited once anew.
func (r result) recount(t *testing.T) {
	t.Helper()
	visits := map[int]int{}
	for _, v := range r.data.Visits {
		visits[v.Level.Concurrency]++
	}
	for _, v := range r.data.Visits {
		if visits[v.Level.Concurrency] > 1 {
			continue
		}
		span, measured := v.Span()
		want := map[string]int{}
		for i := range r.data.Samples {
			s := &r.data.Samples[i]
			counts := measured && span.Holds(s.End) ||
				v.Ended != "" && s.Visit == v.Index && s.Cause != load.CauseCanceled && (!measured || s.End >= span.To)
			if s.Failed() && counts {
				want[string(s.Cause)]++
			}
		}
		if got := r.step(t, v.Level.Concurrency).Failures; !maps.Equal(got, want) {
			t.Errorf("N = %d: failures %v, counted %v", v.Level.Concurrency, got, want)
		}
	}
}
