package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// term is one bound on the number of streams.
type term struct {
	name string
	n    int
}

// recommend returns how many parallel streams to allow. With a knee it is the
// smallest of ⌈N95⌉, the admission limit and the largest level that meets the
// SLO (slo, undefined without one), and stays below the first declining level;
// at a tie the name is that of slo, then admission, then knee. Without a knee
// only a throughput that does not rise at all, or an SLO, gives a number, and
// with an SLO that no level is shown to meet nothing does.
func recommend(c Curve, slo load.Opt[int]) Recommended {
	var terms []term
	if c.Run.Settings.SLO != "" && !slo.OK && len(validLevels(c.Steps)) > 0 {
		return Recommended{Reason: sloReason(c)}
	}
	if slo.OK && c.Knee.Verdict != knee.TooFewLevels {
		terms = append(terms, term{"slo", slo.V})
	}
	switch c.Knee.Verdict {
	case knee.Found:
		if c.Admission.OK {
			terms = append(terms, term{"admission", int(c.Admission.V.Value)})
		}
		if c.Knee.N95.OK {
			terms = append(terms, term{"knee", belowDecline(c, ceil(c.Knee.N95.V))})
		}
	case knee.AtOrBelowFirst:
		if first := validLevels(c.Steps); len(first) > 0 {
			terms = append(terms, term{"knee", first[0]})
		}
	}
	r := Recommended{}
	for _, t := range terms {
		if !r.Concurrency.OK || t.n < r.Concurrency.V {
			r.Concurrency, r.LimitedBy = load.Some(t.n), t.name
		}
	}
	r.Reason = reason(c, r)
	return r
}

// ceil rounds up, but not for what rounding in the fit added.
func ceil(v float64) int { return int(math.Ceil(v * (1 - 1e-9))) }

// belowDecline lowers n to the last valid level before throughput declines.
func belowDecline(c Curve, n int) int {
	if c.Knee.Retrograde == nil || n < c.Knee.Retrograde.From {
		return n
	}
	for _, l := range validLevels(c.Steps) {
		if l < c.Knee.Retrograde.From {
			n = l
		}
	}
	return n
}

// validLevels are the concurrencies with windows, ascending.
func validLevels(steps []load.Step) []int {
	var levels []int
	for _, s := range steps {
		if s.Valid && len(s.Measurements) > 0 {
			levels = append(levels, s.Concurrency)
		}
	}
	return levels
}

// reason says why, in words to be pasted.
func reason(c Curve, r Recommended) string {
	levels := validLevels(c.Steps)
	if len(levels) == 0 {
		return "No level was measured."
	}
	last := levels[len(levels)-1]
	switch c.Knee.Verdict {
	case knee.Found:
		return kneeReason(c, r)
	case knee.AtOrBelowFirst:
		return fmt.Sprintf("Allow %s: throughput does not rise beyond the first level, so more streams buy only waiting.", streams(r.Concurrency.V))
	case knee.NotLocated, knee.StillRising:
		return openReason(c, r, last)
	default:
		return fmt.Sprintf("A knee takes at least 4 valid levels, and there are %d: measure more.", len(levels))
	}
}

// openReason is for sweeps that ended before the plateau.
func openReason(c Curve, r Recommended, last int) string {
	seen := fmt.Sprintf("the plateau is not located within the tested levels, of which %d is the last", last)
	switch {
	case c.Knee.RisePerDoubling.OK:
		seen = fmt.Sprintf("throughput still rises %.0f %% per doubling at N = %d", 100*c.Knee.RisePerDoubling.V, last)
	case c.Knee.Verdict == knee.StillRising:
		seen = fmt.Sprintf("throughput is not shown to be flat up to N = %d", last)
	}
	if r.Concurrency.OK {
		return fmt.Sprintf("Allow %s, the most that meet the SLO%s; %s.", streams(r.Concurrency.V), sloNotes(c, r.Concurrency.V), seen)
	}
	return fmt.Sprintf("%s%s; sweep beyond %d%s.", strings.ToUpper(seen[:1]), seen[1:], last,
		admitted(c, ", and note that the endpoint ran at most %d requests at once"))
}

func kneeReason(c Curve, r Recommended) string {
	if !r.Concurrency.OK {
		return "The fit has no plateau."
	}
	allow := fmt.Sprintf("Allow %s: ", streams(r.Concurrency.V))
	plateau := c.Knee.Plateau.V
	wait := admitted(c, "; beyond %d streams requests queue"+queueing(c))
	switch r.LimitedBy {
	case "slo":
		return allow + fmt.Sprintf("the most that meet the SLO (the knee is at %s streams)%s%s.", figure(c.Knee.Concurrency.V.Value), sloNotes(c, r.Concurrency.V), wait)
	case "admission":
		return allow + fmt.Sprintf("the endpoint runs no more requests at once%s.", wait)
	}
	return allow + fmt.Sprintf("they bring 95 %% of the plateau of %s tokens/s (knee at %s streams), and more streams buy mostly waiting%s.",
		figure(plateau), figure(c.Knee.Concurrency.V.Value), wait)
}

// queueing says what each stream beyond the admission limit costs: it waits for
// one more request to be served, tokens per request / plateau.
func queueing(c Curve) string {
	length := outputLength(c)
	if !length.OK || !(c.Knee.Plateau.V > 0) {
		return ""
	}
	return fmt.Sprintf(" and TTFT grows by about %s for each stream more", span(length.V/c.Knee.Plateau.V))
}

// outputLength is the mean output tokens of a request at the highest level
// fitted, whose requests queue.
func outputLength(c Curve) load.Opt[float64] {
	var length load.Opt[float64]
	for _, s := range c.Steps {
		if s.Valid && s.OutputLengthMean.OK && s.OutputLengthMean.V > 0 && (c.Knee.Fit == nil || s.Concurrency <= c.Knee.Fit.To) {
			length = s.OutputLengthMean
		}
	}
	return length
}

func admitted(c Curve, format string) string {
	if !c.Admission.OK {
		return ""
	}
	return fmt.Sprintf(format, int(c.Admission.V.Value))
}

func streams(n int) string {
	if n == 1 {
		return "1 parallel stream"
	}
	return fmt.Sprintf("%d parallel streams", n)
}

// span writes seconds for people.
func span(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.3g ms", 1000*seconds)
	}
	return fmt.Sprintf("%.3g s", seconds)
}

// figure writes a number with three significant digits, or all digits before the
// point, never with an exponent.
func figure(x float64) string {
	digits := 0
	if x > 0 && x < 100 {
		digits = min(12, max(0, 2-int(math.Floor(math.Log10(x)))))
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
