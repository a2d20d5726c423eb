package client

import (
	"fmt"
	"testing"
	"time"

	"kneesweep/load"
)

// TestB1 (vllm-project/vllm#3759, api7/aisix#869): a frame without a token does not
// end the wait for the first.
func TestB1RoleFrameIsNoToken(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		w.at(5 * ms)
		w.send(role)
		w.at(6 * ms)
		w.send(frameOf(`{"role":"assistant","content":null}`))
		w.at(200 * ms)
		w.send(tok("a"))
		w.at(220 * ms)
		w.send(tok("b"), fin("stop"), use(1, 2), done)
	}, nil)
	check(t, s, want{tokens: 2, source: load.SourceServer, ttft: 200 * ms, last: 220 * ms, e2e: 220 * ms, chunks: 2, finish: "stop", text: "ab"})
	if s.TPOT() != load.Some(0.02) {
		t.Errorf("TPOT %v, want 20 ms", s.TPOT())
	}
}

// TestB2 (vllm-project/guidellm#737, kubernetes-sigs/inference-perf#559): reasoning
// is generated text, and the first content is a time of its own.
func TestB2ReasoningIsTheFirstToken(t *testing.T) {
	thinking := func(w *writer) {
		w.at(5 * ms)
		w.send(role)
		w.at(100 * ms)
		w.send(frameOf(`{"reasoning":"Ok"}`))
		w.at(200 * ms)
		w.send(frameOf(`{"reasoning_content":"so"}`))
	}
	s := ask(t, func(w *writer, _ int) {
		thinking(w)
		w.at(600 * ms)
		w.send(tok("4"), fin("stop"), use(5, 3), done)
	}, nil)
	check(t, s, want{tokens: 3, source: load.SourceServer, ttft: 100 * ms, ttfc: 600 * ms, last: 600 * ms, e2e: 600 * ms, chunks: 3, finish: "stop", text: "4"})
	s = ask(t, func(w *writer, _ int) {
		thinking(w)
		w.send(fin("length"), use(5, 256), done)
	}, nil)
	check(t, s, want{tokens: 256, source: load.SourceServer, ttft: 100 * ms, ttfc: -1, last: 200 * ms, e2e: 200 * ms, chunks: 2, finish: "length"})
}

// TestB4 (vllm-project/vllm#55508, sgl-project/genai-bench#44): usage that comes
// late moves the end of the stream and nothing else.
func TestB4LateUsage(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		w.at(100 * ms)
		w.send(tok("a"))
		w.at(200 * ms)
		w.send(tok("b"), fin("stop"))
		w.at(1200 * ms)
		w.send(use(2, 2), done)
	}, nil)
	check(t, s, want{tokens: 2, source: load.SourceServer, ttft: 100 * ms, last: 200 * ms, e2e: 1200 * ms, chunks: 2, finish: "stop", text: "ab"})
	if s.TPOT() != load.Some(0.1) {
		t.Errorf("TPOT %v, want 100 ms", s.TPOT())
	}
}

// TestB5 (openshift-psap/llm-load-test#54, modelscope/evalscope#1159): with one
// token there is no time per token.
func TestB5OneToken(t *testing.T) {
	s := ask(t, func(w *writer, _ int) {
		w.at(120 * ms)
		w.send(`data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`+"\n\n", done)
	}, nil)
	check(t, s, want{tokens: 1, source: load.SourceServer, ttft: 120 * ms, last: 120 * ms, e2e: 120 * ms, chunks: 1, finish: "stop", text: "yes"})
	if s.TPOT().OK {
		t.Errorf("TPOT %v, want undefined", s.TPOT())
	}
}

