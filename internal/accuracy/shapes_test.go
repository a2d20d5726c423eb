//go:build accuracy

package accuracy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/internal/accuracy"
)

const shapeSeeds = 200 // 1…200, all of them

// tally is the outcome of all seeds of one kind, number of windows and noise.
type tally struct {
	right, found, soft, covered, declining int
	errs                                   []float64 // |knee − truth| / truth where both exist
}

func tallyOf(s accuracy.Shape, windows int, cv float64) tally {
	var c tally
	for seed := uint64(1); seed <= shapeSeeds; seed++ {
		points, truth := s.Draw(seed, windows, cv)
		r := knee.Choose(points, seed)
		if s.Right(r.Verdict) {
			c.right++
		}
		if r.Retrograde != nil {
			c.declining++
		}
		if r.Verdict != knee.Found {
			continue
		}
		c.found++
		if r.Soft {
			c.soft++
		}
		if k := r.Concurrency.V; !math.IsNaN(truth) {
			c.errs = append(c.errs, math.Abs(k.Value/truth-1))
			if k.Lo <= truth && truth <= k.Hi {
				c.covered++
			}
		}
	}
	slices.Sort(c.errs)
	return c
}

// TestShapes asks for the verdict on curves of the kinds that published tables
// show, with known truth; it prints two tables of docs/accuracy.md.
func TestShapes(t *testing.T) {
	noises := []float64{0.01, 0.03, 0.10}
	var with, without strings.Builder
	fmt.Fprintf(&with, "| kind | windows | verdict knee | median error | truth in interval, of those | called soft | called declining |\n|---|---|---|---|---|---|---|\n")
	fmt.Fprintf(&without, "| kind | windows | right verdict | false knees |\n|---|---|---|---|\n")
	for _, s := range accuracy.Shapes() {
		for _, windows := range []int{1, 3} {
			var right, found, soft, covered, declining, errs []string
			for _, cv := range noises {
				c := tallyOf(s, windows, cv)
				right, found = append(right, fmt.Sprint(c.right)), append(found, fmt.Sprint(c.found))
				soft, declining = append(soft, fmt.Sprint(c.soft)), append(declining, fmt.Sprint(c.declining))
				if s.Want == knee.Found {
					covered = append(covered, fmt.Sprintf("%.0f %%", 100*float64(c.covered)/float64(c.found)))
					errs = append(errs, fmt.Sprintf("%.1f %%", 100*stat.Quantile(c.errs, 0.5)))
				}
				checkTally(t, fmt.Sprintf("%s, %d windows, noise %g", s.Name, windows, cv), s, c, cv)
			}
			row := func(cells ...[]string) (text string) {
				for _, cell := range cells {
					text += " " + strings.Join(cell, ", ") + " |"
				}
				return fmt.Sprintf("| %s | %d |%s\n", s.Name, windows, text)
			}
			if s.Want == knee.Found {
				with.WriteString(row(found, errs, covered, soft, declining))
			} else {
				without.WriteString(row(right, found))
			}
		}
	}
	t.Logf("\n%s\n%s", with.String(), without.String())
}

// checkTally bounds what the table shows: a false knee is the worst answer.
func checkTally(t *testing.T, name string, s accuracy.Shape, c tally, cv float64) {
	t.Helper()
	if s.Want != knee.Found {
		limit := shapeSeeds * 5 / 100
		if cv < 0.10 {
			limit = shapeSeeds / 100
		}
		if c.found > limit {
			t.Errorf("%s: %d false knees of %d, want at most %d", name, c.found, shapeSeeds, limit)
		}
		return
	}
	least := shapeSeeds * 95 / 100
	if cv == 0.10 || strings.Contains(s.Name, "two levels") {
		least = 0
	}
	if c.right < least {
		t.Errorf("%s: %d knees of %d, want at least %d", name, c.right, shapeSeeds, least)
	}
	if strings.HasPrefix(s.Name, "straight") && c.covered < c.found*90/100 {
		t.Errorf("%s: truth in %d of %d intervals, want 90 %%", name, c.covered, c.found)
	}
}
