package analysis

import (
	"kneesweep/load"
)

// Split is the curve of some of the requests of a run: throughput, latencies and
// token counts are those of the requests that match, while the levels count all
// streams and are valid, or not, as a whole. A level without a matching answer is
// not valid. where says in words which requests they are. The data must hold chunks.
func Split(d Data, where string, match func(*load.Sample) bool) Curve {
	whole := Summarize(d)
	if d.Stored != nil {
		d.Stored = matching{d.Stored, match, d.Run.Request.InputTokensAsked}
	}
	var some []load.Sample
	for i := range d.Samples {
		if match(&d.Samples[i]) {
			some = append(some, d.Samples[i])
		}
	}
	d.Samples = some
	steps := Summarize(d)
	for i := range steps {
		steps[i] = partOf(whole[i], steps[i])
	}
	run := d.Run
	run.Settings.SLO = "" // its limits are on all requests
	t := d.tally()
	run.Request.InputTokensGot = t.PromptMean()
	c := Build(run, steps)
	c.Warnings = append(c.Warnings, load.Warnf(load.WarnSplit, "the figures are those of the requests with %s only; N counts all streams", where))
	return c
}

// partOf puts the figures of some requests into the account of the whole step.
func partOf(whole, part load.Step) load.Step {
	part.Valid, part.InvalidReason = whole.Valid, whole.InvalidReason
	if whole.Valid && part.Finished == 0 {
		part.Valid, part.InvalidReason = false, "no answer that matches"
	}
	part.InFlight, part.DecodeConcurrency, part.LittlesLaw = whole.InFlight, whole.DecodeConcurrency, whole.LittlesLaw
	part.DispatchDelay, part.Client, part.Server, part.Backoff = whole.DispatchDelay, whole.Client, whole.Server, whole.Backoff
	part.Steady, part.Drift = whole.Steady, whole.Drift
	part.SLO, part.Goodput = load.Opt[load.SLO]{}, load.Opt[float64]{}
	return part
}

// matching are the stored requests that match.
type matching struct {
	Stored
	match func(*load.Sample) bool
	asked int // tokens of a prompt
}

// Tally is that of [Stored].
func (m matching) Tally() (t load.Tally) {
	m.Each(func(s *load.Sample) { t.Add(s, m.asked) })
	return t
}

// Overlapping is that of [Stored].
func (m matching) Overlapping(spans []load.Span, visits []int) []*load.Sample {
	var some []*load.Sample
	for _, s := range m.Stored.Overlapping(spans, visits) {
		if m.match(s) {
			some = append(some, s)
		}
	}
	return some
}

// Each is that of [Stored].
func (m matching) Each(f func(*load.Sample)) {
	m.Stored.Each(func(s *load.Sample) {
		if m.match(s) {
			f(s)
		}
	})
}
