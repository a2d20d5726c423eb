package sweep_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/sweep"
)

// endpoint is what a policy is let loose on: tokens/s by N, and how visits end.
type endpoint struct {
	rate  func(n int) float64
	ends  func(l load.Level) string
	slots int // that decode at once; 0 = all
	noise float64
	rng   *rand.Rand
}

// ramp is a straight ramp of 100 tokens/s a stream up to k.
func ramp(k float64) func(int) float64 {
	return func(n int) float64 { return 100 * min(float64(n), k) }
}

// visit makes the account of a visit. All time beyond 10 ms a token is spent
// waiting for the first one, as in a server with slots.
func (e endpoint) visit(index int, l load.Level) load.Visit {
	v := load.Visit{Index: index, Level: l}
	if e.ends != nil {
		v.Ended = e.ends(l)
	}
	x := e.rate(l.Concurrency)
	for i := range l.Windows {
		rate := x
		if e.noise > 0 {
			rate *= math.Exp(e.noise*e.rng.NormFloat64() - e.noise*e.noise/2)
		}
		v.Windows = append(v.Windows, load.Span{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second})
		v.Live.Rates = append(v.Live.Rates, rate)
	}
	life := 100 * float64(l.Concurrency) / x // 100-token answers
	v.Live.E2E = time.Duration(life * float64(time.Second))
	v.Live.TPOT = 10 * time.Millisecond
	v.Live.TTFT = max(time.Millisecond, v.Live.E2E-time.Second)
	v.Live.Decoding = 0.9 * float64(l.Concurrency)
	if e.slots > 0 {
		v.Live.Decoding = min(v.Live.Decoding, float64(e.slots))
	}
	return v
}

// run lets a policy loose until it ends.
func (e endpoint) run(t testing.TB, p sweep.Policy) (h sweep.History, end sweep.Outcome) {
	t.Helper()
	for len(h.Visits) < 1000 {
		var l load.Level
		if l, end = p.Next(h); end.Status != "" {
			return h, end
		}
		if l.Concurrency < 1 || l.Windows < 1 {
			t.Fatalf("visit %d is of %d streams and %d windows", len(h.Visits), l.Concurrency, l.Windows)
		}
		h.Visits = append(h.Visits, e.visit(len(h.Visits), l))
	}
	t.Fatal("the policy does not end")
	return h, end
}

// windows of each level, glances apart.
func windows(h sweep.History) (full, all map[int]int) {
	full, all = map[int]int{}, map[int]int{}
	for _, v := range h.Visits {
		if !v.Level.Scout {
			full[v.Level.Concurrency] += v.Level.Windows
		}
		all[v.Level.Concurrency] += v.Level.Windows
	}
	return full, all
}

func pointsOf(h sweep.History) []knee.Point {
	var points []knee.Point
	for _, v := range h.Visits {
		if v.Ended == "" {
			points = append(points, knee.Point{N: v.Level.Concurrency, Windows: v.Live.Rates})
		}
	}
	return points
}

func levelsOf(h sweep.History) (levels []int) {
	for _, v := range h.Visits {
		levels = append(levels, v.Level.Concurrency)
	}
	return levels
}

func adaptive() *sweep.Adaptive {
	return &sweep.Adaptive{Max: 256, Measurements: 10, Passes: 2, Precision: 0.10, Seed: 1}
}

// TestAdaptiveFindsTheKnee wherever it is, and leaves whole levels around it.
func TestAdaptiveFindsTheKnee(t *testing.T) {
	for _, noise := range []float64{0, 0.05, 0.20} {
		for _, k := range []float64{2.5, 3, 5, 7, 12, 24, 40, 64, 90, 120, 127} {
			t.Run(fmt.Sprintf("%g/%g", noise, k), func(t *testing.T) {
				e := endpoint{rate: ramp(k), noise: noise, rng: rand.New(rand.NewPCG(uint64(k), 7))}
				h, end := e.run(t, adaptive())
				r := knee.Choose(pointsOf(h), 1)
				if r.Verdict != knee.Found || math.Abs(r.Concurrency.V.Value/k-1) > 0.02+noise {
					t.Errorf("%s at %+v after %v", r.Verdict, r.Concurrency.V, levelsOf(h))
				}
				if end.Status != load.StatusComplete || end.Reason == "" {
					t.Errorf("ended as %+v", end)
				}
				full, _ := windows(h)
				around := 0
				for n, w := range full {
					if w < 10 || w%10 != 0 {
						t.Errorf("N = %d has %d windows", n, w)
					}
					if x := float64(n) / k; x >= 0.3 && x <= 2.4 {
						around++
					}
				}
				if around < 4 {
					t.Errorf("only %d levels around the knee were measured in full: %v", around, full)
				}
				for i, v := range h.Visits {
					if x := float64(v.Level.Concurrency) / k; v.Level.Scout && x > 8.5 && noise < 0.1 {
						t.Errorf("visit %d goes to %d streams, far past the knee", i, v.Level.Concurrency)
					}
				}
				checkPasses(t, h)
			})
		}
	}
}

