package regress

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// titles are how figures are called in sentences.
var titles = map[string]string{Throughput: "throughput at common levels", Plateau: "plateau", Knee: "knee", TTFT: "TTFT p50 at common levels"}

// mostTold is how many figures a sentence names.
const mostTold = 3

// Sentence says what the last of the nights that were watched shows.
func (r Report) Sentence(nights []Night) string {
	switch r.Verdict {
	case NotEnough:
		return fmt.Sprintf("Not enough history: %d of the %d runs of one series that it takes, this one included; nothing is said about a regression.", r.Nights, MinNights)
	case Regression, Improvement:
		e := r.Events[len(r.Events)-1]
		word := map[Verdict]string{Regression: "Regression", Improvement: "Improvement"}[r.Verdict]
		return fmt.Sprintf("%s since %s: %s.", word, day(nights[e.Since].At), e.told())
	case Drifting:
		var parts []string
		for _, d := range r.Drifts {
			parts = append(parts, fmt.Sprintf("%s %s in %.0f days, %s a day", titles[d.Figure], percent(d.Total), d.Days, percent(d.PerDay)))
		}
		return "Drift, and no step: " + strings.Join(parts, "; ") + "."
	}
	return fmt.Sprintf("No change: every figure lies where the %d runs before it lead to expect it%s.", min(r.Nights, window)-1, r.since(nights))
}

// since reminds of the last lasting change within the nights that count.
func (r Report) since(nights []Night) string {
	for i := len(r.Events) - 1; i >= 0; i-- {
		e := r.Events[i]
		if !e.Back.OK && e.Since > r.Nights-window {
			return fmt.Sprintf(" (since %s: %s)", day(nights[e.Since].At), e.told())
		}
	}
	return ""
}

// told are the surest shifts in words.
func (e Event) told() string {
	var parts []string
	for _, s := range e.Shifts {
		if len(parts) == mostTold {
			break
		}
		if s.Level > 0 && len(parts) > 0 {
			continue // those of whole curves say it already
		}
		parts = append(parts, s.String())
	}
	return strings.Join(parts, "; ")
}

// String is a shift with its interval.
func (s Shift) String() string {
	name := titles[s.Figure]
	if s.Level > 0 {
		name = fmt.Sprintf("throughput at N = %d", s.Level)
	}
	return fmt.Sprintf("%s %s (95 %% interval %s to %s)", name, percent(s.Change), percent(s.Lo), percent(s.Hi))
}

// percent is a relative change with its sign.
func percent(x float64) string {
	digits := 0
	if math.Abs(x) < 0.0995 {
		digits = 1
	}
	if math.Abs(x) < 0.00995 {
		digits = 2
	}
	return strings.Replace(fmt.Sprintf("%+.*f %%", digits, 100*x), "-", "−", 1)
}

func day(t time.Time) string { return t.Format(time.DateOnly) }
