package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
)

// closedLoop runs n workers of each asks and returns all samples.
func closedLoop(t *testing.T, c *Client, n, each int) []load.Sample {
	t.Helper()
	samples := make([]load.Sample, n*each)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for k := range each {
				p := question
				p.ID = int64(i*each + k)
				samples[p.ID] = c.Send(t.Context(), p)
			}
		})
	}
	all.Wait()
	for i := range samples {
		if samples[i].Failed() {
			t.Fatalf("request %d: %s: %s", i, samples[i].Cause, samples[i].Error)
		}
	}
	return samples
}

// lingering answers in 100 ms and closes the body 50 ms after its end mark.
func lingering(w *writer, _ int) {
	w.at(100 * ms)
	w.send(tok("a"), fin("stop"), use(1, 1), done)
	w.at(150 * ms)
}

// TestD1 (golang/go#16012, gpustack/gpustack#2324): connections are kept and used
// again, also when the body ends after the end mark.
func TestD1ConnectionsAreReused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv := serve(t, lingering)
		samples := closedLoop(t, srv.client(t, func(c *Config) { c.Connections = 64 }), 64, 20)
		opened := 0
		for _, s := range samples {
			if s.Dialled == s.Reused {
				t.Fatalf("dialled %v, reused %v", s.Dialled, s.Reused)
			}
			if s.Dialled {
				opened++
			}
			if s.E2E() != 100*ms {
				t.Fatalf("E2E %v: the wait for the end of the body is in it", s.E2E())
			}
		}
		if n := srv.accepted.Load(); n > 64 || opened != int(n) {
			t.Errorf("accepted %d, said to be opened %d", n, opened)
		}
	})
}

// TestD2 (vllm-project/vllm#34746, huggingface/inference-benchmarker#14): a new
// connection for each request, if asked for.
func TestD2NewConnections(t *testing.T) {
	for fresh, most := range map[bool]int64{true: 40, false: 4} {
		t.Run(fmt.Sprint(fresh), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				srv := serve(t, lingering)
				closedLoop(t, srv.client(t, func(c *Config) { c.NewConnection = fresh }), 4, 10)
				if n := srv.accepted.Load(); n > most || fresh && n != most {
					t.Errorf("accepted %d, want %d", n, most)
				}
			})
		})
	}
}

// TestD4 (BerriAI/litellm#25654): silence ends a request, length does not.
func TestD4Timeouts(t *testing.T) {
	idle := func(c *Config) { c.TimeoutIdle = 2 * time.Second }
	t.Run("a token each second", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) {
			for i := range 6 {
				w.at(time.Duration(i+1) * time.Second)
				w.send(tok("x"))
			}
			w.send(fin("stop"), use(1, 6), done)
		}, idle)
		check(t, s, want{tokens: 6, source: load.SourceServer, ttft: time.Second, last: 6 * time.Second, e2e: 6 * time.Second, chunks: 6, finish: "stop", text: "xxxxxx"})
	})
	silent := func(during string) reply {
		return func(w *writer, _ int) {
			w.at(500 * ms)
			w.send(tok("x"))
			for i := range 50 {
				w.at(500*ms + time.Duration(i+1)*100*ms)
				w.send(during)
			}
			w.send(tok("y"), fin("stop"), done)
		}
	}
	for name, during := range map[string]string{"silence": "", "only comments": ": ping\n\n"} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, silent(during), idle)
			check(t, s, want{cause: load.CauseTimeoutIdle, tokens: 1, source: load.SourceEstimated, ttft: 500 * ms, last: 500 * ms, e2e: 2500 * ms, chunks: 1, text: "x"})
			if !strings.HasPrefix(s.Error, "--timeout-idle: ") {
				t.Errorf("error %q", s.Error)
			}
		})
	}
	first := func(c *Config) { c.TimeoutFirstToken = 2 * time.Second; c.TimeoutIdle = time.Second }
	for name, h := range map[string]reply{
		"no answer":       func(w *writer, _ int) { w.at(5 * time.Second) },
		"only keep-alive": func(w *writer, _ int) { w.send(": ping\n\n"); w.at(5 * time.Second) },
		"only a role":     func(w *writer, _ int) { w.send(role); w.at(5 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			check(t, ask(t, h, first), want{cause: load.CauseTimeoutFirstToken, e2e: 2 * time.Second})
		})
	}
	t.Run("all asked for has come", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) { w.send(tok("a"), fin("stop"), use(1, 1)); w.at(5 * time.Second) }, idle)
		check(t, s, want{tokens: 1, source: load.SourceServer, ttfc: -1, chunks: 1, finish: "stop", text: "a"})
	})
	t.Run("no connection", func(t *testing.T) {
		s := ask(t, base, func(c *Config) {
			c.TimeoutConnect = 3 * time.Second
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		})
		check(t, s, want{cause: load.CauseConnect, e2e: 3 * time.Second})
		if !strings.HasPrefix(s.Error, "--timeout-connect: ") {
			t.Errorf("error %q", s.Error)
		}
	})
}

