package accuracy_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sim/pipe"
)

// variants are the endpoints on which every figure must equal the endpoint's log.
var variants = []struct {
	name string
	with func(*sim.Config)
}{
	{"one token a chunk", func(*sim.Config) {}},
	{"hidden tokens", func(c *sim.Config) { c.HiddenTokens = 5 }},
	{"four tokens a chunk", func(c *sim.Config) { c.TokensPerChunk = 4 }},
	{"usage grows with uneven chunks", func(c *sim.Config) { c.TokensPerChunk = 5; c.UsageInChunks = true }},
	{"prefill and slower batches", func(c *sim.Config) { c.Prefill = time.Millisecond; c.StepPerSequence = 300 * time.Microsecond }},
	{"KV cache and queue", func(c *sim.Config) { c.KVTokens = 5 * 13 }},
}

// small is a sweep short enough for the ordinary suite: 12-token answers.
func small() accuracy.Setting {
	return accuracy.Setting{
		Slots: 6, Levels: []int{1, 2, 4, 8}, Noise: 0.10,
		Step: 10 * time.Millisecond, Output: 12, Window: 100 * time.Millisecond,
	}
}

// overPipe runs a sweep through the whole stack: workers, HTTP client, SSE
// reader, a network in memory, HTTP server, engine. edit says how to ask.
func overPipe(t *testing.T, s accuracy.Setting, cfg sim.Config, edit ...func(*client.Config)) (d analysis.Data, log []*sim.Entry, epoch time.Time) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Log = true
		e, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		network := pipe.Listen(pipe.Config{})
		stop := e.Serve(network)
		epoch = time.Now()
		ask := client.Config{URL: "http://sim/v1", Model: "sim", Epoch: epoch, Dial: network.Dial, Connections: 8}
		for _, f := range edit {
			f(&ask)
		}
		c, err := client.New(ask)
		if err != nil {
			t.Fatal(err)
		}
		d, err = accuracy.Sweep(c, epoch, s, s.Grid(cfg.Seed), cfg.Seed)
		c.Close()
		stop()
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		log = e.Log()
	})
	return d, log, epoch
}

// request is what both sides must agree on.
type request struct {
	sent   time.Duration
	chunks []load.Chunk // Tokens as the endpoint sent them
}

func (r request) key() string { return fmt.Sprint(r.sent, r.chunks) }

func fromLog(log []*sim.Entry, epoch time.Time) []request {
	out := make([]request, 0, len(log))
	for _, e := range log {
		r := request{sent: e.Arrived.Sub(epoch)}
		for _, m := range e.Events {
			r.chunks = append(r.chunks, load.Chunk{At: m.At.Sub(epoch), Tokens: int32(m.Tokens)})
		}
		out = append(out, r)
	}
	return sorted(out)
}

// fromSamples takes a chunk's tokens from the server's usage: its increment, or
// the mean of the answer.
func fromSamples(samples []load.Sample) []request {
	out := make([]request, 0, len(samples))
	for i := range samples {
		s := &samples[i]
		r := request{sent: s.Sent, chunks: slices.Clone(s.Chunks)}
		out = append(out, r)
	}
	return sorted(out)
}

func sorted(r []request) []request {
	slices.SortFunc(r, func(a, b request) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.key(), b.key()))
	})
	return r
}

func TestEveryFigureEqualsTheEndpointsLog(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 1
	}
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			for seed := uint64(1); seed <= seeds; seed++ {
				s := small()
				cfg := s.Endpoint(seed)
				v.with(&cfg)
				d, log, epoch := overPipe(t, s, cfg)
				checkRequests(t, seed, d, log, epoch)
				checkSteps(t, seed, d, log, epoch)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// checkRequests compares request by request: stamps, TTFT, TPOT, tokens.
func checkRequests(t *testing.T, seed uint64, d analysis.Data, log []*sim.Entry, epoch time.Time) {
	t.Helper()
	sent, got := fromLog(log, epoch), fromSamples(d.Samples)
	if len(sent) != len(got) {
		t.Fatalf("seed %d: %d requests served, %d sampled", seed, len(sent), len(got))
	}
	finished := 0
	samples := slices.Clone(d.Samples)
	slices.SortFunc(samples, func(a, b load.Sample) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(fmt.Sprint(a.Chunks), fmt.Sprint(b.Chunks)))
	})
	for i := range sent {
		a, b := sent[i], got[i]
		if a.sent != b.sent || len(a.chunks) != len(b.chunks) {
			t.Fatalf("seed %d: served %v, sampled %v", seed, a, b)
		}
		for j := range a.chunks {
			if a.chunks[j].At != b.chunks[j].At || b.chunks[j].Tokens != 0 && a.chunks[j].Tokens != b.chunks[j].Tokens {
				t.Fatalf("seed %d: chunk %d served as %v, sampled as %v", seed, j, a.chunks[j], b.chunks[j])
			}
		}
		s := &samples[i]
		if s.Failed() {
			continue
		}
		finished++
		checkLatencies(t, seed, s, a)
	}
	if finished < 40 {
		t.Errorf("seed %d: only %d requests finished", seed, finished)
	}
}

