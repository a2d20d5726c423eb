package report

import (
	"fmt"
	"io"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
)

// markdownExplanation tells the result in five lines to a reader who has never
// heard of a knee. Without a measurement there is nothing to tell.
func markdownExplanation(w io.Writer, c analysis.Curve) {
	if validLevels(c) == 0 {
		return
	}
	fmt.Fprint(w, "## The knee in five lines\n\n")
	for i, line := range explanation(c) {
		fmt.Fprintf(w, "%d. %s\n", i+1, escape(line))
	}
	fmt.Fprintln(w)
}

// explanation is what was asked, what was seen below and above the knee, how sure
// that is, and what to do.
func explanation(c analysis.Curve) [5]string {
	lines := [5]string{
		"The question: how many requests should the endpoint work on at the same time? Too few leave it idle, too many wait for each other.",
		"", "", "", "What to do: " + advice(c),
	}
	switch k := c.Knee; k.Verdict {
	case knee.Found:
		lines[1] = fmt.Sprintf("With few at a time each one more adds to the total output%s, up to about %s at a time: that is the knee.",
			added(k.Slope), plots.Streams(k.Concurrency.V.Value))
		lines[2] = "With more than that the total stays" + near(k.Plateau) + ", so one more is served only at the cost of the others, or waits" + falls(k.Retrograde) + "."
		lines[3] = "How sure: the knee is where a rising and a flat line through the measured points meet; " + sureness(c)
	case knee.AtOrBelowFirst:
		first := plots.Streams(float64(firstValid(c)))
		lines[1] = fmt.Sprintf("Already %s at a time, the fewest that were tried, keep it busy%s.", first, producing(k.Plateau))
		lines[2] = "More at a time brought no more output, only longer waits" + falls(k.Retrograde) + "."
		lines[3] = "How sure: no larger number reached 1.2 times the output of the smallest; whether fewer would do was not tried."
	case knee.NotLocated, knee.StillRising:
		last := plots.Streams(lastLevel(c))
		lines[1] = "With more at a time the total output grew."
		lines[2] = fmt.Sprintf("A number from which on it no longer grows was not shown up to %s, the most that were tried.", last)
		lines[3] = "How sure: that number, the knee, takes two measured points or more beyond it, on a level; they are missing here, or vary too much."
	default:
		lines[1] = "The answer is the number, called the knee, from which on more at a time bring no more output."
		lines[2] = fmt.Sprintf("To see it takes output measured at %d different numbers or more; here it was measured at %d.", neededLevels, validLevels(c))
		lines[3] = "How sure: nothing can be said yet."
	}
	return lines
}

// added is how much one more stream brings below the knee.
func added(slope load.Opt[float64]) string {
	if !finiteOpt(slope).OK {
		return ""
	}
	return " (about " + plots.Number(slope.V) + " tokens/s)"
}

func near(plateau load.Opt[float64]) string {
	if !finiteOpt(plateau).OK {
		return " where it is"
	}
	return " near " + plots.Number(plateau.V) + " tokens/s"
}

func producing(plateau load.Opt[float64]) string {
	if !finiteOpt(plateau).OK {
		return ""
	}
	return ", at about " + plots.Number(plateau.V) + " tokens/s in all"
}

func falls(r *knee.Retrograde) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("; from %s on the total even falls", plots.Streams(float64(r.From)))
}

// sureness is the interval in words, and what speaks against a single number.
func sureness(c analysis.Curve) string {
	s := "how far noise moves that place is not known"
	if b := plots.Interval(c.Knee.Concurrency.V); b != "" {
		s = "noise leaves it anywhere within " + b + ", at 95 % confidence"
	}
	_, disagree := knee.Disagree(c.Knee, c.Estimates)
	switch {
	case disagree:
		return s + ". Other lines put it elsewhere (see Warnings), so take it as a region."
	case c.Knee.Soft:
		return s + ". The turn is gradual, so take it as a region."
	}
	return s + "."
}

func advice(c analysis.Curve) string {
	r := c.Recommended
	switch {
	case r.Concurrency.OK:
		return fmt.Sprintf("let at most %s through at a time and keep the rest in a queue of your own.", plots.Streams(float64(r.Concurrency.V)))
	case c.Knee.Verdict == knee.TooFewLevels:
		return "measure at more numbers of parallel streams."
	case c.Knee.Verdict == knee.NotLocated, c.Knee.Verdict == knee.StillRising:
		return fmt.Sprintf("measure again, up to %s at a time or more.", plots.Streams(2*lastLevel(c)))
	}
	return "no number to allow follows from this."
}