// TestB7 (vllm-project/guidellm#1144): the first token is not divided by.
func TestB7TimePerToken(t *testing.T) {
	every := func(n int, from, gap time.Duration) reply {
		return func(w *writer, _ int) {
			for i := range n {
				w.at(from + time.Duration(i)*gap)
				w.send(tok("x"))
			}
			w.send(fin("stop"), use(1, n), done)
		}
	}
	for _, c := range []struct {
		n         int
		from, gap time.Duration
		tpot      float64
	}{
		{10, 200 * ms, 100 * ms, 0.1},
		{2, 100 * ms, 400 * ms, 0.4},
		{101, 100 * ms, 10 * ms, 0.01},
	} {
		t.Run(fmt.Sprint(c.n, " tokens"), func(t *testing.T) {
			s := ask(t, every(c.n, c.from, c.gap), nil)
			if s.TPOT() != load.Some(c.tpot) || len(s.Chunks) != c.n || s.Coalesced != 0 {
				t.Errorf("TPOT %v, chunks %d", s.TPOT(), len(s.Chunks))
			}
		})
	}
}

// The receiver of arrivals hears of every token-bearing chunk and of nothing else.
func TestArrived(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var at []time.Duration
		p := question
		p.Arrived = func(d time.Duration) { at = append(at, d) }
		s := serve(t, base).client(t, nil).Send(t.Context(), p)
		var chunks []time.Duration
		for _, c := range s.Chunks {
			chunks = append(chunks, c.At)
		}
		if fmt.Sprint(at) != fmt.Sprint(chunks) || len(at) != 3 {
			t.Errorf("arrivals %v, chunks %v", at, chunks)
		}
	})
}

// Events that share a read share a stamp, and the sample says so; a role frame in
// the same read does not count.
func TestCoalesced(t *testing.T) {
	s := ask(t, says(role+tok("a")+tok("b")+tok("c")+fin("stop")+use(1, 3)+done), nil)
	if s.Coalesced != 2 {
		t.Errorf("coalesced %d, want 2", s.Coalesced)
	}
}

// Offsets count from the epoch.
func TestEpoch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		epoch := time.Now()
		c := serve(t, base).client(t, func(cfg *Config) { cfg.Epoch = epoch })
		time.Sleep(3 * time.Second)
		s := c.Send(t.Context(), question)
		if s.Sent != 3*time.Second || s.End != 3400*ms || s.Chunks[0].At != 3200*ms {
			t.Errorf("sent %v, end %v, first %v", s.Sent, s.End, s.Chunks[0].At)
		}
	})
}

// A proxy that collects the stream is noticed; bursts of an engine are not taken
// for one.
func TestBuffered(t *testing.T) {
	burst := func(n int) (out string) {
		for range n {
			out += tok("x")
		}
		return out
	}
	cases := []struct {
		name  string
		reply reply
		want  bool
	}{
		{"all at once", func(w *writer, _ int) { w.at(time.Second); w.send(burst(20), fin("stop"), use(1, 20), done) }, true},
		{"in one piece", func(w *writer, _ int) { w.send(tok("all of it"), fin("stop"), use(1, 20), done) }, true},
		{"large and all at once", func(w *writer, _ int) { w.send(burst(200), fin("stop"), use(1, 200), done) }, true},
		{"first let through", func(w *writer, _ int) {
			w.send(tok("x"))
			w.at(time.Second)
			w.send(burst(19), fin("stop"), use(1, 20), done)
		}, true},
		{"short answer", func(w *writer, _ int) { w.send(burst(7), fin("stop"), use(1, 7), done) }, false},
		{"several tokens per frame", func(w *writer, _ int) {
			w.send(tok("xxxxxxx"))
			w.at(20 * ms)
			w.send(tok("xxxxxxx"), fin("stop"), use(1, 16), done)
		}, false},
		{"engine with 8 tokens per step", func(w *writer, _ int) {
			for i := range 5 {
				w.at(time.Duration(i) * 50 * ms)
				w.send(burst(8))
			}
			w.send(fin("stop"), use(1, 40), done)
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := ask(t, c.reply, nil)
			got := len(s.Warnings) == 1 && s.Warnings[0].Code == load.WarnBuffered
			if got != c.want || s.Failed() {
				t.Errorf("warnings %v, cause %q", s.Warnings, s.Cause)
			}
		})
	}
}
