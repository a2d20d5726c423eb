//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
)

const (
	definitionSeeds = 60  // 1…60, all of them, for each of four knees
	allowSeeds      = 100 // 1…100, all of them
	furtherSeeds    = 100 // 1…100, all of them
)

// noiseOf is the simulator's noise at which the windows of a level vary by a given
// coefficient of variation; interpolated from the seeds 1001 to 1006 of the
// straight ramps, at noises of 0.116, 0.254 and 0.39.
var noiseOf = map[float64]float64{0.10: 0.118, 0.20: 0.262, 0.30: 0.394}

// slowdown is the time that each request adds to a step so that a stream at k
// runs at 2/3 of the speed of a stream alone: t₀ + t₁ = 2/3·(t₀ + t₁·k).
func slowdown(step time.Duration, k int) time.Duration {
	return time.Duration(float64(step) / (2*float64(k) - 3))
}

// account is the outcome of all seeds of one setting, by definition.
type account struct {
	mu       sync.Mutex
	errs     map[string][]float64 // signed, of every sweep in which a definition gives a knee
	judged   map[string][]float64 // those of sweeps with verdict knee
	found    int
	soft     int
	disagree int
	cv       []float64
}

func (a *account) add(c analysis.Curve, truth float64) {
	var groups [][]float64
	for _, s := range c.Steps {
		groups = append(groups, s.Measurements)
	}
	cv, _ := stat.PooledCV(groups)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cv = append(a.cv, cv)
	found := c.Knee.Verdict == knee.Found
	for _, e := range c.Estimates {
		if !e.Concurrency.OK {
			continue
		}
		off := e.Concurrency.V.Value/truth - 1
		a.errs[e.Method] = append(a.errs[e.Method], off)
		if found {
			a.judged[e.Method] = append(a.judged[e.Method], off)
		}
	}
	if !found {
		return
	}
	a.found++
	if c.Knee.Soft {
		a.soft++
	}
	if slices.ContainsFunc(c.Knee.Warnings, func(w load.Warning) bool { return w.Code == load.WarnEstimates }) {
		a.disagree++
	}
}

// accountOf sweeps an endpoint once for every seed.
func accountOf(t *testing.T, name string, s accuracy.Setting) *account {
	a := &account{errs: map[string][]float64{}, judged: map[string][]float64{}}
	truth := s.Endpoint(1).Truth(1, s.Output).Knee
	eachSeed(t, name, definitionSeeds, func(t *testing.T, seed uint64) {
		a.add(analysis.Analyze(runSweep(t, s, seed)), truth)
	})
	return a
}

// size is the median of the absolute values; a sweep without an estimate counts as
// an error of 100 %.
func size(signed []float64, of int) float64 {
	abs := make([]float64, 0, of)
	for _, v := range signed {
		abs = append(abs, math.Abs(v))
	}
	for len(abs) < of {
		abs = append(abs, 1)
	}
	return stat.Median(abs)
}

// TestDefinitions compares all definitions of a knee on straight and on bent
// ramps, through real sweeps; it prints two tables of docs/accuracy.md.
func TestDefinitions(t *testing.T) {
	var table, detail strings.Builder
	fmt.Fprintf(&table, "| ramp | CV within levels | definition | verdict knee | median error, of those | of all sweeps | target | called soft | estimates disagree |\n|---|---|---|---|---|---|---|---|---|\n")
	fmt.Fprintf(&detail, "| ramp, CV | definition | gives a knee in | median error, of those | median bias |\n|---|---|---|---|---|\n")
	for _, row := range []struct {
		name   string
		cv     float64
		bent   bool
		method string
		target float64
	}{
		{"straight", 0.10, false, knee.MethodSegmented, 0.033},
		{"straight", 0.20, false, knee.MethodSegmented, 0.065},
		{"straight", 0.30, false, knee.MethodSegmented, 0.095},
		{"bent", 0.10, true, knee.MethodHyperbolaCap, 0.06},
	} {
		errs, judged := map[string][]float64{}, []float64{}
		total, found, soft, disagree := 0, 0, 0, 0
		var cv []float64
		for _, k := range []int{20, 40, 60, 90} {
			s := setting(k)
			s.Noise = noiseOf[row.cv]
			if row.bent {
				s.Slowdown = slowdown(s.Step, k)
			}
			a := accountOf(t, fmt.Sprintf("%s/%g/K=%d", row.name, row.cv, k), s)
			for method, e := range a.errs {
				errs[method] = append(errs[method], e...)
			}
			judged = append(judged, a.judged[row.method]...)
			total, found, soft, disagree = total+definitionSeeds, found+a.found, soft+a.soft, disagree+a.disagree
			cv = append(cv, a.cv...)
		}
		got := size(judged, len(judged))
		fmt.Fprintf(&table, "| %s | %.1f %% | `%s` | %d of %d | **%.2f %%** | %.2f %% | %.1f %% | %d | %d |\n",
			row.name, 100*stat.Mean(cv), row.method, found, total, 100*got, 100*size(errs[row.method], total), 100*row.target, soft, disagree)
		if got > 1.5*row.target { // how close it comes is for the table to say
			t.Errorf("%s ramp, CV %g: median error of %s %.2f %%, far from %.1f %%", row.name, row.cv, row.method, 100*got, 100*row.target)
		}
		for _, f := range knee.Finders() {
			e := errs[f.Method()]
			fmt.Fprintf(&detail, "| %s, %.0f %% | `%s` | %d of %d | %.1f %% | %+.1f %% |\n", row.name, 100*row.cv, f.Method(), len(e), total,
				100*size(e, len(e)), 100*stat.Median(e))
		}
	}
	t.Logf("\n%s\n%s", table.String(), detail.String())
}

