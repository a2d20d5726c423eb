// Package plan says how many replicas of an endpoint a stream of arrivals needs.
//
//	curve ─▶ service: how long requests take with n of them in one replica
//	      ─▶ replica: a queue in front of s streams, simulated event by event
//	      ─▶ the highest rate that keeps the limits, for every s that was measured
//	      ─▶ replicas = ⌈rate / that⌉, head-room, cost
//
// A closed loop has no queue of its own; users arrive whenever they like, and what
// waits for a free stream waits before its first token. So limits hold here from the
// arrival on, and a level that meets them in a closed loop is only the beginning.
//
// All functions are pure and safe for concurrent use: the same curve gives the same
// plan bit for bit. Times are seconds, rates requests/s.
package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kneesweep/analysis"
	"kneesweep/analysis/cost"
	"kneesweep/analysis/slo"
	"kneesweep/load"
)

const (
	busiest  = 0.99 // share of the saturated rate that is planned with at most: above it a queue has no end
	alike    = 0.01 // rates that differ by less are the same: then fewer streams win
	coarse   = 20_000
	medium   = 60_000
	fine     = 400_000    // requests of a simulation
	halvings = 8          // of the rate
	monthly  = 730 * 3600 // seconds
	maxCount = 1_000_000  // replicas
)

// stability is what limits a replica that keeps every limit up to the busiest.
const stability = "stability"

// ErrUnmet says that no number of replicas keeps the limits.
var ErrUnmet = errors.New("no number of replicas meets the limits")

// Demand is what is to be served. Arrivals are independent of each other (Poisson)
// and of the replica that they are given to (by chance).
type Demand struct {
	Rate     float64 // requests/s, more than 0
	Limits   slo.Limits
	Headroom float64 // spare share of the rate
}

// Plan is the answer. Intervals come from the scatter of the measured throughput.
type Plan struct {
	Demand      Demand
	Replicas    load.Estimate // whole numbers
	Streams     int           // that each replica is given at most; arrivals beyond wait
	PerReplica  load.Estimate // requests/s that one replica serves at most within the limits
	Saturated   float64       // requests/s that one replica completes at so many streams, whatever the limits
	Headroom    load.Estimate // how much the rate may grow, as a fraction
	Utilization float64       // rate of a replica over Saturated
	Expected    []Expectation // with the replicas of the plan, one for each limit on a latency
	Fewer       []Expectation // with one fewer; empty when there is only one
	Waiting     float64       // share of the requests that wait for a stream
	Month       load.Opt[load.Estimate]
	LimitedBy   string // the limit that is met last, or "stability"
	Warnings    []load.Warning
}

// Expectation is a percentile that a limit bounds.
type Expectation struct {
	Limit slo.Limit
	Value float64 // seconds; +Inf when the queue has no end
}

// Make plans for a demand. The error says what a curve lacks, or is [ErrUnmet] with
// the reason.
func Make(c analysis.Curve, d Demand) (Plan, error) {
	for _, l := range d.Limits {
		if l.Figure == slo.ITL {
			return Plan{}, fmt.Errorf("%s: gaps between tokens are not planned; limit tpot instead", l)
		}
	}
	s, err := newService(c)
	if err != nil {
		return Plan{}, err
	}
	streams, why := s.best(candidates(c, s, d.Limits), d.Limits)
	if streams == 0 {
		return Plan{}, fmt.Errorf("%w: %s", ErrUnmet, why)
	}
	p := Plan{Demand: d, Streams: streams, Saturated: s.saturated(streams)}
	p.PerReplica, p.LimitedBy = s.perReplica(streams, d.Limits)
	most := p.PerReplica.Value
	wanted := d.Rate * (1 + d.Headroom)
	count := func(each float64) float64 { return math.Max(1, math.Ceil(wanted/each-1e-9)) }
	p.Replicas = load.Estimate{Value: count(most), Lo: count(p.PerReplica.Hi), Hi: count(p.PerReplica.Lo)}
	if !(p.Replicas.Value <= maxCount) {
		return Plan{}, fmt.Errorf("%w: one replica serves %.3g requests/s within them", ErrUnmet, most)
	}
	spare := func(each float64) float64 { return p.Replicas.Value*each/d.Rate - 1 }
	p.Headroom = load.Estimate{Value: spare(most), Lo: spare(p.PerReplica.Lo), Hi: spare(p.PerReplica.Hi)}
	each := d.Rate / p.Replicas.Value
	p.Utilization = each / p.Saturated
	p.Expected, p.Waiting = s.expect(streams, each, d.Limits)
	if n := p.Replicas.Value; n > 1 {
		p.Fewer, _ = s.expect(streams, d.Rate/(n-1), d.Limits)
	}
	p.Month = month(c, p)
	p.Warnings = s.warnings
	return p, nil
}