// checkPasses wants every round to go up and down again, and no level twice in a
// pass, since prompts are named after level and pass.
func checkPasses(t *testing.T, h sweep.History) {
	t.Helper()
	byPass := map[int][]int{}
	for _, v := range h.Visits {
		if v.Level.Scout {
			continue
		}
		byPass[v.Level.Pass] = append(byPass[v.Level.Pass], v.Level.Concurrency)
	}
	for _, p := range slices.Sorted(maps.Keys(byPass)) {
		if len(byPass[p-1]) > 0 {
			delete(byPass, p)
			continue
		}
		up, down := byPass[p], slices.Clone(byPass[p+1])
		slices.Reverse(down)
		if !slices.IsSorted(up) || !slices.Equal(up, down) || len(slices.Compact(slices.Clone(up))) != len(up) {
			t.Errorf("pass %d visits %v, pass %d %v", p, up, p+1, byPass[p+1])
		}
	}
}

// TestAdaptiveWithoutAKnee ends with the verdict that fits, and says why.
func TestAdaptiveWithoutAKnee(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    func(int) float64
		verdict knee.Verdict
		reason  string
		top     int
	}{
		{"rises for ever", ramp(1e9), knee.NotLocated, "256 streams are the most that may be tried", 256},
		{"flat from the first", ramp(1), knee.AtOrBelowFirst, "grows no more from 2 streams on", 8},
		{"falls from the first", func(n int) float64 { return 1000 * math.Pow(float64(n), -0.2) }, knee.AtOrBelowFirst, "grows no more", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, end := endpoint{rate: c.rate}.run(t, adaptive())
			r := knee.Choose(pointsOf(h), 1)
			full, _ := windows(h)
			if r.Verdict != c.verdict || end.Status != load.StatusComplete || !strings.Contains(end.Reason, c.reason) {
				t.Errorf("%s, ended as %+v after %v", r.Verdict, end, levelsOf(h))
			}
			if c.verdict == knee.AtOrBelowFirst {
				_, all := windows(h)
				for n, w := range all {
					if w < 10 {
						t.Errorf("N = %d has %d windows, and the verdict rests on it", n, w)
					}
				}
			}
			if top := slices.Max(levelsOf(h)); top != c.top || len(full) < 2 || len(h.Visits) > 40 {
				t.Errorf("went up to %d and measured %v in full, in %d visits", top, full, len(h.Visits))
			}
		})
	}
}

// TestAdaptiveGoesPastAStall: real servers stall at some level and rise again.
func TestAdaptiveGoesPastAStall(t *testing.T) {
	for _, name := range []string{
		"llamacpp-dgxspark-gemma3-4b-pp8192", "llamacpp-dgxspark-gptoss120b-pp8192",
	} {
		t.Run(name, func(t *testing.T) {
			n, x := recorded(t, name)
			rate := func(at int) float64 { return interpolate(n, x, at) }
			h, end := endpoint{rate: rate}.run(t, &sweep.Adaptive{Max: n[len(n)-1], Measurements: 10, Passes: 2, Precision: 0.10, Seed: 1})
			best := n[slices.Index(x, slices.Max(x))]
			t.Logf("best at %d of %v %.0f; visited %v; %s", best, n, x, levelsOf(h), end.Reason)
			if top := slices.Max(levelsOf(h)); top < best {
				t.Errorf("went up to %d, but %d streams have the highest throughput", top, best)
			}
		})
	}
}

// recorded are the medians of a curve of a real server.
func recorded(t *testing.T, name string) (n []int, x []float64) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/curves/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Points []struct {
			N       int
			Repeats []float64
		}
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Points {
		slices.Sort(p.Repeats)
		n, x = append(n, p.N), append(x, p.Repeats[len(p.Repeats)/2])
	}
	return n, x
}

func interpolate(n []int, x []float64, at int) float64 {
	for i := 1; i < len(n); i++ {
		if at <= n[i] {
			f := float64(at-n[i-1]) / float64(n[i]-n[i-1])
			return x[i-1] + f*(x[i]-x[i-1])
		}
	}
	return x[len(x)-1]
}

// TestAdaptiveUnderALid: what fails is not visited again, and lower levels are
// still measured.
func TestAdaptiveUnderALid(t *testing.T) {
	fails := func(from int) func(load.Level) string {
		return func(l load.Level) string {
			if l.Concurrency >= from {
				return load.EndedFailing
			}
			return ""
		}
	}
	h, end := endpoint{rate: ramp(12), ends: fails(32)}.run(t, adaptive())
	over := 0
	for _, n := range levelsOf(h) {
		if n >= 32 {
			over++
		}
	}
	full, _ := windows(h)
	if over != 1 || len(full) < 4 || end.Status != load.StatusStopped || !strings.Contains(end.Reason, "from 32 streams on ended as failing") {
		t.Errorf("visited %v, ended as %+v", levelsOf(h), end)
	}
	if r := knee.Choose(pointsOf(h), 1); r.Verdict != knee.Found || math.Abs(r.Concurrency.V.Value-12) > 0.2 {
		t.Errorf("%s at %+v", r.Verdict, r.Concurrency)
	}
	h, end = endpoint{rate: ramp(12), ends: fails(1)}.run(t, adaptive())
	if len(h.Visits) != 1 || end.Status != load.StatusStopped {
		t.Errorf("all failing: visited %v, ended as %+v", levelsOf(h), end)
	}
}

