package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sim/pipe"
)

// each runs a test through both ways into an endpoint: over HTTP, and without
// bytes. The epoch is the start of the bubble.
func each(t *testing.T, cfg sim.Config, edit func(*client.Config), f func(t *testing.T, e *sim.Endpoint, s sender)) {
	t.Helper()
	for _, way := range []string{"http", "direct"} {
		t.Run(way, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				epoch := time.Now()
				e := start(t, cfg)
				if way == "direct" {
					f(t, e, e)
					return
				}
				f(t, e, dial(t, e, epoch, edit))
			})
		})
	}
}

// job is a request sent at a time and, if stop is set, canceled at another.
type job struct {
	at, stop time.Duration
	in, out  int
}

// send sends jobs at their times and returns their samples in that order.
func send(s sender, jobs ...job) []load.Sample {
	out := make([]load.Sample, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		wg.Go(func() {
			ctx := context.Background()
			if j.stop > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, j.stop)
				defer cancel()
			}
			time.Sleep(j.at)
			out[i] = s.Send(ctx, prompt(int64(i+1), max(1, j.in), j.out))
		})
	}
	wg.Wait()
	return out
}

// arrivals are the chunks of a sample, rounded to the step that made them.
func arrivals(s load.Sample) (at []time.Duration) {
	for _, c := range s.Chunks {
		at = append(at, c.At.Round(ms/10))
	}
	return at
}

func first(samples []load.Sample) (at []time.Duration) {
	for _, s := range samples {
		if f := s.FirstToken(); f.OK {
			at = append(at, f.V.Round(ms/10))
		} else {
			at = append(at, -1)
		}
	}
	return at
}

// Whoever comes first is served first; the others wait for a slot.
func TestQueueIsFirstInFirstOut(t *testing.T) {
	each(t, sim.Config{Slots: 2, StepBase: 10 * ms, Log: true}, nil, func(t *testing.T, e *sim.Endpoint, s sender) {
		got := send(s, job{at: 0, out: 4}, job{at: 1 * ms, out: 4}, job{at: 2 * ms, out: 4}, job{at: 3 * ms, out: 4}, job{at: 4 * ms, out: 4}, job{at: 5 * ms, out: 4})
		if want := []time.Duration{10 * ms, 20 * ms, 50 * ms, 60 * ms, 90 * ms, 100 * ms}; !slices.Equal(first(got), want) {
			t.Errorf("first tokens at %v, want %v", first(got), want)
		}
		if want := []time.Duration{50 * ms, 60 * ms, 70 * ms, 80 * ms}; !slices.Equal(arrivals(got[2]), want) {
			t.Errorf("third answer %v, want %v", arrivals(got[2]), want)
		}
		log := e.Log()
		for i := range got {
			if log[i].Admitted.Sub(log[0].Arrived).Round(ms) != first(got)[i]-10*ms || len(log[i].Events) != 4 || log[i].Ended.IsZero() {
				t.Errorf("entry %d: %+v", i, log[i])
			}
		}
	})
}

// A request whose client has gone gives up its place: in the batch, in the KV
// cache, in the queue.
func TestCanceledRequestsFreeTheirPlace(t *testing.T) {
	for name, cfg := range map[string]sim.Config{
		"slot": {Slots: 1, StepBase: 10 * ms},
		"KV":   {Slots: 9, StepBase: 10 * ms, KVTokens: 1010},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, cfg, nil, func(t *testing.T, _ *sim.Endpoint, s sender) {
				got := send(s, job{at: 0, stop: 95 * ms, out: 1000}, job{at: 5 * ms, stop: 50 * ms, out: 1000}, job{at: 6 * ms, out: 3})
				if got[0].Cause != load.CauseCanceled || len(got[0].Chunks) != 9 || got[1].Cause != load.CauseCanceled || len(got[1].Chunks) != 0 {
					t.Errorf("canceled: %s with %d chunks, %s with %d", got[0].Cause, len(got[0].Chunks), got[1].Cause, len(got[1].Chunks))
				}
				want := 110 * ms
				if name == "KV" {
					want = 60 * ms // it fits from the start, but waits until the one before it has gone
				}
				if got[2].Failed() || arrivals(got[2])[0] != want {
					t.Errorf("the next: %s, tokens at %v, want the first at %v", got[2].Cause, arrivals(got[2]), want)
				}
				if name == "KV" { // both fit only if nothing leaked
					for _, next := range send(s, job{at: 10 * ms, out: 500}, job{at: 10 * ms, out: 500}) {
						near(t, "time to first token", next.TTFT().V.Seconds(), 0.010, 0.01)
					}
				}
			})
		})
	}
}