// A body that stays open after the end mark holds the caller for a moment only, and
// the sample not at all.
func TestOpenBodyAfterEndMark(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv := serve(t, func(w *writer, _ int) {
			w.send(tok("a"), fin("stop"), use(1, 1), done)
			<-w.ctx.Done()
		})
		c := srv.client(t, nil)
		start := time.Now()
		s := c.Send(t.Context(), question)
		if held := time.Since(start); held != drainWait || s.E2E() != 0 || s.Failed() {
			t.Errorf("held %v, E2E %v, cause %q", held, s.E2E(), s.Cause)
		}
	})
}

// TestD6 (gpustack/gpustack#1677, Azure/azure-openai-benchmark#20): no attempt is
// hidden, and the clock of a request never starts again.
func TestD6Retries(t *testing.T) {
	second := func(first func(w *writer)) reply {
		return func(w *writer, n int) {
			if n > 0 {
				base(w, n)
				return
			}
			w.at(100 * ms)
			first(w)
		}
	}
	refuse := func(status int, after string) func(w *writer) {
		return func(w *writer) {
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			w.WriteHeader(status)
			w.send(`{"error":{"message":"busy"}}`)
		}
	}
	t.Run("none by default", func(t *testing.T) {
		for status, after := range map[int]string{503: "", 429: "1"} {
			bubble(t, func(t *testing.T) {
				srv := serve(t, second(refuse(status, after)))
				s := srv.client(t, nil).Send(t.Context(), question)
				check(t, s, want{cause: load.HTTPCause(status), e2e: 100 * ms})
				if n := srv.requests.Load(); n != 1 || s.Error != "busy" || s.Status != status || s.Retries != 0 || s.RetryAfter.OK != (after != "") {
					t.Errorf("requests %d, sample %+v", n, s)
				}
				if after != "" && s.RetryAfter.V != time.Second {
					t.Errorf("Retry-After %v", s.RetryAfter)
				}
			})
		}
	})
	once := func(c *Config) { c.Retries = 1 }
	t.Run("one", func(t *testing.T) {
		s := ask(t, second(refuse(503, "")), once)
		wait := s.TTFT().V - 300*ms // both attempts
		if s.Failed() || s.Retries != 1 || wait < 50*ms || wait > 100*ms || s.OutputTokens != 3 || s.Status != 200 {
			t.Errorf("waited %v, sample %+v", wait, s)
		}
	})
	t.Run("Retry-After counts", func(t *testing.T) {
		s := ask(t, second(refuse(429, "1")), once)
		if s.Failed() || s.TTFT().V != 1300*ms || s.RetryAfter.OK {
			t.Errorf("TTFT %v, cause %q", s.TTFT().V, s.Cause)
		}
	})
	t.Run("at most 5 s", func(t *testing.T) {
		if s := ask(t, second(refuse(429, "3600")), once); s.TTFT().V != 5300*ms {
			t.Errorf("TTFT %v", s.TTFT().V)
		}
	})
	t.Run("not for 400", func(t *testing.T) {
		if s := ask(t, second(refuse(400, "")), once); s.Cause != "http_400" || s.Retries != 0 {
			t.Errorf("cause %q, retries %d", s.Cause, s.Retries)
		}
	})
	t.Run("not after a token", func(t *testing.T) {
		s := ask(t, second(func(w *writer) { w.send(tok("a")); panic(http.ErrAbortHandler) }), once)
		if s.Cause != load.CauseTruncated || s.Retries != 0 {
			t.Errorf("cause %q, retries %d", s.Cause, s.Retries)
		}
	})
	t.Run("all fail", func(t *testing.T) {
		s := ask(t, func(w *writer, _ int) { refuse(500, "")(w) }, func(c *Config) { c.Retries = 3 })
		if s.Cause != "http_500" || s.Retries != 3 {
			t.Errorf("cause %q, retries %d", s.Cause, s.Retries)
		}
	})
	t.Run("stopped between", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c := serve(t, second(refuse(429, "4"))).client(t, once)
			if s := c.Send(ctx, question); s.Cause != load.CauseCanceled || s.E2E() != time.Second {
				t.Errorf("cause %q after %v", s.Cause, s.E2E())
			}
		})
	})
	t.Run("closed between", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c := serve(t, second(refuse(429, "4"))).client(t, once)
			time.AfterFunc(time.Second, c.Close)
			if s := c.Send(t.Context(), question); s.Cause != load.CauseCanceled || s.E2E() != time.Second {
				t.Errorf("cause %q after %v", s.Cause, s.E2E())
			}
		})
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for in, w := range map[string]load.Opt[time.Duration]{
		"1":                                 load.Some(time.Second),
		"0.5":                               load.Some(500 * ms),
		"Thu, 01 Jan 2026 12:00:07 GMT":     load.Some(7 * time.Second),
		"Thu, 01 Jan 2026 11:00:00 GMT":     load.Some(time.Duration(0)),
		"":                                  {},
		"soon":                              {},
		"-1":                                {},
		"NaN":                               {},
		"2|1500":                            load.Some(2 * time.Second), // the larger of the two
		"1|1500":                            load.Some(1500 * ms),
		"|250":                              load.Some(250 * ms),
		"|0.5":                              load.Some(500 * time.Microsecond),
		"|-1":                               {},
		"|soon":                             {},
		"soon|20":                           load.Some(20 * ms),
		"Thu, 01 Jan 2026 12:00:07 GMT|100": load.Some(7 * time.Second),
	} {
		h := http.Header{}
		seconds, millis, _ := strings.Cut(in, "|")
		h.Set("Retry-After", seconds)
		h.Set("retry-after-ms", millis)
		if got := retryAfter(h, now); got != w {
			t.Errorf("%q: %v, want %v", in, got, w)
		}
	}
}

