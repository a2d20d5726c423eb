package sim_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sim/pipe"
)

const ms = time.Millisecond

// start runs an endpoint; call it in a bubble.
func start(t *testing.T, cfg sim.Config) *sim.Endpoint {
	t.Helper()
	e, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// dial serves an endpoint over a network in memory and returns a client of it.
func dial(t *testing.T, e *sim.Endpoint, epoch time.Time, edit func(*client.Config)) *client.Client {
	t.Helper()
	n := pipe.Listen(pipe.Config{})
	stop := e.Serve(n)
	cfg := client.Config{URL: "http://sim/v1", Model: "sim", Dial: n.Dial, Epoch: epoch}
	if edit != nil {
		edit(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); stop() })
	return c
}

// prompt asks for so many tokens with so many words.
func prompt(id int64, in, out int) load.Prompt {
	text := make([]byte, 0, 2*in)
	for range in {
		text = append(text, "a "...)
	}
	return load.Prompt{ID: id, Messages: []load.Message{{Role: "user", Content: string(text)}}, InputTokens: in, OutputTokens: out}
}

// sender is what takes prompts: an endpoint or a client.
type sender interface {
	Send(context.Context, load.Prompt) load.Sample
}

// closedLoop holds n workers against a sender for a time and returns the
// samples. After a failure a worker waits for retry.
func closedLoop(s sender, n, in, out int, d, retry time.Duration) []load.Sample {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var (
		mu  sync.Mutex
		all []load.Sample
		wg  sync.WaitGroup
	)
	for w := range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				sample := s.Send(ctx, prompt(int64(w), in, out))
				mu.Lock()
				all = append(all, sample)
				mu.Unlock()
				if sample.Failed() {
					time.Sleep(retry)
				}
			}
		})
	}
	wg.Wait()
	return all
}

// rate is tokens/s that arrived in [from, to), each chunk of so many tokens.
func rate(samples []load.Sample, from, to time.Duration, tokensPerChunk int) float64 {
	n := 0
	span := load.Span{From: from, To: to}
	for i := range samples {
		for _, c := range samples[i].Chunks {
			if span.Holds(c.At) {
				n += tokensPerChunk
			}
		}
	}
	return float64(n) / span.Seconds()
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }
