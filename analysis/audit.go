package analysis

import (
	"fmt"
	"sort"
	"strings"

	"kneesweep/load"
)

const (
	inFlightFloor   = 0.95 // share of the expected in-flight below which a step is not valid
	enoughForLittle = 100  // completions, and 5 per stream
	estimatedShare  = 0.01 // of tokens counted as chunks, above which the step is an estimate
)

// count fills in what was started, finished and failed. Started counts what was
// in flight when a span began or was sent inside it, so that it equals
// finished + failed + in flight at the end. The account of a visit that failures
// ended goes on to its end, since they came after its last whole window.
func (d *levelData) count(st *load.Step) {
	st.Failures = map[string]int{}
	d.each(func(s *load.Sample, span load.Span) {
		st.Started++
		switch {
		case s.End >= span.To:
			st.InFlightAtEnd++
		case s.Failed():
			st.Failed++
			st.Failures[string(s.Cause)]++
		default:
			st.Finished++
		}
		if span.Holds(s.Sent) {
			st.Replayed += s.Replayed
			st.Retries += s.Retries
			if s.Reused {
				st.ConnectionsReused++
			} else if s.Dialled {
				st.ConnectionsOpened++
			}
		}
	})
	d.finished = st.Finished
	if t := d.seconds(); t > 0 {
		st.Requests = float64(d.finished) / t
	}
	d.countRest(st)
	if ended := st.Finished + st.Failed; ended > 0 {
		st.ErrorRate = load.Some(float64(st.Failed) / float64(ended))
	}
	st.Waves = float64(st.Finished) / float64(d.n)
	for i := range d.stays {
		st.Backoff += d.stays[i].Backoff
	}
}

// countRest counts the requests outside the windows of visits that failures ended.
func (d *levelData) countRest(st *load.Step) {
	for i := range d.stays {
		measured := len(d.stays[i].Windows) > 0
		for _, s := range d.stays[i].rest {
			if measured && s.Sent < d.stays[i].span.To { // counted as in flight at the end
				st.InFlightAtEnd--
			} else {
				st.Started++
			}
			switch {
			case s.Cause == load.CauseCanceled:
				st.InFlightAtEnd++
			case s.Failed():
				st.Failed++
				st.Failures[string(s.Cause)]++
			default:
				st.Finished++
			}
		}
	}
}

// audit fills in the checks that are stored with every step.
func (d *levelData) audit(st *load.Step) {
	d.auditTokens(st)
	var delay []float64
	residence := 0.0
	d.each(func(s *load.Sample, span load.Span) {
		if s.Dispatch.OK && span.Holds(s.Sent) {
			delay = append(delay, s.Dispatch.V.Seconds())
		}
		residence += (min(s.End, span.To) - max(s.Sent, span.From)).Seconds()
	})
	st.DispatchDelay = dist(delay)
	if d.finished >= 5*d.n && d.finished >= enoughForLittle {
		r := residence / float64(d.finished)
		z := d.run.Settings.Think.Seconds() // a stream in its pause is in the loop, too
		st.LittlesLaw = load.Some(st.Requests * (r + z) / float64(d.n))
	}
	st.Canary = d.canaries()
	d.clientHealth(st)
}

// auditTokens fills in where the tokens came from and what the server said.
func (d *levelData) auditTokens(st *load.Step) {
	st.Models, st.Fingerprints, st.Headers = map[string]int{}, map[string]int{}, map[string]int{}
	var a tokenAccount
	d.each(func(s *load.Sample, span load.Span) { a.add(s, span, &d.tokens, st) })
	st.Headers = fewValues(st.Headers)
	st.TokensPerChunk = d.tokens.perChunk
	st.TokenSource = a.source()
	if a.tokens > 0 {
		st.ScaledShare = a.scaled / a.tokens
	}
	ratio := func(num, den float64) load.Opt[float64] {
		if den <= 0 {
			return load.Opt[float64]{}
		}
		return load.Some(num / den)
	}
	st.HiddenShare = ratio(a.hidden, a.output)
	st.OutputLengthMean = ratio(a.output, a.answers)
	st.PromptTokensMean = ratio(a.prompt, a.prompts)
	if a.cacheTold {
		st.CachedShare = ratio(a.cached, a.promptCache)
	}
}

// tokenAccount sums over the requests of a step.
type tokenAccount struct {
	output, hidden, answers   float64
	prompt, prompts           float64
	cached, promptCache       float64
	cacheTold                 bool
	tokens, scaled, estimated float64 // credited inside the spans
}

