package report

import (
	"fmt"
	"io"
	"time"

	"kneesweep/load"
	"kneesweep/plots"
)

// fact is one line of the account of what was asked and how.
type fact struct{ name, value string }

// markdownSettings writes what was asked of the endpoint and how it was
// measured; what is not recorded is left out.
func markdownSettings(w io.Writer, r load.Run) {
	fmt.Fprint(w, "## What was asked, and how it was measured\n\n")
	for _, f := range append(requestFacts(r), settingFacts(r)...) {
		if f.value != "" {
			fmt.Fprintf(w, "- %s: %s\n", f.name, escape(f.value))
		}
	}
	fmt.Fprintln(w)
}

func requestFacts(r load.Run) []fact {
	q := r.Request
	facts := []fact{
		{"Target", r.Target}, {"Model", r.Model}, {"Label", r.Label}, {"Dialect", q.Dialect}, {"Added to every request", q.Extra},
		{"Prompts", q.Source}, {"Prefix cache", q.Cache}, {"Data set", r.DatasetHash},
	}
	if q.InputTokensAsked > 0 || q.InputTokensGot.OK {
		s := "length not asked for"
		if q.InputTokensAsked > 0 {
			s = whole(q.InputTokensAsked) + " asked"
		}
		if q.InputTokensGot.OK {
			s += ", " + plots.Number(q.InputTokensGot.V) + " counted by the server on average"
		}
		facts = append(facts, fact{"Input tokens per request", s})
	}
	if q.OutputTokensAsked > 0 {
		facts = append(facts, fact{"Output tokens per request", whole(q.OutputTokensAsked) + " asked"})
	}
	for _, l := range []struct {
		load.Lengths
		name string
	}{{q.InputLengths, "Input"}, {q.OutputLengths, "Output"}} {
		if l.Asked != "" {
			facts = append(facts, fact{l.name + " tokens asked", fmt.Sprintf("%s, %s on average", l.Asked, plots.Number(l.Mean))})
		}
	}
	mode := "answers in one piece"
	if q.Stream {
		mode = "streaming"
	}
	if r.Settings.Passes == 0 { // a table does not say
		return facts
	}
	return append(facts, fact{"Transfer", mode})
}

func settingFacts(r load.Run) []fact {
	s := r.Settings
	if s.Passes == 0 {
		return nil
	}
	what := "level"
	facts := []fact{{"Load", "closed loop: each of N workers sends its next request when its last one has ended"}}
	add := func(name, value string) { facts = append(facts, fact{name, value}) }
	if s.Open() {
		what = "rate"
		facts[0].value = "open loop: requests come at their times, whatever became of those before (" + s.Arrivals + ")"
	}
	if s.Measurements > 0 {
		length := "each as long as the larger of 1 s and half the median request"
		switch {
		case s.Open() && s.Window == 0:
			length += ", and at least ten arrivals"
		case s.Requests > 0:
			length = "equal parts of the time that the requests took"
		case s.Window > 0:
			length = "of " + span(s.Window)
		}
		add("Windows per "+what, fmt.Sprintf("%d, %s", s.Measurements, length))
	}
	if s.Passes > 0 {
		add("Passes over the "+what+"s", whole(s.Passes))
	}
	if s.Warmup > 0 {
		add("Warm-up", fmt.Sprintf("at least %d discarded requests per visit", s.Warmup))
	}
	if s.Requests > 0 {
		add("Requests per level", fmt.Sprint(s.Requests))
	}
	if s.Think > 0 {
		add("Think time", span(s.Think))
	}
	if s.MaxErrorRate > 0 {
		add("Error rate allowed", percent(s.MaxErrorRate))
	}
	if s.SLO != "" {
		add("SLO", s.SLO)
	}
	if !r.Started.IsZero() {
		add("Started", r.Started.Format(time.RFC3339))
	}
	if r.Status != "" {
		status := string(r.Status)
		if r.StopReason != "" {
			status += " (" + r.StopReason + ")"
		}
		add("Ended", status)
	}
	add("Measured by", r.Tool)
	if r.ID != "" {
		add("Run", fmt.Sprintf("%s, seed %d", r.ID, r.Seed))
	}
	return facts
}

// span writes a duration with its unit.
func span(d time.Duration) string {
	if d < time.Second {
		return plots.Number(d.Seconds()*1e3) + " ms"
	}
	return plots.Number(d.Seconds()) + " s"
}
