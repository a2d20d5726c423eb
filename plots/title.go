package plots

import (
	"fmt"
	"slices"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// Headline is the verdict on c in a few words.
func Headline(c analysis.Curve) string {
	if c.Rates != nil {
		return rateHeadline(c.Rates)
	}
	last := 0
	first := 0
	for _, s := range c.Steps {
		if s.Valid {
			if first == 0 {
				first = s.Concurrency
			}
			last = s.Concurrency
		}
	}
	if last == 0 {
		return "No valid measurement"
	}
	var h string
	switch k := located(c); c.Knee.Verdict {
	case knee.Found:
		h = "Knee found"
		if k.OK {
			h = "Knee at " + streams(k.V.Value)
		}
	case knee.AtOrBelowFirst:
		h = "Saturated from the first level on: " + streams(float64(first))
	case knee.NotLocated:
		h = "Knee not located up to " + streams(float64(last))
	case knee.StillRising:
		h = "Throughput still rises at " + streams(float64(last))
	default:
		h = "Too few valid levels to find a knee"
	}
	if r := c.Knee.Retrograde; r != nil {
		h += ", decline from " + Streams(float64(r.From)) + " on"
	}
	return h
}

// streams is a number of streams with its noun.
func streams(n float64) string {
	if s := Streams(n); s != "1" {
		return s + " parallel streams"
	}
	return "1 parallel stream"
}

// shorten cuts s to n runes, so that what follows it stays in sight.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// subtitles are the lines under the headline: what was asked, and of whom and
// when. What is not recorded is left out.
func subtitles(r load.Run) []string {
	where := []string{r.Label, r.Target}
	if !r.Started.IsZero() {
		where = append(where, r.Started.Format("2006-01-02 15:04 MST"))
	}
	return given([]string{asked(r), joined(where)})
}

// asked is the model, the request shape and the settings on one line.
func asked(r load.Run) string {
	var shape, stream, settings, loop string
	in, out := r.Request.InputTokensAsked, r.Request.OutputTokensAsked
	drawn := r.Request.InputLengths.Asked != "" || r.Request.OutputLengths.Asked != ""
	switch {
	case drawn:
		shape = meanLengths(r.Request) + " tokens on average"
	case in > 0 && out > 0:
		shape = fmt.Sprintf("%s input / %s output tokens asked", Grouped(fmt.Sprint(in)), Grouped(fmt.Sprint(out)))
	case in > 0:
		shape = Grouped(fmt.Sprint(in)) + " input tokens asked"
	case out > 0:
		shape = Grouped(fmt.Sprint(out)) + " output tokens asked"
	}
	if known := r.Model != "" || shape != ""; r.Request.Stream {
		stream = "streaming"
	} else if known {
		stream = "without streaming"
	}
	if r.Settings.Measurements > 0 {
		settings = fmt.Sprintf("%d measurements per level", r.Settings.Measurements)
		if r.Settings.Open() {
			settings = fmt.Sprintf("%d measurements per rate", r.Settings.Measurements)
		}
	}
	if stream != "" || settings != "" || r.Target != "" {
		loop = "closed loop"
		if r.Settings.Open() {
			loop = "open loop, " + r.Settings.Arrivals
		}
	}
	return joined([]string{shorten(r.Model, 44), shape, stream, settings, loop})
}

// given are the parts that are not empty.
func given(parts []string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// joined is one line of the parts that are not empty.
func joined(parts []string) string { return strings.Join(given(parts), " · ") }

// meanLengths are what is asked on average where lengths are drawn.
func meanLengths(q load.RequestShape) string {
	var parts []string
	add := func(kind string, asked int, drawn load.Lengths) {
		switch {
		case drawn.Asked != "":
			parts = append(parts, Number(drawn.Mean)+" "+kind)
		case asked > 0:
			parts = append(parts, Grouped(fmt.Sprint(asked))+" "+kind)
		}
	}
	add("input", q.InputTokensAsked, q.InputLengths)
	add("output", q.OutputTokensAsked, q.OutputLengths)
	return strings.Join(parts, " / ")
}
