package analysis

import (
	"math"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// RateKnee is where the tokens/s of an open loop stop following the rate offered: the
// corner of X(λ) = A + B·min(λ, K), found and judged by the rules of [knee.Choose].
type RateKnee struct {
	Verdict         knee.Verdict
	Rate            load.Opt[load.Estimate] // requests/s; defined only for knee.Found
	LowerBound      load.Opt[float64]       // highest rate, for knee.NotLocated and knee.StillRising
	Plateau         load.Opt[float64]       // tokens/s
	Slope           load.Opt[float64]       // tokens a request: tokens/s for each request/s more below the knee
	N95             load.Opt[float64]       // smallest rate at which the fit reaches 95 % of its plateau
	Soft            bool
	Retrograde      *RateDecline // nil unless throughput declines past the plateau
	Outliers        []float64    // rates left out
	RisePerDoubling load.Opt[float64]
	Fit             *RateFit // nil when none was fitted
	Warnings        []load.Warning
}

// RateDecline says that throughput declines past the plateau.
type RateDecline struct {
	From float64 // first rate certainly below the plateau
	Drop float64 // fraction of the plateau lost at the last rate
}

// RateFit is the fitted curve, over the rates From to To.
type RateFit struct{ A, B, K, From, To float64 }

// At returns the fitted throughput in tokens/s at a rate.
func (f RateFit) At(rate float64) float64 { return f.A + f.B*min(rate, f.K) }

// MinRate is the smallest rate that can be told from another, in requests/s. Points of
// package knee count whole streams, so rates are given to it in this unit; all its
// rules are ratios, which do not depend on it.
const MinRate = 0.001

// rateKnee fits the valid steps.
func rateKnee(steps []load.RateStep, seed uint64) RateKnee {
	var points []knee.Point
	single := true
	for _, s := range steps {
		if s.Valid {
			points = append(points, knee.Point{N: int(math.Round(s.Rate / MinRate)), Windows: s.Measurements})
			single = single && len(s.Measurements) < 2
		}
	}
	r := knee.Choose(points, seed)
	k := RateKnee{
		Verdict: r.Verdict, LowerBound: inRates(r.LowerBound), Plateau: r.Plateau, N95: inRates(r.N95), Soft: r.Soft, RisePerDoubling: r.RisePerDoubling,
	}
	if c := r.Concurrency; c.OK {
		k.Rate = load.Some(load.Estimate{Value: c.V.Value * MinRate, Lo: c.V.Lo * MinRate, Hi: c.V.Hi * MinRate})
	}
	if r.Slope.OK {
		k.Slope = load.Some(r.Slope.V / MinRate)
	}
	if f := r.Fit; f != nil {
		k.Fit = &RateFit{A: f.A, B: f.B / MinRate, K: f.K * MinRate, From: float64(f.From) * MinRate, To: float64(f.To) * MinRate}
	}
	for _, n := range r.Outliers {
		k.Outliers = append(k.Outliers, float64(n)*MinRate)
	}
	if d := r.Retrograde; d != nil {
		k.Retrograde = &RateDecline{From: float64(d.From) * MinRate, Drop: d.Drop}
	}
	k.Warnings = rateDoubts(k, single)
	return k
}

// inRates is a number of points in requests/s.
func inRates(n load.Opt[float64]) load.Opt[float64] {
	if n.OK {
		n.V *= MinRate
	}
	return n
}

// rateDoubts says in rates what the warnings of a knee say in streams.
func rateDoubts(k RateKnee, single bool) []load.Warning {
	var doubts []load.Warning
	for _, rate := range k.Outliers {
		doubts = append(doubts, load.Warnf(load.WarnOutlier, "%s requests/s contradict the rates beside them and were left out of the fit: measure them again", figure(rate)))
	}
	if single && k.Fit != nil {
		doubts = append(doubts, load.Warnf(load.WarnLowConfidence, "one window a rate: the spread of a rate is not known"))
	}
	if k.Soft {
		doubts = append(doubts, load.Warnf(load.WarnSoftKnee, "soft knee: throughput falls behind the offered rate over a range of rates rather than at one"))
	}
	if k.Verdict == knee.NotLocated && k.Fit != nil && k.Fit.K < k.LowerBound.V*(1-1e-9) {
		doubts = append(doubts, load.Warnf(load.WarnLowConfidence, "the fit puts the knee at %s requests/s, but its interval reaches the last rate", figure(k.Fit.K)))
	}
	return doubts
}