// TestAdaptiveShowsACeilingTwice: an admission limit is believed when two levels
// above it show it, so the scout does not turn back at the first.
func TestAdaptiveShowsACeilingTwice(t *testing.T) {
	for _, c := range []struct{ slots, most, want int }{
		{0, 256, 8}, {2, 256, 8}, {4, 256, 16}, {5, 256, 16}, {8, 256, 8}, {4, 8, 8}, {4, 12, 12},
	} {
		a := adaptive()
		a.Max = c.most
		h, end := endpoint{rate: ramp(1), slots: c.slots}.run(t, a)
		if top := slices.Max(levelsOf(h)); top != c.want || end.Status != load.StatusComplete {
			t.Errorf("%d slots, at most %d streams: went up to %d, want %d (%s)", c.slots, c.most, top, c.want, end.Reason)
		}
	}
}

// TestAdaptiveBudgets: scouting leaves half of them, and a bound on windows holds.
func TestAdaptiveBudgets(t *testing.T) {
	a := adaptive()
	visits := 0
	a.Spent = func() float64 { visits++; return float64(visits) / 6 }
	h, end := endpoint{rate: ramp(1e9)}.run(t, a)
	scouts := 0
	for _, v := range h.Visits {
		if v.Level.Scout {
			scouts++
		}
	}
	if scouts >= 9 || scouts < 4 || scouts == len(h.Visits) || !strings.Contains(end.Reason, "half of the budget was spent at") {
		t.Errorf("%d of %d visits were glances, ended as %+v", scouts, len(h.Visits), end)
	}
	for bound := 20; bound <= 200; bound += 9 {
		a := adaptive()
		a.MaxWindows, a.Precision = bound, 0.001
		e := endpoint{rate: ramp(40), noise: 0.2, rng: rand.New(rand.NewPCG(1, uint64(bound)))}
		h, end := e.run(t, a)
		sum := 0
		for _, v := range h.Visits {
			sum += v.Level.Windows
		}
		if sum > bound || sum < bound*3/4 && sum < 120 {
			t.Errorf("%d windows of %d: %s", sum, bound, end.Reason)
		}
	}
}

// TestAdaptiveStopsWhenPrecise or when more measuring does not help.
func TestAdaptiveStopsWhenPrecise(t *testing.T) {
	wide, narrow := adaptive(), adaptive()
	wide.Precision, narrow.Precision = 0.3, 0.03
	count := func(a *sweep.Adaptive) (int, string) {
		e := endpoint{rate: ramp(40), noise: 0.1, rng: rand.New(rand.NewPCG(3, 4))}
		h, end := e.run(t, a)
		return len(h.Visits), end.Reason
	}
	few, why := count(wide)
	more, reason := count(narrow)
	if few >= more || !strings.Contains(why, "known within") {
		t.Errorf("%d visits (%s), then %d (%s)", few, why, more, reason)
	}
	// A dent below the knee that no repetition takes away.
	dent := func(n int) float64 {
		return 100 * min(float64(n), 40) * (1 - 0.3*math.Exp(-math.Pow(float64(n-25)/6, 2)))
	}
	a := adaptive()
	a.Precision = 0.001
	e := endpoint{rate: dent, noise: 0.02, rng: rand.New(rand.NewPCG(5, 6))}
	if h, end := e.run(t, a); !strings.Contains(end.Reason, "no longer gets narrower") || len(h.Visits) > 120 {
		t.Errorf("%d visits, %s", len(h.Visits), end.Reason)
	}
}

// TestRemeasure has a level measured again that was disturbed once.
func TestRemeasure(t *testing.T) {
	levels := []int{1, 2, 4, 8, 16, 24, 32, 48, 64}
	grid := sweep.Grid{Levels: levels, Measurements: 10, Passes: 2}
	policy := &sweep.Remeasure{Policy: grid, Measurements: 10, Seed: 1}
	e := endpoint{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1))}
	var h sweep.History
	for {
		l, end := policy.Next(h)
		if end.Status != "" {
			if end.Status != load.StatusComplete {
				t.Errorf("ended as %+v", end)
			}
			break
		}
		e.rate = ramp(14.8)
		if l.Concurrency == 32 && !l.Again {
			e.rate = ramp(11)
		}
		h.Visits = append(h.Visits, e.visit(len(h.Visits), l))
	}
	last := h.Visits[len(h.Visits)-1].Level
	if n := len(h.Visits); n != 2*len(levels)+1 || last.Concurrency != 32 || !last.Again || last.Windows != 10 || last.Pass != 2 {
		t.Errorf("%d visits, the last %+v", n, last)
	}
	h, _ = endpoint{rate: ramp(14.8)}.run(t, &sweep.Remeasure{Policy: grid, Measurements: 10, Seed: 1})
	if len(h.Visits) != 2*len(levels) {
		t.Errorf("without an outlier %d visits", len(h.Visits))
	}
}
