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
	if p := c.Run.Preflight; p != nil {
		return "Nothing was measured. " + sentence(strings.TrimSuffix(
			fmt.Sprintf("The preflight, one request, failed (%s): %s", p.Cause, p.Error), ": "))
	}
	if c.Rates != nil {
		return rateVerdict(c)
	}
	parts := []string{kneeSentence(c), retrogradeSentence(c), softSentence(c), causeSentence(c)}
	parts = append(parts, admissionSentence(c), sloSentence(c), allowSentence(c), costSentence(c), confirmSentence(c), endedSentence(c), measuredSentence(c))
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
		return fmt.Sprintf("The knee is not located up to %s, the highest level measured: if there is one, "+
			"too few levels lie beyond it; sweep to at least %s.", streams(last), plots.Streams(2*last))
	case knee.StillRising:
		last := lastLevel(c)
		if !k.RisePerDoubling.OK {
			return fmt.Sprintf("Throughput is not shown to level off up to %s, the highest level measured: "+
				"measure longer, or sweep to at least %s.", streams(last), plots.Streams(2*last))
		}
		return fmt.Sprintf("Throughput still rises at %s, the highest level measured, by %s per doubling of the streams: "+
			"the knee lies higher, so sweep further.", streams(last), percent(k.RisePerDoubling.V))
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
	if b := plots.Interval(e); b != "" {
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
	return "The bend is soft: throughput turns over a range of levels rather than at one, " +
		"so the interval understates the doubt."
}

func admissionSentence(c analysis.Curve) string {
	if !c.Admission.OK {
		return ""
	}
	a := c.Admission.V
	bounds := ""
	if b := plots.Interval(a); b != "" && a.Lo != a.Hi {
		bounds = " (bounds " + b + ")"
	}
	noun := "streams"
	if plots.Streams(a.Value) == "1" {
		noun = "stream"
	}
	lead := "The server"
	if causedByAdmission(c) {
		lead = "The cause is admission: the server"
	}
	return fmt.Sprintf("%s decodes at most %s %s at once%s and queues the rest, so beyond that only "+
		"the wait for the first token grows.", lead, plots.Streams(a.Value), noun, bounds)
}

// causes says each cause in words.
var causes = map[string]string{
	analysis.CauseAdmission: "the server decodes a fixed number of streams at once",
	analysis.CauseCompute:   "every stream decodes more slowly as streams are added",
	analysis.CausePrefill:   "the server is busy reading prompts",
	analysis.CauseThrottled: "the endpoint refuses requests to limit its clients",
	analysis.CauseNetwork:   "the network path carries no more bytes",
	analysis.CauseClient:    "the measuring machine is the limit, not the endpoint",
	analysis.CauseUnknown:   "not clear from the measurements",
}

// causedByAdmission reports whether the admission limit, which has a sentence of
// its own, is the cause.
func causedByAdmission(c analysis.Curve) bool {
	return c.Admission.OK && c.Cause != nil && c.Cause.Name == analysis.CauseAdmission
}

func causeSentence(c analysis.Curve) string {
	if c.Cause == nil || causedByAdmission(c) {
		return ""
	}
	words, known := causes[c.Cause.Name]
	switch {
	case !known:
		return "The cause is " + c.Cause.Name + "."
	case c.Cause.Name == analysis.CauseUnknown:
		return "The cause is " + words + "."
	}
	return "The cause is " + c.Cause.Name + ": " + words + "."
}

// limits names what limits the recommendation.
var limits = map[string]string{
	"knee": "the knee", "admission": "the admission limit", "slo": "the service level objective",
}

func allowSentence(c analysis.Curve) string {
	r := c.Recommended
	if !r.Concurrency.OK {
		if met, unmet := sloLevels(c); met == nil && unmet != nil {
			return "So no number of streams to allow follows."
		}
		switch c.Knee.Verdict {
		case knee.NotLocated, knee.StillRising:
			return "There is no number of streams to allow yet."
		}
		return "No number of streams to allow follows from this."
	}
	s := "Allow " + streams(float64(r.Concurrency.V))
	if by, known := limits[r.LimitedBy]; known {
		s += ", limited by " + by
	}
	if r.LimitedBy == "knee" && c.Knee.Verdict == knee.Found {
		s += ": they reach 95 % of the plateau"
	}
	return s + "."
}

func confirmSentence(c analysis.Curve) string {
	if c.Confirm == nil {
		return ""
	}
	return sentence(strings.ToUpper(c.Confirm.Text[:1]) + c.Confirm.Text[1:])
}

func endedSentence(c analysis.Curve) string {
	var s string
	switch c.Run.Status {
	case load.StatusComplete:
		if c.Run.StopReason == "" {
			return ""
		}
		s = "The sweep chose its levels and ended by itself"
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
	switch s := shape(c.Run); {
	case s != "":
		return "Measured with " + s + ", " + loop
	case c.Run.Settings.Passes > 0:
		return "Measured " + loop
	}
	return "Model and request shape are not recorded."
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
