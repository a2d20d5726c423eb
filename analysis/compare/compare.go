// Package compare says by how much one run differs from earlier ones, and
// whether that is more than chance.
//
//	curves ─ comparable? ─▶ differences in what was asked
//	       ─ common N ────▶ a ratio a level: ranks of windows, widened by what
//	                        windows share
//	       ─ all levels ──▶ throughput, TTFT; plateau, knee, streams to allow
//	       ─ history ─────▶ with three old runs or more, their own scatter
//	       ─ families ────▶ verdict: corrected for the number of tests, and for
//	                        size: a difference that is sure may still not matter
//
// Two runs cannot tell a slower build from a slower night: what a whole run has
// in common shows only between runs. That is what the history is for.
//
// All functions are pure and safe for concurrent use. A ratio is new over old;
// throughput is in tokens/s, time in seconds.
package compare

import (
	"slices"

	"kneesweep/analysis"
	"kneesweep/load"
)

const (
	// DefaultMinEffect is the smallest relative change that matters.
	DefaultMinEffect = 0.05
	// MinHistory is the number of earlier runs that make a history.
	MinHistory = 3

	alpha = 0.05 // two-sided, within a family of tests
)

// Options are what is asked of a comparison.
type Options struct {
	MinEffect float64 // fraction below which a change does not matter; 0 = DefaultMinEffect
}

func (o Options) minEffect() float64 {
	if o.MinEffect > 0 {
		return o.MinEffect
	}
	return DefaultMinEffect
}

// Run is one run; Data are its single requests, nil if they are not known.
type Run struct {
	Curve analysis.Curve
	Data  *analysis.Data
}

// Judgement is what became of one tested figure.
type Judgement string

// The judgements.
const (
	Untested Judgement = ""          // there is no test
	Unshown  Judgement = "not_shown" // chance explains the difference
	Small    Judgement = "small"     // different, and less than what matters
	Worse    Judgement = "worse"
	Better   Judgement = "better"
)

// Change is a figure of the new run over that of the old one.
type Change struct {
	Old, New  float64           // in the unit of the figure
	Ratio     load.Estimate     // new / old with its 95 % interval; a bound that is not known is NaN
	P         load.Opt[float64] // two-sided; undefined without a test
	Adjusted  load.Opt[float64] // P corrected for the number of tests of its family
	Judgement Judgement
	// Detectable is the smallest change in the bad direction, as a fraction of old,
	// that four of five such comparisons would have found; undefined without a test.
	Detectable load.Opt[float64]

	lowerIsBetter bool
	se, df        float64 // of log Ratio
}

// Level is one concurrency that is valid in both runs.
type Level struct {
	Concurrency int
	Throughput  Change            // of the median window
	TTFT50      load.Opt[Change]  // no test; an interval only with single requests
	TTFT95      load.Opt[Change]  // the same
	History     load.Opt[History] // throughput against the earlier runs that have the level
}

// The names of figures.
const (
	FigureThroughput = "throughput" // geometric mean over the common levels
	FigurePlateau    = "plateau"
	FigureTTFT50     = "ttft_p50" // geometric mean over the common levels
	FigureTTFT95     = "ttft_p95"
)

// Figure is one figure of whole curves.
type Figure struct {
	Name    string
	Change  Change
	History load.Opt[History]
}

// Moved is the difference of two knees, new − old, in streams. A knee is neither
// better nor worse for being higher: it is shown, and judges nothing.
type Moved struct {
	Old, New load.Opt[load.Estimate]
	By       load.Opt[load.Estimate] // undefined unless both are located
	P        load.Opt[float64]
}

// Missing is a level that is not compared.
type Missing struct {
	Concurrency int
	Old, New    string // why: empty = valid there
	Failing     bool   // valid in the old run, and over the error rate allowed in the new one
}

// Verdict is the answer in one word.
type Verdict string

// The verdicts.
const (
	Regression  Verdict = "regression"  // a figure is worse, surely and by more than the least that matters, or a level fails that did not
	Improvement Verdict = "improvement" // a figure is better in that sense, and none is worse
	Equivalent  Verdict = "equivalent"  // the intervals of throughput and plateau lie within the least that matters
	NoEvidence  Verdict = "no_evidence" // no change is shown, which does not mean that there is none
	CannotTell  Verdict = "cannot_tell" // nothing could be tested
)