func (a *tokenAccount) add(s *load.Sample, span load.Span, m *tokenModel, st *load.Step) {
	c := m.of(s)
	inside := (c.visible + c.hidden) * overlap(c.over, span)
	for i := range s.Chunks {
		if span.Holds(s.Chunks[i].At) {
			inside += c.tokensOf(s.Chunks[i])
		}
	}
	a.tokens += inside
	switch c.basis {
	case fromRatio:
		a.scaled += inside
	case fromChunks:
		a.estimated += inside
	}
	if s.Failed() || !span.Holds(s.End) {
		return
	}
	a.output += float64(s.OutputTokens)
	a.hidden += float64(s.HiddenTokens)
	a.answers++
	if s.PromptTokens.OK {
		a.prompt += float64(s.PromptTokens.V)
		a.prompts++
		if s.CachedTokens.OK {
			a.cacheTold = true
			a.cached += float64(s.CachedTokens.V)
			a.promptCache += float64(s.PromptTokens.V)
		}
	}
	if s.Model != "" {
		st.Models[s.Model]++
	}
	if s.Fingerprint != "" {
		st.Fingerprints[s.Fingerprint]++
	}
	for _, h := range s.Headers {
		st.Headers[h]++
	}
}

// source is the least trusted source of the tokens; estimates count from 1 %.
func (a *tokenAccount) source() load.TokenSource {
	switch {
	case a.tokens <= 0:
		return ""
	case a.estimated > estimatedShare*a.tokens:
		return load.SourceEstimated
	case a.scaled > 0:
		return load.SourceServerScaled
	}
	return load.SourceServer
}

// judge decides whether the step may enter the fit.
func (d *levelData) judge(st *load.Step) {
	var why []string
	if d.cut != "" {
		why = append(why, d.cut)
	}
	limit := d.run.Settings.MaxErrorRate
	over := st.ErrorRate.OK && st.ErrorRate.V > limit
	for i := range d.stays {
		if e := d.stays[i].Ended; e == load.EndedThrottled || e == load.EndedFailing {
			if st.Failed > 0 && !over {
				e += " (" + failures(st.Failures) + ")"
			}
			why = append(why, e)
			break
		}
	}
	if over {
		why = append(why, fmt.Sprintf("error rate %.1f %% over the limit of %.1f %% (%s)",
			100*st.ErrorRate.V, 100*limit, failures(st.Failures)))
	}
	switch {
	case len(st.Measurements) == 0:
		why = append(why, "no window was measured")
	case !st.Throughput.OK:
		why = append(why, "no tokens")
	}
	if d.short(st) {
		why = append(why, d.missing(st))
	}
	if c := st.Client.V; c.Bound {
		why = append(why, "the client was at its limit: "+c.Reason)
	}
	st.Valid = len(why) == 0
	st.InvalidReason = strings.Join(why, "; ")
}

// expectedInFlight is N·R/(R + Z) for think time Z. A span begins with the end
// of a warm-up request, so with a pause; what the pause takes of it is allowed.
func (d *levelData) expectedInFlight(st *load.Step) float64 {
	z := d.run.Settings.Think.Seconds()
	if z == 0 || st.E2E.Count == 0 {
		return float64(d.n)
	}
	cycle := st.E2E.Mean + z
	paused := z * float64(len(d.stays)) / max(d.seconds(), cycle)
	return float64(d.n) * st.E2E.Mean / cycle * max(0, 1-paused)
}

// short tells whether fewer requests than expected were in flight.
func (d *levelData) short(st *load.Step) bool {
	return st.InFlight.OK && st.InFlight.Mean < inFlightFloor*d.expectedInFlight(st)
}

// missing says why fewer requests than expected were in flight.
func (d *levelData) missing(st *load.Step) string {
	text := fmt.Sprintf("%.3g requests in flight of %.3g expected", st.InFlight.Mean, d.expectedInFlight(st))
	switch {
	case st.Backoff > 0 && st.Failed > 0:
		text += fmt.Sprintf(": streams waited %.3g s after failures (%s)", st.Backoff.Seconds(), failures(st.Failures))
	case st.DispatchDelay.Count > 0 && st.DispatchDelay.P50 > 0.01*st.E2E.Mean:
		text += fmt.Sprintf(": streams needed %.3g ms between two requests (median)", 1000*st.DispatchDelay.P50)
	}
	return text
}

// failures lists causes, most frequent first.
func failures(f map[string]int) string {
	names := make([]string, 0, len(f))
	for k := range f {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool {
		if f[names[i]] != f[names[j]] {
			return f[names[i]] > f[names[j]]
		}
		return names[i] < names[j]
	})
	for i, k := range names {
		names[i] = fmt.Sprintf("%d %s", f[k], k)
	}
	return strings.Join(names, ", ")
}
