package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// streams is "1 parallel stream" or "24 parallel streams".
func streams(n float64) string {
	if s := plots.Streams(n); s != "1" {
		return s + " parallel streams"
	}
	return "1 parallel stream"
}

// percent writes a fraction as "12 %", with a decimal below 10 %.
func percent(fraction float64) string {
	p := fraction * 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return plots.Missing
	case p == 0 || math.Abs(p) >= 9.95:
		return fmt.Sprintf("%.0f %%", p)
	case math.Abs(p) < 0.1:
		return plots.Number(p) + " %"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + " %"
}

// between is "22–26", or empty when a bound is missing.
func between(e load.Estimate, write func(float64) string) string {
	if !finite(e.Lo).OK || !finite(e.Hi).OK {
		return ""
	}
	return write(e.Lo) + "–" + write(e.Hi)
}

// shape is what each request asked for, such as "200 input and 40 output
// tokens per request, streaming, model m"; empty when nothing is known.
func shape(r load.Run) string {
	var parts []string
	in, out := r.Request.InputTokensAsked, r.Request.OutputTokensAsked
	switch {
	case in > 0 && out > 0:
		parts = append(parts, fmt.Sprintf("%s input and %s output tokens per request", whole(in), whole(out)))
	case in > 0:
		parts = append(parts, whole(in)+" input tokens per request")
	case out > 0:
		parts = append(parts, whole(out)+" output tokens per request")
	}
	for _, l := range []struct {
		load.Lengths
		kind string
	}{{r.Request.InputLengths, "input"}, {r.Request.OutputLengths, "output"}} {
		if l.Asked != "" {
			parts = append(parts, fmt.Sprintf("%s %s tokens per request on average (%s)", plots.Number(l.Mean), l.kind, l.Asked))
		}
	}
	if r.Request.Stream {
		parts = append(parts, "streaming")
	} else if len(parts) > 0 && r.Settings.Passes > 0 { // else no sweep of ours, and it is not told
		parts = append(parts, "without streaming")
	}
	if r.Model != "" {
		parts = append(parts, "model "+r.Model)
	}
	return strings.Join(parts, ", ")
}

// whole writes a count with its thousands grouped.
func whole(n int) string { return plots.Grouped(fmt.Sprint(n)) }

// validLevels counts the valid steps.
func validLevels(c analysis.Curve) int {
	n := 0
	for _, s := range c.Steps {
		if s.Valid {
			n++
		}
	}
	return n
}

// wrap breaks text into lines of at most width runes; lines after the first
// start with indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// sentence ends text with a full stop and starts it with a capital.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(text)
	text = strings.ToUpper(string(r)) + text[n:]
	if !strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		text += "."
	}
	return text
}
