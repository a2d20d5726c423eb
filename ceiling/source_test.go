package ceiling

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim/pipe"
)

// answers asks a source n times at once, rounds times one after the other, in virtual
// time.
func answers(t *testing.T, shape Shape, n, rounds int) (out []load.Sample, epoch time.Time) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := pipe.Listen(pipe.Config{})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { Serve(ctx, network, shape) })
		epoch = time.Now()
		c, err := client.New(client.Config{URL: "http://source", Epoch: epoch, KeepText: true, Dial: network.Dial})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var streams sync.WaitGroup
		for i := range n {
			streams.Go(func() {
				for range rounds {
					s := c.Send(ctx, load.Prompt{ID: int64(i), Messages: []load.Message{{Role: "user", Content: "a"}}, OutputTokens: shape.Tokens})
					mu.Lock()
					out = append(out, s)
					mu.Unlock()
				}
			})
		}
		streams.Wait()
		stop()
		c.Close()
		wg.Wait()
	})
	return out, epoch
}

// Every token arrives when its stamp says, one interval after the one before, on a
// connection that is used again; a first one comes within two intervals.
func TestSourceStampsItsTokens(t *testing.T) {
	for _, burst := range []bool{false, true} {
		shape := Shape{Interval: 20 * time.Millisecond, Tokens: 7, Burst: burst}
		samples, epoch := answers(t, shape, 5, 3)
		firsts := map[time.Duration]bool{}
		reused := 0
		for _, s := range samples {
			if s.Failed() || len(s.Chunks) != 7 || s.FinishReason != "length" {
				t.Fatalf("burst %v: %+v", burst, s)
			}
			if s.Reused {
				reused++
			}
			if ttft := s.TTFT().V; ttft < shape.Interval || ttft > 2*shape.Interval {
				t.Errorf("burst %v: the first token came after %v", burst, ttft)
			}
			firsts[s.Chunks[0].At] = true
			for k, c := range s.Chunks {
				sent, ok := stamp(s.Text, k)
				if !ok || !sent.Equal(epoch.Add(c.At)) {
					t.Errorf("burst %v: token %d arrived at %v and says %v, %v", burst, k, epoch.Add(c.At), sent, ok)
				}
				if k > 0 && c.At-s.Chunks[k-1].At != shape.Interval {
					t.Errorf("burst %v: gap of %v", burst, c.At-s.Chunks[k-1].At)
				}
				if burst && c.At%shape.Interval != 0 {
					t.Errorf("token at %v is between two steps", c.At)
				}
			}
		}
		if want := map[bool]int{false: 15, true: 3}[burst]; len(firsts) != want {
			t.Errorf("burst %v: first tokens at %d times, want %d", burst, len(firsts), want)
		}
		if reused < 10 {
			t.Errorf("burst %v: %d of 10 connections used again", burst, reused)
		}
	}
}

// A source whose context ends closes what it has and returns, answers in flight or not.
func TestSourceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := pipe.Listen(pipe.Config{})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { Serve(ctx, network, Shape{Interval: time.Second, Tokens: 100}) })
		c, err := client.New(client.Config{URL: "http://source", Dial: network.Dial})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(5*time.Second, stop)
		s := c.Send(t.Context(), load.Prompt{OutputTokens: 100})
		if !s.Failed() || len(s.Chunks) == 0 || s.End > 6*time.Second {
			t.Errorf("%+v", s)
		}
		wg.Wait()
		c.Close()
	})
}
