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
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
)

const (
	objectiveSeeds = 200 // 1…200, all of them
	truthSeeds     = 40  // 1001…1040: 400 windows a level
)

var objectiveLevels = []int{8, 16, 24, 32, 40, 48, 64, 80, 96, 128}

// latencies are those of the requests whose closing event falls into a window,
// by level, taken from the log alone.
func latencies(d analysis.Data, figure string, into map[int][]float64) {
	for i := range d.Visits {
		v := &d.Visits[i]
		span, ok := v.Span()
		if !ok {
			continue
		}
		for k := range d.Samples {
			s := &d.Samples[k]
			at, latency := s.End, s.E2E()
			if figure == "ttft" {
				at, latency = s.FirstToken().V, s.TTFT().V
			}
			if !s.Failed() && span.Holds(at) {
				into[v.Level.Concurrency] = append(into[v.Level.Concurrency], latency.Seconds())
			}
		}
	}
}

// objectiveCase is one limit, and the level that truly meets it.
type objectiveCase struct {
	mu                        sync.Mutex
	name                      string
	limit                     string
	truth, below              int
	exact, lower, high, other int // sweeps that found it, the level below, a higher one, anything else
}

// count takes the result of one sweep; it may be called from several goroutines.
func (c *objectiveCase) count(d analysis.Data) {
	d.Run.Settings.SLO = c.limit
	found := 0
	for _, s := range analysis.Summarize(d) {
		if s.Valid && s.SLO.V.Met == load.Some(true) {
			found = s.Concurrency
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case found == c.truth:
		c.exact++
	case found == c.below:
		c.lower++
	case found > c.truth:
		c.high++
	default:
		c.other++
	}
}

// newObjective finds the level that truly meets a limit, in seconds.
func newObjective(name, figure string, percentile int, truth []float64, limit float64) *objectiveCase {
	c := &objectiveCase{name: name, limit: fmt.Sprintf("%s_p%d<=%.6fms", figure, percentile, 1e3*limit)}
	for k, p := range truth {
		if p <= limit {
			c.truth = objectiveLevels[k]
			c.below = objectiveLevels[max(0, k-1)]
		}
	}
	return c
}

// objectiveCases puts limits halfway (geometrically) between the true percentiles
// of neighbouring levels from the 40th stream on, and just above that of a level.
func objectiveCases(figure string, percentile int, truth []float64) []*objectiveCase {
	var cases []*objectiveCase
	for i := slices.Index(objectiveLevels, 40); i < len(objectiveLevels)-1; i += 2 {
		for name, limit := range map[string]float64{"halfway": math.Sqrt(truth[i] * truth[i+1]), "2 % above": 1.02 * truth[i]} {
			cases = append(cases, newObjective(name, figure, percentile, truth, limit))
		}
	}
	slices.SortFunc(cases, func(a, b *objectiveCase) int { return strings.Compare(a.name, b.name)*1000 + a.truth - b.truth })
	return cases
}

// drawnLimits has a limit of its own for every seed, drawn evenly on a logarithmic
// scale between the true percentiles of the lowest and the highest level.
type drawnLimits struct {
	figure     string
	percentile int
	truth      []float64
	objectiveCase
}

// count takes the result of one sweep; it may be called from several goroutines.
func (l *drawnLimits) count(d analysis.Data) {
	u := rand.New(rand.NewPCG(d.Run.Seed, 0x534c4f)).Float64()
	lowest, highest := slices.Min(l.truth), slices.Max(l.truth)
	c := newObjective("drawn", l.figure, l.percentile, l.truth, lowest*math.Pow(highest/lowest, u))
	c.count(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exact, l.lower, l.high, l.other = l.exact+c.exact, l.lower+c.lower, l.high+c.high, l.other+c.other
}

// row adds the counts to a table.
func (l *drawnLimits) row(table *strings.Builder, windows string) {
	fmt.Fprintf(table, "| %s_p%d, another for each seed, windows of %s | drawn | | %d | %d | %d | %d |\n",
		l.figure, l.percentile, windows, l.exact, l.lower, l.high, l.other)
}

// TestObjectives compares the level that meets a limit with the one that truly
// does, by the log of a run forty times as long.
func TestObjectives(t *testing.T) {
	s := setting(40)
	s.Levels, s.Window = objectiveLevels, 300*time.Millisecond
	logs := map[string]map[int][]float64{"ttft": {}, "e2e": {}}
	var mu sync.Mutex
	each(t, "truth", 1001, truthSeeds, s, func(d analysis.Data) {
		mu.Lock()
		defer mu.Unlock()
		for figure, into := range logs {
			latencies(d, figure, into)
		}
	})
	var cases []*objectiveCase
	drawn := map[string]*drawnLimits{}
	for _, figure := range []string{"ttft", "e2e"} {
		for _, percentile := range []int{95} {
			var truth []float64
			for _, n := range objectiveLevels {
				slices.Sort(logs[figure][n])
				truth = append(truth, stat.Quantile(logs[figure][n], float64(percentile)/100))
			}
			t.Logf("%s p%d of the levels %v in s: %.4f", figure, percentile, objectiveLevels, truth)
			cases = append(cases, objectiveCases(figure, percentile, truth)...)
			drawn[figure] = &drawnLimits{figure: figure, percentile: percentile, truth: truth}
		}
	}
	each(t, "sweep", 1, objectiveSeeds, s, func(d analysis.Data) {
		for _, c := range cases {
			c.count(d)
		}
		for _, l := range drawn {
			l.count(d)
		}
	})
	var table strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&table, "| %s | %s | %d | %d | %d | %d | %d |\n", c.limit, c.name, c.truth, c.exact, c.lower, c.high, c.other)
		if c.name == "halfway" && c.exact+c.lower < objectiveSeeds*95/100 {
			t.Errorf("%s: right or one level below in %d of %d", c.limit, c.exact+c.lower, objectiveSeeds)
		}
	}
	s.Window = time.Second // the shortest that a sweep of a real endpoint has by default
	long := map[string]*drawnLimits{}
	for figure, l := range drawn {
		long[figure] = &drawnLimits{figure: figure, percentile: l.percentile, truth: l.truth}
	}
	each(t, "sweep with windows of 1 s", 1, objectiveSeeds, s, func(d analysis.Data) {
		for _, l := range long {
			l.count(d)
		}
	})
	for _, figure := range []string{"ttft", "e2e"} {
		drawn[figure].row(&table, "300 ms")
		long[figure].row(&table, "1 s")
	}
	t.Logf("\n| limit | lies | true level | found | one below | above | else |\n|---|---|---|---|---|---|---|\n%s", table.String())
}

// each runs a sweep for count seeds from first on and hands it on, several at a time.
func each(t *testing.T, name string, first, count uint64, s accuracy.Setting, take func(analysis.Data)) {
	t.Helper()
	eachSeed(t, name, count, func(t *testing.T, seed uint64) { take(runSweep(t, s, first-1+seed)) })
}