// checkLatencies recomputes the latencies of a request from what was sent.
func checkLatencies(t *testing.T, seed uint64, s *load.Sample, r request) {
	t.Helper()
	first, last, n := r.chunks[0], r.chunks[len(r.chunks)-1], 0
	for _, c := range r.chunks {
		n += int(c.Tokens)
	}
	n1 := 1
	if s.Incremental() {
		n1 = int(first.Tokens)
	}
	tpot := (last.At - first.At).Seconds() / float64(n-n1)
	switch {
	case s.Streamed() != n:
		t.Errorf("seed %d: %d tokens streamed, %d counted", seed, n, s.Streamed())
	case s.TTFT() != load.Some(first.At-r.sent):
		t.Errorf("seed %d: TTFT %v, want %v", seed, s.TTFT(), first.At-r.sent)
	case s.TPOT() != load.Some(tpot):
		t.Errorf("seed %d: TPOT %v, want %v", seed, s.TPOT(), tpot)
	case s.TokenSource != load.SourceServer:
		t.Errorf("seed %d: tokens from %q", seed, s.TokenSource)
	}
}

// checkSteps recomputes throughput and gaps of every window from the log.
func checkSteps(t *testing.T, seed uint64, d analysis.Data, log []*sim.Entry, epoch time.Time) {
	t.Helper()
	type expected struct{ rates, gaps []float64 }
	want := map[int]*expected{}
	for _, v := range d.Visits {
		x := want[v.Level.Concurrency]
		if x == nil {
			x = &expected{}
			want[v.Level.Concurrency] = x
		}
		span, _ := v.Span()
		for _, w := range v.Windows {
			tokens := 0
			for _, e := range log {
				for _, m := range e.Events {
					if w.Holds(m.At.Sub(epoch)) {
						tokens += m.Tokens
					}
				}
			}
			x.rates = append(x.rates, float64(tokens)/w.Seconds())
		}
		for _, e := range log {
			for i := 1; i < len(e.Events); i++ {
				if span.Holds(e.Events[i].At.Sub(epoch)) {
					x.gaps = append(x.gaps, e.Events[i].At.Sub(e.Events[i-1].At).Seconds())
				}
			}
		}
	}
	for _, s := range analysis.Summarize(d) {
		x := want[s.Concurrency]
		if s.HiddenShare.V == 0 {
			same(t, fmt.Sprintf("seed %d, N = %d: windows", seed, s.Concurrency), s.Measurements, x.rates)
		} else if visible := middle(x.rates); math.Abs(s.VisibleTokens.V-visible) > 1e-9*visible {
			t.Errorf("seed %d, N = %d: visible throughput %v, want %v", seed, s.Concurrency, s.VisibleTokens.V, visible)
		}
		slices.Sort(x.gaps)
		if s.ICL.Count != len(x.gaps) || s.ICL.P50 != quantile(x.gaps, 0.5) || s.ICL.P99 != quantile(x.gaps, 0.99) {
			t.Errorf("seed %d, N = %d: gaps %+v, want %d with median %v", seed, s.Concurrency, s.ICL, len(x.gaps), quantile(x.gaps, 0.5))
		}
	}
}

// same compares rates to the last digits: sums of thirds and fifths of tokens
// are not exact in binary.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d of them, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-9*want[i] {
			t.Errorf("%s: number %d is %v tokens/s, want %v", what, i+1, got[i], want[i])
		}
	}
}

func middle(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return quantile(s, 0.5)
}

// quantile is type 7, written a second time.
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// TestSenderEqualsPipe shows that the study, whose sender exchanges no bytes,
// measures the same samples as a sweep through the whole stack.
func TestSenderEqualsPipe(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		s := small()
		d, _, _ := overPipe(t, s, s.Endpoint(seed))
		a, b := fromSamples(d.Samples), fromSamples(runSweep(t, s, seed).Samples)
		if len(a) != len(b) {
			t.Fatalf("seed %d: %d samples over the pipe, %d without bytes", seed, len(a), len(b))
		}
		for i := range a {
			if a[i].key() != b[i].key() {
				t.Fatalf("seed %d: sample %d is %v over the pipe, %v without bytes", seed, i, a[i], b[i])
			}
		}
	}
}
