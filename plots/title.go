package plots

import (
	"fmt"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
)

// Headline is the verdict on c in a few words.
func Headline(c analysis.Curve) string {
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
		h += fmt.Sprintf(", decline from %d on", r.From)
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

// subtitles are the lines under the headline: what was asked, and of whom and when.
func subtitles(c analysis.Curve) []string {
	r := c.Run
	var asked, where []string
	add := func(to *[]string, s string) {
		if s != "" {
			*to = append(*to, s)
		}
	}
	add(&asked, shorten(r.Model, 44))
	in, out := r.Request.InputTokensAsked, r.Request.OutputTokensAsked
	switch {
	case in > 0 && out > 0:
		add(&asked, fmt.Sprintf("%s input / %s output tokens asked", Grouped(fmt.Sprint(in)), Grouped(fmt.Sprint(out))))
	case in > 0:
		add(&asked, Grouped(fmt.Sprint(in))+" input tokens asked")
	case out > 0:
		add(&asked, Grouped(fmt.Sprint(out))+" output tokens asked")
	}
	switch {
	case r.Request.Stream:
		add(&asked, "streaming")
	case len(asked) > 0:
		add(&asked, "without streaming")
	}
	if r.Settings.Measurements > 0 {
		add(&asked, fmt.Sprintf("%d measurements per level", r.Settings.Measurements))
	}
	add(&asked, "closed loop")
	add(&where, r.Label)
	add(&where, r.Target)
	if !r.Started.IsZero() {
		add(&where, r.Started.Format("2006-01-02 15:04 MST"))
	}
	lines := []string{strings.Join(asked, " · ")}
	if len(where) > 0 {
		lines = append(lines, strings.Join(where, " · "))
	}
	return lines
}
