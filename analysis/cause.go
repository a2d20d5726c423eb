package analysis

import (
	"fmt"
	"math"
	"slices"

	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// The names of a [Cause].
const (
	CauseThrottled = "throttled"
	CauseClient    = "client"
	CauseNetwork   = "network"
	CauseAdmission = "admission"
	CauseCompute   = "compute"
	CausePrefill   = "prefill"
	CauseUnknown   = "unknown"
)

const (
	throttledShare = 0.01  // of the requests of a level refused with 429
	steep          = 0.8   // elasticity from which a latency grows with N
	flat           = 0.2   // elasticity below which it does not
	growing        = 0.5   // elasticity from which D keeps growing
	connectFactor  = 2     // by which connect time grows when the network is full
	connectSeconds = 0.005 // and by at least so much
	connectSamples = 5     // connections that a level must have opened to say so
)

// saturation is what the levels at or above the knee say. Elasticities are of
// the medians against N, undefined with fewer than two levels that have one.
type saturation struct {
	levels, throttled, clientBound int
	firstBound                     int // the lowest level at which the client was bound, and why
	boundReason                    string
	refused, requests              int
	tpot, ttft, decode             load.Opt[float64]
	tpotRises                      bool // at every level
	connectFrom, connectTo         load.Opt[float64]
	ceiling                        load.Opt[load.Estimate]
	ceilingAtKnee                  bool
}

// findCause says what saturated, by the first rule that holds at the levels at
// or above the knee: throttled, client, network, admission, compute, prefill.
// Otherwise it is unknown, and the two rules that came nearest are named. nil
// without a knee.
func findCause(c Curve) *Cause {
	if c.Knee.Verdict != knee.Found || !c.Knee.Concurrency.OK {
		return nil
	}
	s := observe(c)
	switch {
	case 2*s.throttled >= s.levels && s.throttled > 0:
		return &Cause{CauseThrottled, []string{fmt.Sprintf(
			"%d of %d requests at or above the knee were refused with status 429, at %d of %d levels", s.refused, s.requests, s.throttled, s.levels)}}
	case 2*s.clientBound >= s.levels && s.clientBound > 0:
		return &Cause{CauseClient, []string{
			fmt.Sprintf("the measuring client itself was at its limit at %d of %d levels at or above the knee", s.clientBound, s.levels),
			fmt.Sprintf("at N = %d: %s", s.firstBound, s.boundReason),
			"so the endpoint may do more: " + relief}}
	case s.network():
		return &Cause{CauseNetwork, []string{
			fmt.Sprintf("connect time grows from %s to %s above the knee", span(s.connectFrom.V), span(s.connectTo.V)),
			"time per token grows at every level above the knee while tokens/s, and with them the bytes/s, stay flat"}}
	case s.ceilingAtKnee && below(s.tpot, flat):
		return &Cause{CauseAdmission, []string{
			fmt.Sprintf("no more than %d requests decode at once, at every level above, and that is where the knee lies", int(s.ceiling.V.Value)),
			"time per token stays the same: " + elasticity("TPOT", s.tpot)}}
	case atLeast(s.tpot, steep) && atLeast(s.decode, growing):
		return &Cause{CauseCompute, []string{
			"every stream slows down as streams are added: " + elasticity("TPOT", s.tpot),
			"the endpoint takes them all in: " + elasticity("decoding streams", s.decode)}}
	case s.decode.OK && math.Abs(s.decode.V) < flat && !s.ceiling.OK && atLeast(s.ttft, steep) && below(s.tpot, flat):
		return &Cause{CausePrefill, []string{
			"requests wait for their first token: " + elasticity("TTFT", s.ttft),
			"the number of decoding streams stays the same without a hard ceiling: " + elasticity("decoding streams", s.decode),
			"time per token stays the same: " + elasticity("TPOT", s.tpot)}}
	}
	return &Cause{CauseUnknown, s.nearest()}
}

func below(v load.Opt[float64], limit float64) bool   { return v.OK && v.V < limit }
func atLeast(v load.Opt[float64], limit float64) bool { return v.OK && v.V >= limit }

// observe collects the figures of the levels at or above the knee. Refusals and
// client limits count at invalid levels too, latencies at valid ones.
func observe(c Curve) saturation {
	k := c.Knee.Concurrency.V
	s := saturation{ceiling: c.Admission, tpotRises: true}
	var tpot, ttft, decode series
	lastTPOT := 0.0
	for _, step := range c.Steps {
		n := float64(step.Concurrency)
		if n < k.Value*(1-1e-9) {
			continue
		}
		s.levels++
		refused, requests := step.Failures[string(load.HTTPCause(429))], step.Finished+step.Failed
		s.refused, s.requests = s.refused+refused, s.requests+requests
		if refused > 0 && float64(refused) >= throttledShare*float64(requests) {
			s.throttled++
		}
		if step.Client.OK && step.Client.V.Bound {
			if s.clientBound++; s.clientBound == 1 {
				s.firstBound, s.boundReason = step.Concurrency, step.Client.V.Reason
			}
		}
		if !step.Valid || slices.Contains(c.Knee.Outliers, step.Concurrency) {
			continue
		}
		ttft.add(n, step.TTFT)
		tpot.add(n, step.TPOT)
		s.tpotRises = s.tpotRises && step.TPOT.Count > 0 && step.TPOT.P50 > lastTPOT
		lastTPOT = step.TPOT.P50
		if d := step.DecodeConcurrency; d.OK && d.Mean > 0 {
			decode.x, decode.y = append(decode.x, n), append(decode.y, d.Mean)
		}
		if step.Connect.Count >= connectSamples {
			if !s.connectFrom.OK {
				s.connectFrom = load.Some(step.Connect.P50)
			}
			s.connectTo = load.Some(step.Connect.P50)
		}
	}
	s.tpot, s.ttft, s.decode = tpot.elasticity(), ttft.elasticity(), decode.elasticity()
	s.ceilingAtKnee = s.ceiling.OK && ceilingReached(c, k)
	return s
}

// ceilingReached reports whether D meets its ceiling where the knee lies: the
// stretch from the last level certainly not limited to the first that is at the
// ceiling overlaps the interval of the knee.
func ceilingReached(c Curve, k load.Estimate) bool {
	ceiling := int(c.Admission.V.Value)
	reached := c.Admission.V.Hi
	for _, s := range c.Steps {
		if s.Valid && s.Concurrency > ceiling && s.DecodeConcurrency.OK && settled(s.DecodeConcurrency) == ceiling {
			reached = float64(s.Concurrency)
			break
		}
	}
	return c.Admission.V.Lo <= k.Hi && reached >= k.Lo
}

// network holds when time per token grows at every level and connect time grows
// too. That bytes/s are flat follows from tokens/s being flat above the knee.
func (s saturation) network() bool {
	return s.tpot.OK && s.tpotRises && s.connectFrom.OK && s.connectTo.V >= connectFactor*s.connectFrom.V &&
		s.connectTo.V-s.connectFrom.V >= connectSeconds
}

// nearest names the two rules that miss by least, by how far their elasticities
// are from the limits; a missing ceiling counts 1, one elsewhere a half.
func (s saturation) nearest() []string {
	if !s.tpot.OK {
		return []string{"time per token is not known at two levels at or above the knee, so no rule could be tried"}
	}
	type rule struct {
		name string
		miss float64
		why  string
	}
	tpot, ttft, decode := s.tpot.V, s.ttft.V, s.decode.V
	admissionMiss, why := 0.0, fmt.Sprintf("the ceiling of %d decoding streams is where the knee lies", int(s.ceiling.V.Value))
	switch {
	case !s.ceiling.OK:
		admissionMiss, why = 1, "decoding streams have no ceiling"
	case !s.ceilingAtKnee:
		admissionMiss, why = 0.5, fmt.Sprintf("the ceiling of %d decoding streams is not where the knee lies", int(s.ceiling.V.Value))
	}
	prefillMiss := max(0, math.Abs(decode)-flat) + max(0, steep-ttft) + max(0, tpot-flat)
	if s.ceiling.OK {
		prefillMiss += 0.5
	}
	rules := []rule{
		{CauseAdmission, admissionMiss + max(0, tpot-flat), why + ", " + elasticity("TPOT", s.tpot)},
		{CauseCompute, max(0, steep-tpot) + max(0, growing-decode), elasticity("TPOT", s.tpot) + ", " + elasticity("decoding streams", s.decode)},
		{CausePrefill, prefillMiss, elasticity("TTFT", s.ttft) + ", " + elasticity("decoding streams", s.decode)},
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		switch {
		case a.miss < b.miss:
			return -1
		case a.miss > b.miss:
			return 1
		}
		return 0
	})
	return []string{
		fmt.Sprintf("nearest: %s (%s)", rules[0].name, rules[0].why),
		fmt.Sprintf("next: %s (%s)", rules[1].name, rules[1].why),
	}
}

// series is a quantity against N.
type series struct{ x, y []float64 }

func (s *series) add(n float64, d load.Dist) {
	if d.Count > 0 && d.P50 > 0 {
		s.x, s.y = append(s.x, n), append(s.y, d.P50)
	}
}

func (s *series) elasticity() load.Opt[float64] {
	if e, ok := stat.Elasticity(s.x, s.y, 0.95); ok {
		return load.Some(e.Value)
	}
	return load.Opt[float64]{}
}

// elasticity puts an elasticity into words.
func elasticity(name string, e load.Opt[float64]) string {
	if !e.OK {
		return name + " not known"
	}
	change := math.Round(100 * (math.Exp2(e.V) - 1))
	return fmt.Sprintf("%s changes %+.0f %% per doubling of N", name, change+0) // +0: no minus zero
}