// candidates are the numbers of streams that a replica may be given: the levels that
// were measured, up to what it runs at once, and that number. A limit on the error
// rate leaves out those where more failed.
func candidates(c analysis.Curve, s *service, limits slo.Limits) []int {
	var all []int
	for _, step := range c.Steps {
		if !step.Valid || step.Concurrency > s.most {
			continue
		}
		failed := func(l slo.Limit) bool { return l.Figure == slo.ErrorRate && step.ErrorRate.V > l.Allowed }
		if !slices.ContainsFunc(limits, failed) {
			all = append(all, step.Concurrency)
		}
	}
	if s.most > 0 && !slices.Contains(all, s.most) && len(all) > 0 {
		all = append(all, s.most)
	}
	return all
}

// best is the number of streams with which a replica serves most within the limits:
// the lowest of those that serve as much within a percent. It is 0 if none serves
// anything, and why says what fails.
func (s *service) best(all []int, limits slo.Limits) (streams int, why string) {
	if len(all) == 0 {
		return 0, "more requests fail at every level than the limits allow"
	}
	rates := make([]float64, len(all))
	for i, n := range all {
		rates[i], why = s.highest(n, limits, 1, coarse)
	}
	most := slices.Max(rates)
	if most == 0 {
		return 0, why + " is missed by requests that meet no others"
	}
	return all[slices.IndexFunc(rates, func(r float64) bool { return r >= most*(1-alike) })], ""
}

// perReplica is what one replica of so many streams serves at most, with its interval:
// what it would serve if all times were as long, or as short, as their interval says.
func (s *service) perReplica(streams int, limits slo.Limits) (load.Estimate, string) {
	most, by := s.highest(streams, limits, 1, fine)
	middle, _ := s.highest(streams, limits, 1, medium)
	slow, _ := s.highest(streams, limits, 1+s.spread, medium)
	fast, _ := s.highest(streams, limits, 1-s.spread, medium)
	if middle == 0 || most == 0 {
		return load.Estimate{Value: most, Hi: fast}, by
	}
	return load.Estimate{Value: most, Lo: most * min(1, slow/middle), Hi: most * max(1, fast/middle)}, by
}

// highest is the rate up to which one replica of so many streams keeps the limits,
// found by halving, and the limit that ends it; 0 if none is. Slower makes every
// time longer by that factor.
func (s *service) highest(streams int, limits slo.Limits, slower float64, requests int) (rate float64, by string) {
	top := busiest * s.saturated(streams) / slower
	keeps := func(rate float64, requests int) bool {
		o := s.simulate(streams, rate, slower, requests, limits)
		if !o.kept() {
			by = o.by()
		}
		return o.kept()
	}
	if keeps(top, requests) {
		return top, stability
	}
	lo, hi := 0.0, top
	if requests > coarse { // few requests tell where to look
		near, _ := s.highest(streams, limits, slower, coarse)
		if around := 0.9 * near; keeps(around, requests) {
			lo = around
		}
		if around := 1.1 * near; around < top && around > 0 && !keeps(around, requests) {
			hi = around
		}
	}
	for range halvings {
		if mid := (lo + hi) / 2; keeps(mid, requests) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, by
}

// expect is what a replica of so many streams gives at a rate.
func (s *service) expect(streams int, rate float64, limits slo.Limits) (all []Expectation, waiting float64) {
	endless := rate >= s.saturated(streams)
	o := s.simulate(streams, rate, 1, medium, limits)
	for i, l := range limits {
		if l.Figure == slo.ErrorRate {
			continue
		}
		e := Expectation{l, o.quantile(i)}
		if endless && l.Figure != slo.TPOT {
			e.Value = math.Inf(1)
		}
		all = append(all, e)
	}
	return all, float64(o.waited) / float64(max(1, o.n))
}

// month is what the plan costs in a month of 730 hours: its replicas by the hour,
// or its tokens.
func month(c analysis.Curve, p Plan) load.Opt[load.Estimate] {
	prices := c.Run.Settings.Prices
	if prices.Hour > 0 {
		each := prices.PerHour() * monthly / 3600
		return load.Some(load.Estimate{Value: p.Replicas.Value * each, Lo: p.Replicas.Lo * each, Hi: p.Replicas.Hi * each})
	}
	for _, s := range slices.Backward(c.Steps) {
		if per := cost.Of(s, prices); s.Valid && s.Concurrency <= p.Streams && per.OK && s.OutputLengthMean.OK {
			v := p.Demand.Rate * monthly * s.OutputLengthMean.V / 1e6 * per.V.PerMillion.Value
			return load.Some(load.Estimate{Value: v, Lo: math.NaN(), Hi: math.NaN()})
		}
	}
	return load.Opt[load.Estimate]{}
}