// TestAllow asks for the number of streams to allow.
func TestAllow(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| K | right | CV within levels | exactly so | one off | else | none |\n|---|---|---|---|---|---|---|\n")
	for _, cv := range []float64{0, 0.10} {
		for _, want := range []struct{ k, allow int }{{2, 2}, {4, 4}, {8, 8}, {25, 24}} {
			s := setting(want.k)
			s.Noise, s.Even, s.Levels = noiseOf[cv], cv == 0, levels[:7] // to 64
			var mu sync.Mutex
			var exact, near, far, none int
			eachSeed(t, fmt.Sprintf("%g/K=%d", cv, want.k), allowSeeds, func(t *testing.T, seed uint64) {
				r := analysis.Analyze(runSweep(t, s, seed)).Recommended.Concurrency
				mu.Lock()
				defer mu.Unlock()
				switch d := r.V - want.allow; {
				case !r.OK:
					none++
				case d == 0:
					exact++
				case d == 1 || d == -1:
					near++
				default:
					far++
				}
			})
			fmt.Fprintf(&table, "| %d | %d | %.0f %% | %d | %d | %d | %d |\n", want.k, want.allow, 100*cv, exact, near, far, none)
			if cv == 0 && exact < allowSeeds {
				t.Errorf("K = %d: %d streams in %d of %d sweeps without noise", want.k, want.allow, exact, allowSeeds)
			}
		}
	}
	t.Logf("\n%s", table.String())
}

// TestFurtherSweep compares the knee of a sweep up to at least three times the
// knee with that of the same sweep up to twice as much.
func TestFurtherSweep(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| K | levels to | and to | both have a knee | moves, median | p90 | most |\n|---|---|---|---|---|---|---|\n")
	for _, k := range []int{10, 20, 40} {
		s := setting(k)
		s.Noise = noiseOf[0.10]
		var mu sync.Mutex
		moves := map[int][]float64{} // by the last level of the shorter sweep
		eachSeed(t, fmt.Sprintf("K=%d", k), furtherSeeds, func(t *testing.T, seed uint64) {
			d := runSweep(t, s, seed)
			steps := analysis.Summarize(d)
			upTo := func(last int) load.Opt[load.Estimate] {
				further := func(s load.Step) bool { return s.Concurrency > last }
				return analysis.Build(d.Run, slices.DeleteFunc(slices.Clone(steps), further)).Knee.Concurrency
			}
			mu.Lock()
			defer mu.Unlock()
			for _, last := range levels[:len(levels)-1] {
				if a, b := upTo(last), upTo(2*last); last >= 3*k && a.OK && b.OK {
					moves[last] = append(moves[last], math.Abs(b.V.Value/a.V.Value-1))
				}
			}
		})
		for _, last := range levels {
			m := moves[last]
			if len(m) == 0 {
				continue
			}
			slices.Sort(m)
			fmt.Fprintf(&table, "| %d | %d | %d | %d of %d | %.2f %% | %.2f %% | %.2f %% |\n", k, last, 2*last, len(m), furtherSeeds,
				100*stat.Quantile(m, 0.5), 100*stat.Quantile(m, 0.9), 100*stat.Quantile(m, 1))
			if moved := stat.Median(m); moved > 0.02 {
				t.Errorf("K = %d: moves by %.2f %% (median) with the range doubled past %d, want at most 2 %%", k, 100*moved, last)
			}
		}
	}
	t.Logf("\n%s", table.String())
}
