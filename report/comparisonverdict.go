package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kneesweep/analysis/compare"
	"kneesweep/load"
	"kneesweep/plots"
)

// ComparisonVerdict says in one sentence whether the new run is worse, by how
// much and how sure that is, or what change could have been seen.
func ComparisonVerdict(c compare.Comparison) string {
	against := ""
	if c.ByHistory {
		against = fmt.Sprintf(" against %d earlier runs", c.Runs)
	}
	forced := ""
	if c.Forced() {
		forced = " (though the runs did not do the same work)"
	}
	if c.Paired {
		return pairedVerdict(c, forced)
	}
	switch c.Verdict {
	case compare.Regression:
		return fmt.Sprintf("Regression%s%s: %s.", against, forced, strings.Join(findings(c, compare.Worse), "; "))
	case compare.Improvement:
		return fmt.Sprintf("Improvement%s%s, and no regression: %s.", against, forced, strings.Join(findings(c, compare.Better), "; "))
	case compare.Equivalent:
		return fmt.Sprintf("Equivalent within %s%s: %s.", percent(c.MinEffect), forced, seen(c))
	case compare.NoEvidence:
		return fmt.Sprintf("No evidence of a regression%s%s, which does not mean that nothing changed: %s.", against, forced, seen(c))
	}
	return "It cannot be told whether anything changed: " + untold(c) + "."
}

// findings are the figures and levels with a judgement, in words; what is better
// is said beside what is worse.
func findings(c compare.Comparison, j compare.Judgement) []string {
	var all []string
	for _, f := range c.Figures {
		if judged(c, f) != j {
			continue
		}
		if c.ByHistory {
			all = append(all, fmt.Sprintf("%s %s (%s, p %s)", plain(f.Name), away(f.History.V.Change), zText(f), pText(f.History.V.Adjusted)))
			continue
		}
		all = append(all, fmt.Sprintf("%s %s (%s, p %s)", plain(f.Name), away(f.Change.Ratio.Value-1), intervalText(f.Change.Ratio), pText(f.Change.Adjusted)))
	}
	var levels []string
	worst := 0.0
	for _, l := range c.Levels {
		found, change := l.Throughput.Judgement, l.Throughput.Ratio.Value-1
		if c.ByHistory {
			found, change = l.History.V.Judgement, l.History.V.Change
		}
		if found == j {
			levels = append(levels, whole(l.Concurrency))
			if math.Abs(change) > math.Abs(worst) {
				worst = change
			}
		}
	}
	if len(levels) > 0 {
		all = append(all, fmt.Sprintf("throughput at N = %s is up to %s", strings.Join(levels, ", "), away(worst)))
	}
	for _, m := range c.Missing {
		if m.Failing && j == compare.Worse {
			all = append(all, fmt.Sprintf("requests fail at N = %s (%s)", whole(m.Concurrency), m.New))
		}
	}
	if j == compare.Better || !slices.ContainsFunc(c.Figures, func(f compare.Figure) bool { return judged(c, f) == compare.Better }) {
		return all
	}
	return append(all, "but "+strings.Join(findings(compare.Comparison{Figures: c.Figures, ByHistory: c.ByHistory}, compare.Better), ", "))
}

func judged(c compare.Comparison, f compare.Figure) compare.Judgement {
	if c.ByHistory {
		return f.History.V.Judgement
	}
	return f.Change.Judgement
}

// seen says what was measured, the first figure that was tested, and what change
// would have been found.
func seen(c compare.Comparison) string {
	for _, f := range c.Figures {
		if judged(c, f) == compare.Untested {
			continue
		}
		measured := fmt.Sprintf("%s %s (%s)", plain(f.Name), away(f.Change.Ratio.Value-1), intervalText(f.Change.Ratio))
		if c.ByHistory {
			measured = fmt.Sprintf("%s %s (%s)", plain(f.Name), away(f.History.V.Change), zText(f))
		}
		if d := f.Change.Detectable; d.OK {
			measured += fmt.Sprintf(", and a change for the worse by %s would have been found in four of five such comparisons", percent(d.V))
		}
		return measured
	}
	for _, l := range c.Levels {
		switch h := l.History.V; {
		case c.ByHistory && h.P.OK:
			return fmt.Sprintf("throughput at N = %s is %s against the mean", whole(l.Concurrency), away(h.Change))
		case !c.ByHistory && l.Throughput.P.OK:
			return fmt.Sprintf("throughput at N = %s is %s (%s)", whole(l.Concurrency), away(l.Throughput.Ratio.Value-1), intervalText(l.Throughput.Ratio))
		}
	}
	return "nothing is worse"
}