// A request that was stopped keeps what had arrived.
func TestCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 350*ms)
		defer cancel()
		s := serve(t, base).client(t, nil).Send(ctx, question)
		check(t, s, want{cause: load.CauseCanceled, tokens: 2, source: load.SourceEstimated, ttft: 200 * ms, last: 300 * ms, e2e: 350 * ms, chunks: 2, text: "ab"})
	})
	t.Run("before it was sent", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			check(t, serve(t, base).client(t, nil).Send(ctx, question), want{cause: load.CauseCanceled})
		})
	})
}

// Close ends what is running and waits for it.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := serve(t, base).client(t, nil)
		var s load.Sample
		var running sync.WaitGroup
		running.Go(func() { s = c.Send(context.Background(), question) })
		time.Sleep(250 * ms)
		c.Close()
		synctest.Wait()
		running.Wait()
		check(t, s, want{cause: load.CauseCanceled, tokens: 1, source: load.SourceEstimated, ttft: 200 * ms, last: 200 * ms, e2e: 250 * ms, chunks: 1, text: "a"})
		if s := c.Send(context.Background(), question); s.Cause != load.CauseClient {
			t.Errorf("cause after Close %q", s.Cause)
		}
	})
}

// Dialling is part of the wait for the first token, and told apart.
func TestConnectTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv := serve(t, base)
		c := srv.client(t, func(c *Config) {
			c.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
				time.Sleep(30 * ms)
				return srv.dial(ctx, n, a)
			}
		})
		first, second := c.Send(t.Context(), question), c.Send(t.Context(), question)
		if !first.Dialled || first.Connect != 30*ms || first.TTFT().V != 230*ms || first.Reused {
			t.Errorf("first: dialled %v, connect %v, TTFT %v", first.Dialled, first.Connect, first.TTFT().V)
		}
		if second.Dialled || second.Connect != 0 || second.TTFT().V != 200*ms || !second.Reused {
			t.Errorf("second: dialled %v, connect %v, TTFT %v", second.Dialled, second.Connect, second.TTFT().V)
		}
	})
}

// Close waits for dials too, also for one that nobody wants any more.
func TestCloseEndsDials(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dialling := 0
		c, err := New(Config{URL: "h", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialling++
			defer func() { dialling-- }()
			<-ctx.Done()
			time.Sleep(ms)
			return nil, ctx.Err()
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s := c.Send(ctx, question); s.Cause != load.CauseCanceled || s.E2E() != time.Second {
			t.Errorf("cause %q after %v", s.Cause, s.E2E())
		}
		c.Close()
		if dialling != 0 {
			t.Error("still dialling after Close")
		}
	})
}
