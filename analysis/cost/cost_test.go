package cost_test

import (
	"math"
	"testing"

	"kneesweep/analysis/cost"
	"kneesweep/load"
)

// level is one of 1,000 output tokens/s (800 to 1,250), whose requests have 4,000
// prompt tokens, a quarter of them cached, and 1,000 output tokens.
func level() load.Step {
	return load.Step{
		Concurrency: 8, Valid: true, Throughput: load.Some(load.Estimate{Value: 1000, Lo: 800, Hi: 1250}),
		PromptTokensMean: load.Some(4000.0), OutputLengthMean: load.Some(1000.0), CachedShare: load.Some(0.25),
	}
}

func TestCostOfALevel(t *testing.T) {
	unknown := func(change func(*load.Step)) load.Step {
		s := level()
		change(&s)
		return s
	}
	tokens := load.Prices{Input: 2, Cached: 0.5, Output: 10}
	for _, c := range []struct {
		name   string
		step   load.Step
		prices load.Prices
		want   float64 // per million output tokens; 0 = undefined
		rate   float64
	}{
		// 4 prompt tokens for each output token: 3 at 2, 1 at 0.5, and 10 for the output.
		{"tokens", level(), tokens, 16.5, 1e6 / 3600 / 16.5},
		{"nothing said of the cache", unknown(func(s *load.Step) { s.CachedShare = load.Opt[float64]{} }), tokens, 18, 1e6 / 3600 / 18},
		{"output alone", unknown(func(s *load.Step) { s.PromptTokensMean = load.Opt[float64]{} }), load.Prices{Output: 10}, 10, 1e6 / 36000},
		{"prompts not counted", unknown(func(s *load.Step) { s.PromptTokensMean = load.Opt[float64]{} }), tokens, 0, 0},
		{"answers not counted", unknown(func(s *load.Step) { s.OutputLengthMean = load.Opt[float64]{} }), tokens, 0, 0},
		// 3.6 million tokens an hour for 3.60.
		{"one GPU", level(), load.Prices{Hour: 3.6, GPUs: 1, Duty: 1}, 1, 1000 / 3.6},
		// Two of them, busy for half of the time: four times as much.
		{"two GPUs, half busy", level(), load.Prices{Hour: 3.6, GPUs: 2, Duty: 0.5}, 4, 250 / 3.6},
		{"no throughput", unknown(func(s *load.Step) { s.Throughput = load.Opt[load.Estimate]{} }), load.Prices{Hour: 3.6, GPUs: 1, Duty: 1}, 0, 0},
		{"no prices", level(), load.Prices{}, 0, 0},
	} {
		got := cost.Of(c.step, c.prices)
		if got.OK != (c.want > 0) || math.Abs(got.V.PerMillion.Value-c.want) > 1e-9 || math.Abs(got.V.Rate-c.rate) > 1e-9 {
			t.Errorf("%s: %+v, want %v and %v", c.name, got, c.want, c.rate)
		}
	}
	if e := cost.Of(level(), load.Prices{Hour: 3.6, GPUs: 1, Duty: 1}).V.PerMillion; math.Abs(e.Lo-0.8) > 1e-9 || math.Abs(e.Hi-1.25) > 1e-9 {
		t.Errorf("interval %v, want that of the throughput turned over, 0.8 to 1.25", e)
	}
	if e := cost.Of(level(), tokens).V.PerMillion; !math.IsNaN(e.Lo) || !math.IsNaN(e.Hi) {
		t.Errorf("interval %v of token prices, which have none", e)
	}
}

func TestCheapestLevel(t *testing.T) {
	step := func(n int, price float64, valid, meets bool) load.Step {
		return load.Step{
			Concurrency: n, Valid: valid, SLO: load.Some(load.SLO{Met: load.Some(meets)}),
			Cost: load.Some(load.Cost{PerMillion: load.Estimate{Value: price}}),
		}
	}
	steps := []load.Step{
		{Concurrency: 1, Valid: true}, step(2, 8, true, true), step(4, 4.03, true, true), step(8, 4, true, true), step(16, 4, true, true),
		step(32, 2, true, false), step(64, 1, false, true),
	}
	for _, c := range []struct {
		slo        bool
		best, near int
	}{{false, 32, 32}, {true, 8, 4}} {
		if got := cost.FindCheapest(steps, c.slo); got.V.Concurrency != c.best || got.V.Near != c.near {
			t.Errorf("with SLO %v: %+v, want %d and %d", c.slo, got, c.best, c.near)
		}
	}
	if got := cost.FindCheapest(steps[:1], false); got.OK {
		t.Errorf("without a cost: %+v", got)
	}
}

func TestSpent(t *testing.T) {
	used := load.Used{Requests: 10, InputTokens: 3_000_000, CachedTokens: 1_000_000, OutputTokens: 500_000, Seconds: 1800}
	for _, c := range []struct {
		prices load.Prices
		want   load.Opt[float64]
	}{
		{load.Prices{Input: 2, Cached: 0.5, Output: 10}, load.Some(4 + 0.5 + 5.0)},
		{load.Prices{Hour: 3, GPUs: 4, Duty: 0.5}, load.Some(6.0)},
		{load.Prices{}, load.Opt[float64]{}},
	} {
		if got := cost.Spent(used, c.prices); got != c.want {
			t.Errorf("%+v: %v, want %v", c.prices, got, c.want)
		}
	}
}

func TestAtMost(t *testing.T) {
	for _, c := range []struct {
		name          string
		input, output int
		prices        load.Prices
		want          load.Opt[float64]
	}{
		// A million tokens in requests of 300 and 100: three quarters at 2, one at 10.
		{"as asked", 300, 100, load.Prices{Input: 2, Cached: 1, Output: 10}, load.Some(4.0)},
		{"prompts are the dear part", 300, 100, load.Prices{Input: 10, Cached: 1, Output: 2}, load.Some(10.0)},
		{"a cache that costs more", 300, 100, load.Prices{Input: 2, Cached: 6, Output: 10}, load.Some(7.0)},
		{"lengths not known", 0, 100, load.Prices{Input: 2, Output: 10}, load.Some(10.0)},
		{"by the hour", 300, 100, load.Prices{Hour: 4, GPUs: 2, Duty: 0.1}, load.Some(2.0)},
		{"no prices", 300, 100, load.Prices{}, load.Opt[float64]{}},
	} {
		if got := cost.AtMost(1_000_000, c.input, c.output, 900, c.prices); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
