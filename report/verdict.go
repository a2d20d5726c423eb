package report

import (
	"fmt"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
	"kneesweep/plots"
)

// neededLevels is the number of valid levels below which no knee is looked for.
const neededLevels = 4

// Verdict says in plain sentences where throughput stops growing, how sure that
// is, why, how many streams to allow, and what was measured: text that can be
// pasted into a ticket.
func Verdict(c analysis.Curve) string {
	parts := []string{kneeSentence(c), retrogradeSentence(c), softSentence(c), admissionSentence(c)}
	parts = append(parts, causeSentence(c), allowSentence(c), endedSentence(c), measuredSentence(c))
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

// kneeSentence has one sentence for each verdict.
func kneeSentence(c analysis.Curve) string {
	k := c.Knee
	if validLevels(c) == 0 {
		return noValidSentence(c)
	}
	switch k.Verdict {
	case knee.Found:
		return fmt.Sprintf("Throughput stops growing at %s%s%s.",
			streams(k.Concurrency.V.Value), confidence(k.Concurrency.V), onPlateau(k, ", on a plateau of "))
	case knee.AtOrBelowFirst:
		return fmt.Sprintf("Throughput does not grow past the first level, %s%s: the knee lies there or lower, "+
			"and more streams buy only waiting time.", streams(float64(firstValid(c))), onPlateau(k, " with a plateau of "))
	case knee.NotLocated:
		last := lastLevel(c)
		return fmt.Sprintf("The knee is not located: throughput bends too close to %s, the highest level measured, "+
			"to say where it stops growing; sweep to at least %s.", streams(last), plots.Streams(2*last))
	case knee.StillRising:
		last := lastLevel(c)
		rise := ""
		if k.RisePerDoubling.OK {
			rise = fmt.Sprintf(", by %s per doubling of the streams", percent(k.RisePerDoubling.V))
		}
		return fmt.Sprintf("Throughput still rises at %s, the highest level measured%s: there is no knee below that.",
			streams(last), rise)
	}
	return tooFewSentence(c)
}

func tooFewSentence(c analysis.Curve) string {
	valid := validLevels(c)
	noun := "levels"
	if valid == 1 {
		noun = "level"
	}
	s := fmt.Sprintf("Too few levels for a knee: %d valid %s measured, at least %d needed", valid, noun, neededLevels)
	if lost := len(c.Steps) - valid; lost > 0 {
		s += fmt.Sprintf(" (%d not valid)", lost)
	}
	return s + "."
}

func noValidSentence(c analysis.Curve) string {
	if len(c.Steps) == 0 {
		return "No level was measured, so nothing can be said about the endpoint."
	}
	s := "No level gave a valid measurement, so nothing can be said about the knee"
	if reason := c.Steps[0].InvalidReason; reason != "" {
		s += fmt.Sprintf("; at %s: %s", streams(float64(c.Steps[0].Concurrency)), reason)
	}
	return sentence(s)
}

// confidence is " (95 % interval 22–26)" when there is an interval.
func confidence(e load.Estimate) string {
	if b := between(e, plots.Streams); b != "" {
		return " (95 % interval " + b + ")"
	}
	return ""
}

func onPlateau(k knee.Result, lead string) string {
	if !finiteOpt(k.Plateau).OK {
		return ""
	}
	return lead + plots.Number(k.Plateau.V) + " output tokens/s"
}

func retrogradeSentence(c analysis.Curve) string {
	r := c.Knee.Retrograde
	if r == nil {
		return ""
	}
	return fmt.Sprintf("From %s on throughput declines, to %s below the plateau at the highest level.",
		streams(float64(r.From)), percent(r.Drop))
}

func softSentence(c analysis.Curve) string {
	if !c.Knee.Soft {
		return ""
	}
	return "The bend is soft: weighting the levels differently moves the knee by more than 25 %, " +
		"so the interval understates the doubt."
}

func admissionSentence(c analysis.Curve) string {
	if !c.Admission.OK {
		return ""
	}
	a := c.Admission.V
	bounds := ""
	if b := between(a, plots.Streams); b != "" && a.Lo != a.Hi {
		bounds = " (between " + strings.Replace(b, "–", " and ", 1) + ")"
	}
	noun := "streams"
	if plots.Streams(a.Value) == "1" {
		noun = "stream"
	}
	return fmt.Sprintf("The server decodes at most %s %s at once%s and queues the rest, so beyond that only "+
		"the wait for the first token grows.", plots.Streams(a.Value), noun, bounds)
}

// causes says each cause in words.
var causes = map[string]string{
	"admission": "the server admits a fixed number of streams",
	"compute":   "every stream decodes more slowly as streams are added (compute or memory bandwidth)",
	"prefill":   "reading the prompts is the bottleneck (prefill)",
	"throttled": "the endpoint throttles its clients",
	"network":   "the network path is full",
	"client":    "the measuring machine is the limit, not the endpoint",
	"unknown":   "not clear from the measurements",
}

func causeSentence(c analysis.Curve) string {
	if c.Cause == nil {
		return ""
	}
	words, known := causes[c.Cause.Name]
	if !known {
		words = c.Cause.Name
	}
	return "Cause: " + words + "."
}

// limits names what limits the recommendation.
var limits = map[string]string{
	"knee": "the knee", "admission": "the admission limit", "slo": "the service level objective",
}

func allowSentence(c analysis.Curve) string {
	r := c.Recommended
	if !r.Concurrency.OK {
		if r.Reason == "" {
			return "No number of streams to allow follows from this."
		}
		return sentence("No number of streams to allow follows from this: " + r.Reason)
	}
	s := "Allow " + streams(float64(r.Concurrency.V))
	if by, known := limits[r.LimitedBy]; known {
		s += ", limited by " + by
	}
	return s + "."
}

func endedSentence(c analysis.Curve) string {
	var s string
	switch c.Run.Status {
	case load.StatusInterrupted:
		s = "The sweep was interrupted before its end"
	case load.StatusStopped:
		s = "The sweep stopped before its end"
	default:
		return ""
	}
	if c.Run.StopReason != "" {
		s += ": " + c.Run.StopReason
	}
	return sentence(s)
}

func measuredSentence(c analysis.Curve) string {
	const loop = "in a closed loop: latencies are those at a fixed number of streams, not at an arrival rate."
	if s := shape(c.Run); s != "" {
		return "Measured with " + s + ", " + loop
	}
	return "Measured " + loop
}

func firstValid(c analysis.Curve) int {
	for _, s := range c.Steps {
		if s.Valid {
			return s.Concurrency
		}
	}
	return 0
}

// lastLevel is the highest level that counts: the lower bound of the knee, else
// the last valid level.
func lastLevel(c analysis.Curve) float64 {
	if c.Knee.LowerBound.OK {
		return c.Knee.LowerBound.V
	}
	last := 0
	for _, s := range c.Steps {
		if s.Valid {
			last = s.Concurrency
		}
	}
	return float64(last)
}
