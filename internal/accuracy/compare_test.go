//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
)

const (
	laterSeeds = 1000 // added to a seed for the new run of a comparison
	nights     = 5    // earlier runs of a history
)

// measured are the steps of one sweep; what scatters them is laid over later.
type measured struct {
	run   load.Run
	steps []load.Step
}

// sweeps runs a setting with every seed from first on.
func sweeps(t *testing.T, name string, s accuracy.Setting, first int) []measured {
	all := make([]measured, seeds)
	var mu sync.Mutex
	each(t, name, uint64(first), seeds, s, func(d analysis.Data) {
		steps := analysis.Summarize(d)
		mu.Lock()
		defer mu.Unlock()
		all[int(d.Run.Seed)-first] = measured{d.Run, steps}
	})
	return all
}

// scattered is the curve of m with errors that all windows of a level share, and
// one that the whole run shares, lognormal with the given deviations.
func (m measured) scattered(level, run float64) compare.Run {
	rng := rand.New(rand.NewPCG(m.run.Seed, 0x73686172))
	whole := run * rng.NormFloat64()
	steps := slices.Clone(m.steps)
	for i := range steps {
		s := &steps[i]
		f := math.Exp(whole + level*rng.NormFloat64())
		s.Measurements = slices.Clone(s.Measurements)
		for k := range s.Measurements {
			s.Measurements[k] *= f
		}
		s.Throughput.V.Value, s.Throughput.V.Lo, s.Throughput.V.Hi = f*s.Throughput.V.Value, f*s.Throughput.V.Lo, f*s.Throughput.V.Hi
		s.TTFT.P50, s.TTFT.P95 = s.TTFT.P50/f, s.TTFT.P95/f
	}
	var points []knee.Point
	for _, s := range steps {
		points = append(points, knee.Point{N: s.Concurrency, Windows: s.Measurements})
	}
	// A comparison reads no more of a curve; all seven definitions of a knee take longer than the sweep.
	return compare.Run{Curve: analysis.Curve{Run: m.run, Steps: steps, Knee: knee.Choose(points, m.run.Seed)}}
}

// alarms are the verdicts on all seeds of a row.
type alarms struct {
	verdicts          map[compare.Verdict]int
	by                map[string]int // regressions in which a figure, or any level, is worse
	compared, covered int            // all; those whose interval of throughput over all levels holds the truth
	detectable        []float64
}

func (a *alarms) add(c compare.Comparison, truth float64) {
	a.compared++
	a.verdicts[c.Verdict]++
	for _, f := range c.Figures {
		j, d := f.Change.Judgement, f.Change.Detectable
		if c.ByHistory {
			j = f.History.V.Judgement
		}
		if j == compare.Worse {
			a.by[f.Name]++
		}
		if f.Name == compare.FigureThroughput {
			a.detectable = append(a.detectable, d.V)
			if !c.ByHistory && f.Change.Ratio.Lo <= truth && truth <= f.Change.Ratio.Hi {
				a.covered++
			}
		}
	}
	if slices.ContainsFunc(c.Levels, func(l compare.Level) bool {
		return l.Throughput.Judgement == compare.Worse || l.History.V.Judgement == compare.Worse
	}) {
		a.by["level"]++
	}
}

// row compares seed by seed, with one earlier run or with several.
func row(old, latest []measured, level, run, truth float64, runs int) *alarms {
	a := &alarms{verdicts: map[compare.Verdict]int{}, by: map[string]int{}}
	before := make([]compare.Run, len(old))
	for i := range old {
		before[i] = old[i].scattered(level, run)
	}
	for i := range latest {
		var history []compare.Run
		for k := range runs {
			history = append(history, before[(i+k)%len(before)])
		}
		a.add(compare.Runs(history, latest[i].scattered(level, run), compare.Options{}), truth)
	}
	return a
}

func (a *alarms) write(table *strings.Builder, name string, level, run float64) {
	n, covered := float64(a.compared), "–" // with slots lost no single ratio holds, and a history gives none
	if a.covered > 0 {
		covered = fmt.Sprintf("%.1f %%", 100*float64(a.covered)/n)
	}
	fmt.Fprintf(table, "| %s | %.0f %% | %.0f %% | **%.1f %%** | %d | %d | %d | %d | %d | %d | %s | %.0f %% |\n", name, 100*level, 100*run,
		100*float64(a.verdicts[compare.Regression])/n, a.by[compare.FigureThroughput], a.by[compare.FigurePlateau],
		a.by[compare.FigureTTFT50], a.by[compare.FigureTTFT95], a.by["level"], a.verdicts[compare.Improvement]+a.verdicts[compare.Equivalent],
		covered, 100*stat.Median(a.detectable))
}

// TestCompare measures how often equal endpoints are called worse, and how often
// worse ones are.
func TestCompare(t *testing.T) {
	const k = 40
	base := setting(k)
	drifting := base
	drifting.Drift, drifting.DriftOver = -0.20, length(t, base)
	bent := base
	bent.Step = 8 * time.Millisecond
	bent.Slowdown = 100 * time.Microsecond
	changed := func(loss float64, slots bool) accuracy.Setting {
		s := base
		if slots {
			s.Slots = int(math.Round(k * (1 - loss)))
		} else {
			s.Step = time.Duration(float64(s.Step) / (1 - loss))
		}
		return s
	}
	const heading = "| new run | shared by a level | by a run | called worse | throughput | plateau | TTFT p50 | TTFT p95 | a level | better or equivalent | truth in interval | detectable |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
	var table strings.Builder
	table.WriteString(heading)
	equal := func(name string, old, latest []measured) {
		for _, level := range []float64{0, 0.05} {
			a := row(old, latest, level, 0, 1, 1)
			a.write(&table, name, level, 0)
			if share := float64(a.verdicts[compare.Regression]) / seeds; share > 0.05 {
				t.Errorf("%s, %g shared: %.1f %% false alarms", name, level, 100*share)
			}
		}
	}
	old, latest := sweeps(t, "old", base, 1), sweeps(t, "same", base, 1+laterSeeds)
	equal("the same", old, latest)
	equal("the same, drift −20 % in both", sweeps(t, "old drifting", drifting, 1), sweeps(t, "drifting", drifting, 1+laterSeeds))
	equal("the same, a ramp that bends", sweeps(t, "old bent", bent, 1), sweeps(t, "bent", bent, 1+laterSeeds))
	var later strings.Builder
	later.WriteString(heading)
	for _, run := range []float64{0.03, 0.06} {
		row(old, latest, 0, run, 1, 1).write(&table, "the same, one old run", 0, run)
		a := row(old, latest, 0, run, 1, nights)
		a.write(&later, "the same", 0, run)
		if share := float64(a.verdicts[compare.Regression]) / seeds; share > 0.05 {
			t.Errorf("history, %g by run: %.1f %% false alarms", run, 100*share)
		}
	}
	for _, slots := range []bool{false, true} {
		for _, loss := range []float64{0.05, 0.10, 0.20} {
			name, truth := fmt.Sprintf("every step slower, −%.0f %%", 100*loss), 1-loss
			if slots {
				name, truth = fmt.Sprintf("fewer slots, −%.0f %%", 100*loss), math.NaN()
			}
			worse := sweeps(t, name, changed(loss, slots), 1+laterSeeds)
			for _, level := range []float64{0, 0.05} {
				row(old, worse, level, 0, truth, 1).write(&table, name, level, 0)
			}
			row(old, worse, 0, 0.03, truth, nights).write(&later, name, 0, 0.03)
		}
	}
	t.Logf("\nOne old run\n%s\n%d old runs\n%s", table.String(), nights, later.String())
}