// Comparison is what is known of the new run beside earlier ones.
type Comparison struct {
	Old         load.Run // the last of the earlier runs, which intervals are against
	New         load.Run
	OldName     string // what texts call the two; OLD and NEW
	NewName     string
	Paired      bool // by [Paired]
	Runs        int  // earlier runs
	MinEffect   float64
	Differences []Difference // between Old and New, and between the earlier runs and New
	Levels      []Level      // ascending
	Missing     []Missing    // ascending
	Figures     []Figure     // those that both runs have
	Knee        Moved
	Recommended struct{ Old, New load.Opt[int] }
	ByHistory   bool // the verdict rests on the history, not on the scatter within the two runs
	Verdict     Verdict
	Warnings    []load.Warning
}

// Forced reports whether the runs did not do the same work, so that the figures
// compare what cannot be compared.
func (c Comparison) Forced() bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Fatal })
}

// Runs compares a run with earlier ones, at least one, given from the oldest to
// the latest. Levels and figures are tested against the latest; with three
// earlier runs or more each is held against all of them as well ([Against]), and
// the verdict rests on that. Differences in what was asked are listed, and the
// figures computed all the same: whether they mean anything is for the caller
// to say ([Comparison.Forced]).
func Runs(old []Run, latest Run, o Options) Comparison {
	c := begin(old, latest, o)
	c.finish(old, latest, newPairs(old[len(old)-1].Curve, latest.Curve))
	return c
}

// begin is what is known of a comparison before its levels are paired.
func begin(old []Run, latest Run, o Options) Comparison {
	last := old[len(old)-1]
	c := Comparison{
		Old: last.Curve.Run, New: latest.Curve.Run, OldName: "OLD", NewName: "NEW", Runs: len(old), MinEffect: o.minEffect(),
		ByHistory: len(old) >= MinHistory, Knee: moved(last.Curve, latest.Curve),
	}
	c.Recommended.Old, c.Recommended.New = last.Curve.Recommended.Concurrency, latest.Curve.Recommended.Concurrency
	for _, r := range old {
		for _, d := range differences(r.Curve, latest.Curve) {
			if !slices.Contains(c.Differences, d) {
				c.Differences = append(c.Differences, d)
			}
		}
	}
	return c
}

// finish tests levels and figures by their pairs and draws the verdict.
func (c *Comparison) finish(old []Run, latest Run, p pairs) {
	last := old[len(old)-1]
	c.Missing = missing(last.Curve, latest.Curve)
	if len(p.all) > 0 { // with no level in common a plateau says little
		c.Figures = p.figures(last.Curve, latest.Curve)
	}
	c.Levels = p.levels()
	addTTFT(c.Levels, last, latest)
	if c.ByHistory {
		c.addHistory(old, latest)
	}
	c.judge()
	c.Warnings = c.doubts(old, latest, p)
}

// valid are the steps that can be compared, by concurrency.
func valid(c analysis.Curve) map[int]load.Step {
	steps := map[int]load.Step{}
	for _, s := range c.Steps {
		if s.Valid && s.Throughput.OK && s.Throughput.V.Value > 0 && len(positive(s.Measurements)) > 0 {
			steps[s.Concurrency] = s
		}
	}
	return steps
}

// missing lists the levels that are valid in one curve at most.
func missing(old, latest analysis.Curve) []Missing {
	a, b := valid(old), valid(latest)
	var all []Missing
	for _, n := range concurrencies(old, latest) {
		_, inOld := a[n]
		_, inNew := b[n]
		if !inOld || !inNew {
			all = append(all, Missing{n, why(old, n, inOld), why(latest, n, inNew), inOld && failing(latest, n)})
		}
	}
	return all
}

// failing reports whether failed requests are why a level of a curve is not valid.
func failing(c analysis.Curve, n int) bool {
	return slices.ContainsFunc(c.Steps, func(s load.Step) bool {
		return s.Concurrency == n && !s.Valid && s.ErrorRate.V > c.Run.Settings.MaxErrorRate
	})
}

func concurrencies(curves ...analysis.Curve) []int {
	var all []int
	for _, c := range curves {
		for _, s := range c.Steps {
			all = append(all, s.Concurrency)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// why says why a curve has no such level.
func why(c analysis.Curve, n int, ok bool) string {
	if ok {
		return ""
	}
	for _, s := range c.Steps {
		switch {
		case s.Concurrency != n:
		case s.InvalidReason != "":
			return s.InvalidReason
		default:
			return "not valid"
		}
	}
	return "not measured"
}
