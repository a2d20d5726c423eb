package plan

import (
	"math"
	"testing"

	"kneesweep/analysis/slo"
	"kneesweep/analysis/stat"
)

// fixed is a service in which a request takes so long with n in it, all of it after a
// first token that comes at once.
func fixed(most int, seconds func(n int) float64, rest shape) *service {
	s := &service{most: most, restShape: rest, firstShape: always, tpotShape: always, first: make([]float64, most+1), rest: make([]float64, most+1)}
	for n := 1; n <= most; n++ {
		s.first[n], s.rest[n] = 1e-9, seconds(n)
	}
	return s
}

var always = shape{[]float64{0, 1}, []float64{1, 1}}

// memoryless are the quantiles of an exponential distribution.
func memoryless() (s shape) {
	for u := 0.0; u < 0.99999; u += 0.0005 {
		s.p, s.x = append(s.p, u), append(s.x, -math.Log1p(-u))
	}
	s.p, s.x = append(s.p, 1), append(s.x, 12)
	return s
}

func second(int) float64 { return 1 }

func mustParse(t *testing.T, text string) slo.Limits {
	t.Helper()
	l, err := slo.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestQueuesOfTheTextbook holds the simulation against formulas.
func TestQueuesOfTheTextbook(t *testing.T) {
	limits := mustParse(t, "ttft_p95<=1s,e2e_p95<=1s")
	near := func(name string, got, want, within float64) {
		t.Helper()
		if math.Abs(got/want-1) > within {
			t.Errorf("%s: %.4f, want %.4f", name, got, want)
		}
	}
	// M/D/1 (Pollaczek and Khinchine): a mean wait of ρ/(2(1−ρ)).
	near("M/D/1", stat.Mean(fixed(1, second, always).simulate(1, 0.8, 1, fine, limits).values[0]), 2, 0.04)
	// M/M/1: P(W > t) = ρ·exp(−(1−ρ)t).
	o := fixed(1, second, memoryless()).simulate(1, 0.8, 1, medium, limits)
	near("M/M/1, wait", float64(o.over[0])/float64(o.n), 0.8*math.Exp(-0.2), 0.03)
	// M/M/4 at 3.2 Erlang (Erlang C): 0.5964 wait.
	o = fixed(4, second, memoryless()).simulate(4, 3.2, 1, medium, limits)
	near("M/M/4, waiting", float64(o.waited)/float64(o.n), 0.5964, 0.03)
	// M/G/1 with processor sharing: a mean sojourn of 1/(1−ρ), whatever the distribution.
	shared := func(n int) float64 { return float64(n) }
	for name, rest := range map[string]shape{"even": always, "memoryless": memoryless()} {
		o := fixed(400, shared, rest).simulate(400, 0.7, 1, medium, limits)
		near("processor sharing, "+name, stat.Mean(o.values[1]), 1/0.3, 0.06)
	}
	// Twice as slow at half the rate is the same with another clock.
	a, b := fixed(4, second, always).simulate(4, 3, 1, coarse, limits), fixed(4, second, always).simulate(4, 1.5, 2, coarse, limits)
	near("another clock", stat.Mean(b.values[1]), 2*stat.Mean(a.values[1]), 1e-6)
}

// TestHighestRate finds where M/M/1 meets a limit: ρ·exp(−(1−ρ)t) = 0.05.
func TestHighestRate(t *testing.T) {
	s := fixed(1, second, memoryless())
	rate, by := s.highest(1, mustParse(t, "ttft_p95<=10s"), 1, medium)
	if share := rate * math.Exp(-(1-rate)*10); math.Abs(share/0.05-1) > 0.15 || by != "ttft_p95<=10000ms" {
		t.Errorf("rate %v by %s, at which %v wait for longer", rate, by, share)
	}
	if rate, by := s.highest(1, mustParse(t, "error_rate<=1%"), 1, coarse); math.Abs(rate-busiest) > 1e-6 || by != "stability" {
		t.Errorf("without a limit on time: %v by %s", rate, by)
	}
	if rate, _ := s.highest(1, mustParse(t, "e2e_p50<=1ms"), 1, coarse); rate > 1e-3 {
		t.Errorf("a limit below any request: %v", rate)
	}
}

// TestShape has the mean and the quantiles of what it was made of.
func TestShape(t *testing.T) {
	s := newShape(distOf(1, 1.5, 1.75, 1.95, 1.0))
	mean := 0.0
	for u := 0.0005; u < 1; u += 0.001 {
		mean += s.at(u) / 1000
	}
	if math.Abs(mean-1) > 1e-3 || math.Abs(s.at(0.95)/s.at(0.5)-1.75) > 1e-9 || s.at(0) < 0 {
		t.Errorf("mean %v, %v", mean, s)
	}
}