// untold says why nothing could be tested.
func untold(c compare.Comparison) string {
	switch {
	case len(c.Levels) > 0 && c.ByHistory:
		return fmt.Sprintf("no level and no figure has %d earlier runs", compare.MinHistory)
	case len(c.Levels) > 0:
		return "with so few windows and levels nothing shows how far equal runs scatter"
	case len(c.Missing) == 0:
		return "no level was measured"
	case !slices.ContainsFunc(c.Missing, func(m compare.Missing) bool { return m.New == "" }):
		return c.NewName + " has no valid level"
	case !slices.ContainsFunc(c.Missing, func(m compare.Missing) bool { return m.Old == "" }):
		return c.OldName + " has no valid level"
	}
	return "no level is valid in both runs"
}

// comparisonNotes are what a reader must know besides: levels that are not compared,
// doubts, and what no two runs can show.
func comparisonNotes(c compare.Comparison) []string {
	var notes []string
	for _, m := range c.Missing {
		var sides []string
		if m.Old != "" {
			sides = append(sides, "in "+c.OldName+" "+m.Old)
		}
		if m.New != "" {
			sides = append(sides, "in "+c.NewName+" "+m.New)
		}
		notes = append(notes, fmt.Sprintf("N = %s is not compared: %s.", whole(m.Concurrency), strings.Join(sides, ", ")))
	}
	for _, w := range c.Warnings {
		notes = append(notes, fmt.Sprintf("%s: %s.", w.Code, w.Text))
	}
	if c.ByHistory && len(c.Figures) > 0 {
		notes = append(notes, fmt.Sprintf("Of the figures, old is the mean of the %d OLD runs, and the interval is where 95 %% of further runs would lie if nothing changed.", c.Runs))
	}
	switch {
	case len(c.Levels) == 0:
	case c.Paired:
		notes = append(notes, "Both were measured in turn, visit by visit: the ratios are those of paired visits, so that what drifted under both is not in them.")
	case c.Runs < compare.MinHistory:
		notes = append(notes, fmt.Sprintf("Two runs cannot tell a slower endpoint from a slower hour: the intervals hold what scatters within the runs. "+
			"%d OLD runs or more show how far equal runs lie apart.", compare.MinHistory))
	}
	return notes
}

// plain is a figure in a sentence, with its verb.
func plain(name string) string {
	switch name {
	case compare.FigureThroughput:
		return "throughput over the common levels is"
	case compare.FigurePlateau:
		return "the plateau is"
	case compare.FigureTTFT50:
		return "TTFT p50 over the common levels is"
	}
	return "TTFT p95 over the common levels is"
}

// away is a relative change in words.
func away(change float64) string {
	switch {
	case math.Abs(change) < 5e-4:
		return "the same"
	case change < 0:
		return percent(-change) + " lower"
	}
	return percent(change) + " higher"
}

// intervalText is the interval of a ratio as changes.
func intervalText(e load.Estimate) string {
	if !finite(e.Lo).OK || !finite(e.Hi).OK {
		return "no interval"
	}
	return fmt.Sprintf("95 %% interval %s to %s", signedPercent(e.Lo-1), signedPercent(e.Hi-1))
}

func signedPercent(x float64) string {
	switch {
	case math.Abs(x) < 5e-4:
		return "0 %"
	case x < 0:
		return "−" + percent(-x)
	}
	return "+" + percent(x)
}

func pText(p load.Opt[float64]) string {
	if s := pCell(p); strings.HasPrefix(s, "<") {
		return "< " + s[1:]
	}
	return "= " + pCell(p)
}

// zText is a figure among those of earlier runs.
func zText(f compare.Figure) string {
	h := f.History.V
	name, scale := figureName(f.Name)
	_, unit, _ := strings.Cut(name, ", ")
	if !h.Z.OK {
		return fmt.Sprintf("all of them had %s %s", plots.Number(scale*h.Mean), unit)
	}
	return fmt.Sprintf("mean %s %s, sd %s, z %s", plots.Number(scale*h.Mean), unit, plots.Number(scale*h.SD), signed(h.Z.V))
}

// pairedVerdict is [ComparisonVerdict] for two endpoints that were measured in turn:
// neither is the older one.
func pairedVerdict(c compare.Comparison, forced string) string {
	switch c.Verdict {
	case compare.Regression:
		return fmt.Sprintf("%s is worse than %s%s: %s.", c.NewName, c.OldName, forced, strings.Join(findings(c, compare.Worse), "; "))
	case compare.Improvement:
		return fmt.Sprintf("%s is better than %s%s: %s.", c.NewName, c.OldName, forced, strings.Join(findings(c, compare.Better), "; "))
	case compare.Equivalent:
		return fmt.Sprintf("%s and %s are equivalent within %s%s: %s.", c.NewName, c.OldName, percent(c.MinEffect), forced, seen(c))
	case compare.NoEvidence:
		return fmt.Sprintf("No difference of %s and %s by more than %s is shown%s: %s.", c.NewName, c.OldName, percent(c.MinEffect), forced, seen(c))
	}
	return fmt.Sprintf("It cannot be told how %s and %s differ: %s.", c.NewName, c.OldName, untold(c))
}
