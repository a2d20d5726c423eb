package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// RateSweep is what a sweep over offered rates says: an open loop, in which requests come
// whatever became of those before.
type RateSweep struct {
	Process     string          // how requests arrive, in words
	Replay      bool            // they came as in a trace: one step, no knee
	Streams     int             // most requests in flight; arrivals beyond waited in the client
	Steps       []load.RateStep // ascending
	Knee        RateKnee
	Recommended RateAdvice
}

// rateSweep computes the steps of a sweep over rates and their knee; nil if none was
// asked for.
func rateSweep(d Data) *RateSweep {
	if !d.Run.Settings.Open() {
		return nil
	}
	out := &RateSweep{Process: d.Run.Settings.Arrivals, Replay: d.Run.Settings.Replay}
	byRate := map[float64][]load.OpenPhase{}
	for _, p := range d.Open {
		if p.Level == 0 {
			byRate[p.Rate] = append(byRate[p.Rate], p)
			out.Streams = max(out.Streams, p.Streams)
		}
	}
	all := d.requests()
	for _, rate := range slices.Sorted(maps.Keys(byRate)) {
		out.Steps = append(out.Steps, rateStep(d.Run, byRate[rate], all))
	}
	if out.Replay {
		out.Recommended.Text = "A replayed trace is one step: it says how this traffic is served, and not where the knee lies."
		return out
	}
	out.Knee = rateKnee(out.Steps, d.Run.Seed)
	out.Recommended = adviseRate(out)
	return out
}

// rateStep pools the phases of one rate.
func rateStep(run load.Run, phases []load.OpenPhase, all requests) load.RateStep {
	level := openLevel(run, phases, all)
	var st load.Step
	level.throughput(&st)
	level.latencies(&st)
	level.concurrency(&st)
	level.count(&st)
	level.audit(&st)
	out := load.RateStep{
		Rate: phases[0].Rate, Measured: level.measured(), Window: st.Window, Measurements: st.Measurements, Throughput: st.Throughput, Drift: st.Drift,
		Requests: st.Requests, InFlight: st.InFlight, Finished: st.Finished, Failed: st.Failed, Failures: st.Failures, ErrorRate: st.ErrorRate,
		OutputLengthMean: st.OutputLengthMean, TTFT: st.TTFT, TPOT: st.TPOT, E2E: st.E2E, Client: st.Client,
	}
	for _, p := range phases {
		if slices.ContainsFunc(level.stays, func(s stay) bool { return s.Index == -1-p.Index }) {
			out.Arrivals += p.Arrivals
			out.Waited += p.Waited
			out.Unsent += p.Unsent
		}
	}
	out.ScheduledTTFT, out.ScheduledE2E, out.Delay = level.fromSchedule()
	judgeRate(run, level, &out)
	return out
}

// judgeRate decides whether a rate may enter the fit. Unlike in a closed loop the number
// in flight is an outcome, so it decides nothing.
func judgeRate(run load.Run, level *levelData, st *load.RateStep) {
	var why []string
	if level.cut != "" {
		why = append(why, level.cut)
	}
	for i := range level.stays {
		if e := level.stays[i].Ended; e == load.EndedThrottled || e == load.EndedFailing {
			why = append(why, fmt.Sprintf("%s (%s)", e, failures(st.Failures)))
			break
		}
	}
	if limit := run.Settings.MaxErrorRate; len(why) == 0 && st.ErrorRate.OK && st.ErrorRate.V > limit {
		why = append(why, fmt.Sprintf("error rate %.1f %% over the limit of %.1f %% (%s)", 100*st.ErrorRate.V, 100*limit, failures(st.Failures)))
	}
	switch {
	case len(st.Measurements) == 0:
		why = append(why, "no window was measured")
	case !st.Throughput.OK && len(why) == 0:
		why = append(why, "no tokens in half of the windows: measure longer (--window)")
	}
	if c := st.Client.V; c.Bound {
		why = append(why, "the client was at its limit: "+c.Reason)
	}
	st.Valid = len(why) == 0
	st.InvalidReason = strings.Join(why, "; ")
}

// RateAdvice is a rate to allow, and how many streams are busy at it.
type RateAdvice struct {
	Rate    load.Opt[float64] // requests/s
	Streams load.Opt[int]     // in flight there on average, by Little's law, rounded up
	Text    string
}

// adviseRate recommends the rate at which the fit reaches 95 % of its plateau. The number
// in flight there is at least its product with the mean E2E, from the schedule, of the
// highest rate measured up to it.
func adviseRate(r *RateSweep) (a RateAdvice) {
	k := r.Knee
	switch {
	case len(r.Steps) == 0:
		a.Text = "No rate was measured."
	case k.Rate.OK && k.N95.OK:
		a.Rate = k.N95
		a.Text = fmt.Sprintf("Allow %s requests/s: the endpoint then gives 95 %% of the %s tokens/s that it can; beyond %s requests/s the queue grows as long as requests come",
			figure(k.N95.V), figure(k.Plateau.V), figure(k.Rate.V.Value))
		if at, ok := lastUpTo(r.Steps, k.N95.V); ok {
			a.Streams = load.Some(max(1, ceil(k.N95.V*at.ScheduledE2E.Mean)))
			a.Text += fmt.Sprintf("; at least about %s are in flight there, by Little's law: %s requests/s of %s each, the mean measured at %s requests/s",
				streams(a.Streams.V), figure(k.N95.V), span(at.ScheduledE2E.Mean), figure(at.Rate))
		}
		a.Text += "."
	case k.Verdict == knee.NotLocated && k.Plateau.OK:
		a.Text = fmt.Sprintf("The endpoint seems to fall behind from about %s requests/s on, but too few rates, or too uneven ones, say so: offer more rates around and above it, or measure longer.", figure(k.Fit.K))
	case k.LowerBound.OK:
		a.Text = fmt.Sprintf("The endpoint is not shown to fall behind up to %s requests/s: offer higher rates, such as %s.", figure(k.LowerBound.V), figure(2*k.LowerBound.V))
	case k.Plateau.OK:
		a.Text = fmt.Sprintf("Allow less than %s requests/s, the lowest rate offered: the endpoint already fell behind there; offer lower rates.", figure(firstRate(r.Steps)))
	default:
		a.Text = "A knee takes at least 4 valid rates: offer more of them."
	}
	return a
}

// lastUpTo is the highest valid rate up to x whose answers have a mean E2E.
func lastUpTo(steps []load.RateStep, x float64) (load.RateStep, bool) {
	for _, s := range slices.Backward(steps) {
		if s.Valid && s.Rate <= x*(1+1e-9) && s.ScheduledE2E.Count > 0 {
			return s, true
		}
	}
	return load.RateStep{}, false
}

// firstRate is the lowest valid rate.
func firstRate(steps []load.RateStep) float64 {
	for _, s := range steps {
		if s.Valid {
			return s.Rate
		}
	}
	return math.NaN()
}

// unusableRates is [Unusable] for offered rates.
func unusableRates(c Curve) string {
	valid := 0
	for _, s := range c.Rates.Steps {
		if s.Valid {
			valid++
		}
	}
	switch {
	case valid == 0 && c.Run.StopReason != "":
		return fmt.Sprintf("no rate could be measured, since %s; the causes are in the table", c.Run.StopReason)
	case valid == 0:
		return "no rate could be measured; the causes are in the table"
	}
	return ""
}
