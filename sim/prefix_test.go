package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
)

// numbered is a prompt of n words: common ones first, then its own.
func numbered(id int64, common, n int) load.Prompt {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
		if i >= common {
			words[i] += fmt.Sprintf("of%d", id)
		}
	}
	return load.Prompt{ID: id, Messages: []load.Message{{Role: "user", Content: strings.Join(words, " ")}}, InputTokens: n, OutputTokens: 4}
}

// TestPrefixCache: whole blocks of 16 tokens that an earlier prompt began with are
// neither computed nor hidden, in every dialect and without bytes.
func TestPrefixCache(t *testing.T) {
	cfg := sim.Config{Slots: 1, StepBase: 10 * ms, Prefill: ms, PrefixCache: 1000}
	check := func(t *testing.T, how string, s sender) {
		for i, c := range []struct {
			common, n, cached int
		}{{40, 64, 0}, {40, 64, 32}, {15, 64, 0}, {0, 64, 0}, {64, 64, 32}, {64, 64, 63}} {
			p := numbered(int64(i+1), c.common, c.n)
			if got := s.Send(t.Context(), p); got.Failed() || got.PromptTokens != load.Some(c.n) || got.CachedTokens != load.Some(c.cached) {
				t.Errorf("%s, request %d: %s, %+v of %+v tokens cached, want %d", how, i, got.Cause, got.CachedTokens, got.PromptTokens, c.cached)
			} else if ttft := got.TTFT(); ttft.OK && ttft.V.Round(ms) != 10*ms+time.Duration(c.n-c.cached)*ms {
				t.Errorf("%s, request %d: TTFT %v with %d of %d tokens cached", how, i, ttft.V, c.cached, c.n)
			}
		}
	}
	bubble(t, func(t *testing.T) { check(t, "no bytes", start(t, cfg)) })
	for _, dialect := range client.Dialects() {
		for _, whole := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				check(t, fmt.Sprint(dialect, whole), dial(t, start(t, cfg), time.Now(), func(c *client.Config) { c.Dialect, c.NoStream = dialect, whole }))
			})
		}
	}
}

// TestPrefixCacheForgets what was used longest ago, the ends of prompts first.
func TestPrefixCacheForgets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := start(t, sim.Config{Slots: 1, StepBase: 10 * ms, PrefixCache: 7 * 16, Log: true})
		for _, c := range []struct {
			id     int64
			cached int
		}{{1, 0}, {2, 0}, {1, 48}, {3, 0}, {2, 16}, {1, 16}} { // room for two prompts of three blocks, and a block
			p := numbered(c.id, 0, 49)
			if got := e.Send(t.Context(), p); got.CachedTokens != load.Some(c.cached) {
				t.Errorf("prompt %d: %+v cached, want %d", c.id, got.CachedTokens, c.cached)
			}
		}
		if log := e.Log(); log[2].CachedTokens != 48 {
			t.Errorf("log %+v", log[2])
		}
	})
}

// TestTruthWarm: what a cache has costs nothing, so the rate of a rate limit takes
// fewer streams, and the KV cache holds more requests.
func TestTruthWarm(t *testing.T) {
	cfg := sim.Config{Slots: 100, StepBase: 10 * ms, Prefill: ms, RateLimit: 5, OutputTokens: 10}
	// N / (S·s(N)) = R with s = t0 + N/S·P·uncached: N = R·S·t0 / (1 − R·P·uncached)
	if cold, warm := cfg.Truth(100, 10).Knee, cfg.TruthWarm(100, 10, 90).Knee; cold < 0.999 || cold > 1.001 || warm < 0.526 || warm > 0.527 {
		t.Errorf("knee %v cold and %v warm", cold, warm)
	}
	kv := sim.Config{Slots: 100, StepBase: 10 * ms, KVTokens: 4000}
	if cold, warm := kv.Truth(64, 40).Knee, kv.TruthWarm(64, 40, 48).Knee; cold != 38 || warm != 71 {
		t.Errorf("with a KV cache knee %v cold and %v warm", cold, warm)
	}
}