func TestFullQueueIsRefused(t *testing.T) {
	each(t, sim.Config{Slots: 1, StepBase: 10 * ms, Queue: 1}, nil, func(t *testing.T, _ *sim.Endpoint, s sender) {
		got := send(s, job{at: 0, out: 4}, job{at: 1 * ms, out: 4}, job{at: 2 * ms, out: 4}, job{at: 45 * ms, out: 4})
		for i, want := range []load.Cause{"", "", "http_503", ""} {
			if got[i].Cause != want {
				t.Errorf("request %d: %q, want %q", i+1, got[i].Cause, want)
			}
		}
		if got[2].End.Round(ms) != 2*ms || got[2].Status != 503 {
			t.Errorf("refused at %v with %d", got[2].End, got[2].Status)
		}
	})
}

func TestRateLimitAsksToComeBack(t *testing.T) {
	cfg := sim.Config{Slots: 9, StepBase: 10 * ms, RateLimit: 1, RateBurst: 2, RetryAfter: 1500 * ms}
	each(t, cfg, nil, func(t *testing.T, _ *sim.Endpoint, s sender) {
		got := send(s, job{out: 1}, job{at: 1 * ms, out: 1}, job{at: 2 * ms, out: 1}, job{at: 1100 * ms, out: 1}, job{at: 1101 * ms, out: 1})
		for i, want := range []load.Cause{"", "", "http_429", "", "http_429"} {
			if got[i].Cause != want || (got[i].RetryAfter == load.Some(2*time.Second)) != (want != "") {
				t.Errorf("request %d: %q, retry after %+v; want %q", i+1, got[i].Cause, got[i].RetryAfter, want)
			}
		}
	})
	bubble(t, func(t *testing.T) {
		cfg.RateBurst = 1
		n := pipe.Listen(pipe.Config{})
		e := start(t, cfg)
		defer e.Serve(n)()
		h := &http.Client{Transport: &http.Transport{DialContext: n.Dial}}
		defer h.CloseIdleConnections()
		var got string
		for range 2 {
			resp, err := h.Post("http://sim/v1/chat/completions", "application/json", bytes.NewBufferString(`{"model":"sim","max_tokens":1,"messages":[{"content":"a"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			got += fmt.Sprintf("%d %q;", resp.StatusCode, resp.Header.Get("Retry-After"))
		}
		if got != `200 "";429 "2";` {
			t.Errorf("got %s", got)
		}
	})
}

// Each fault is seen for what it is by a client, and as a failure of the same
// kind, with the same tokens, without bytes.
func TestFaults(t *testing.T) {
	limits := func(c *client.Config) { c.TimeoutFirstToken, c.TimeoutIdle = time.Second, time.Second }
	tests := []struct {
		name         string
		faults       sim.Faults
		http, direct []load.Cause // any of them
		chunks       int
	}{
		{"reject", sim.Faults{Reject: 1}, []load.Cause{"http_500"}, []load.Cause{"http_500"}, 0},
		{"stall first", sim.Faults{StallFirst: 1}, []load.Cause{load.CauseTimeoutFirstToken}, []load.Cause{load.CauseCanceled}, 0},
		{"stall", sim.Faults{Stall: 1}, []load.Cause{load.CauseTimeoutIdle}, []load.Cause{load.CauseCanceled}, 1},
		{"truncate", sim.Faults{Truncate: 1}, []load.Cause{load.CauseTruncated, load.CauseReset}, []load.Cause{load.CauseTruncated}, 4},
		{"stream error", sim.Faults{StreamError: 1}, []load.Cause{load.CauseStreamError}, []load.Cause{load.CauseStreamError}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			each(t, sim.Config{Slots: 2, StepBase: 10 * ms, Faults: test.faults}, limits, func(t *testing.T, _ *sim.Endpoint, s sender) {
				want := test.http
				if _, ok := s.(*sim.Endpoint); ok {
					want = test.direct
				}
				got := send(s, job{out: 8, stop: 5 * time.Second})[0]
				if !slices.Contains(want, got.Cause) || len(got.Chunks) != test.chunks {
					t.Errorf("%q with %d chunks (%s), want one of %q with %d", got.Cause, len(got.Chunks), got.Error, want, test.chunks)
				}
				if got.OutputTokens != test.chunks || got.FinishReason != "" {
					t.Errorf("%d tokens, finish %q", got.OutputTokens, got.FinishReason)
				}
			})
		})
	}
}

// A request that is canceled before its fault comes is canceled.
func TestCanceledBeforeTheFault(t *testing.T) {
	each(t, sim.Config{Slots: 2, StepBase: 10 * ms, Faults: sim.Faults{Truncate: 1}}, nil, func(t *testing.T, _ *sim.Endpoint, s sender) {
		if got := send(s, job{out: 8, stop: 25 * ms})[0]; got.Cause != load.CauseCanceled || len(got.Chunks) != 2 {
			t.Errorf("%q with %d chunks", got.Cause, len(got.Chunks))
		}
	})
}

// The sample without bytes is the one that a client takes of the same answer.
func TestSendIsTheSameAsHTTP(t *testing.T) {
	for name, cfg := range map[string]sim.Config{
		"plain":             {Slots: 2, StepBase: 10 * ms},
		"several a chunk":   {Slots: 2, StepBase: 10 * ms, TokensPerChunk: 3},
		"growing usage":     {Slots: 2, StepBase: 10 * ms, TokensPerChunk: 3, UsageInChunks: true},
		"no usage":          {Slots: 2, StepBase: 10 * ms, NoUsage: true},
		"hidden":            {Slots: 2, StepBase: 10 * ms, HiddenTokens: 12},
		"hidden, growing":   {Slots: 2, StepBase: 10 * ms, HiddenTokens: 12, UsageInChunks: true},
		"cut":               {Slots: 2, StepBase: 10 * ms, Faults: sim.Faults{Truncate: 1}},
		"cut while growing": {Slots: 2, StepBase: 10 * ms, HiddenTokens: 12, UsageInChunks: true, Faults: sim.Faults{StreamError: 1}},
		"prefill":           {Slots: 2, StepBase: 10 * ms, Prefill: ms, StepPerSequence: ms},
	} {
		t.Run(name, func(t *testing.T) {
			var both [][]load.Sample
			each(t, cfg, nil, func(_ *testing.T, _ *sim.Endpoint, s sender) {
				got := send(s, job{in: 5, out: 10}, job{at: 3 * ms, in: 5, out: 10}, job{at: 4 * ms, in: 5, out: 7})
				for i := range got {
					g := &got[i]
					if g.Failed() != (cfg.Faults != sim.Faults{}) {
						t.Errorf("request %d: %q", i, g.Cause)
					}
					g.Dialled, g.Connect, g.Reused, g.Protocol, g.Clock, g.Model = false, 0, false, "", "", ""
					g.Error, g.Warnings, g.End = "", nil, g.End.Round(ms/10)
					if g.Cause == load.CauseReset {
						g.Cause = load.CauseTruncated
					}
				}
				both = append(both, got)
			})
			for i := range both[0] {
				if !reflect.DeepEqual(both[0][i], both[1][i]) {
					t.Errorf("request %d over HTTP\n%+v\nwithout bytes\n%+v", i, both[0][i], both[1][i])
				}
			}
		})
	}
}

// What the endpoint does not serve it refuses in the words of the wire format.
func TestRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := pipe.Listen(pipe.Config{})
		e := start(t, sim.Config{Slots: 1, StepBase: 10 * ms})
		defer e.Serve(n)()
		h := &http.Client{Transport: &http.Transport{DialContext: n.Dial}}
		defer h.CloseIdleConnections()
		const chat = "/v1/chat/completions"
		for _, test := range []struct {
			method, path, body string
			status             int
		}{
			{"GET", chat, "", 405},
			{"GET", "/v1/models", "", 200},
			{"GET", "/", "", 404},
			{"POST", chat, "{", 400},
			{"POST", chat, `{"model":"sim","messages":[]}`, 400},
			{"POST", chat, `{"model":"other","messages":[{"content":"a"}]}`, 404},
			{"POST", chat, `{"model":"sim","messages":[{"content":"a"}],"max_completion_tokens":2}`, 200},
		} {
			req, err := http.NewRequestWithContext(t.Context(), test.method, "http://sim"+test.path, bytes.NewBufferString(test.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := h.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != test.status || (test.status != 200) != bytes.Contains(body, []byte(`"error":{`)) {
				t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, resp.StatusCode, body)
			}
		}
	})
}
