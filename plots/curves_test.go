package plots

import (
	"math"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// ideal is a curve measured on an ideal server: per tokens/s for each stream up
// to k streams, then a plateau, TTFT growing with the queue.
func ideal(levels []int, k, per float64) analysis.Curve {
	c := analysis.Curve{Run: load.Run{
		Started: time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC), Target: "http://gpu-7.example:8000/v1", Model: "llama-3.1-8b-instruct",
		Status:   load.StatusComplete,
		Request:  load.RequestShape{InputTokensAsked: 200, OutputTokensAsked: 40, Stream: true, Dialect: "chat"},
		Settings: load.Settings{Measurements: 10, Passes: 2},
	}}
	for _, n := range levels {
		c.Steps = append(c.Steps, idealStep(n, k, per))
	}
	return c
}

func idealStep(n int, k, per float64) load.Step {
	x := per * math.Min(float64(n), k)
	s := load.Step{Concurrency: n, Valid: true, Steady: true, Started: 100, Finished: 100, ErrorRate: load.Some(0.0)}
	for i := range 10 {
		s.Measurements = append(s.Measurements, x*(1+0.06*math.Sin(float64(7*i+3*n))))
	}
	s.Throughput = load.Some(load.Estimate{Value: x, Lo: x * 0.965, Hi: x * 1.03})
	wait := math.Max(0, float64(n)/k-1) * 40 / per
	s.TTFT = load.Dist{P50: 0.08 + wait, P90: 0.12 + 1.2*wait, P95: 0.14 + 1.3*wait, P99: 0.2 + 1.5*wait, Mean: 0.1 + wait, Count: 100}
	tpot := 1 / per
	s.TPOT = load.Dist{P50: tpot, P90: tpot, P95: tpot, P99: tpot, Mean: tpot, Count: 100}
	s.ITL = s.TPOT
	s.Decode = load.Dist{P50: per, P90: per, P95: per, P99: per, Mean: per, Count: 100}
	s.E2E = load.Dist{P50: wait + 40*tpot, P90: 1.2*wait + 40*tpot, P95: 1.3*wait + 40*tpot, P99: 1.5*wait + 41*tpot, Mean: wait + 40*tpot, Count: 100}
	s.InFlight = load.CountStat{Mean: float64(n), Peak: n, OK: true}
	return s
}

// found sets the verdict of c to a knee at k.
func found(c analysis.Curve, k, per float64) analysis.Curve {
	c.Knee = knee.Result{
		Verdict: knee.Found, Method: "segmented", Concurrency: load.Some(load.Estimate{Value: k, Lo: k * 0.92, Hi: k * 1.08}),
		Plateau: load.Some(k * per), Slope: load.Some(per), N95: load.Some(0.95 * k),
		Fit: &knee.Segment{B: per, K: k, From: c.Steps[0].Concurrency, To: c.Steps[len(c.Steps)-1].Concurrency},
	}
	c.Recommended = analysis.Recommended{Concurrency: load.Some(int(math.Ceil(k))), LimitedBy: "knee"}
	return c
}

func doubling(to int) []int {
	var all []int
	for n := 1; n <= to; n *= 2 {
		all = append(all, n)
	}
	return all
}

func levelsBy(from, to, step int) []int {
	var all []int
	for n := from; n <= to; n += step {
		all = append(all, n)
	}
	return all
}

// curves are curves that are awkward to draw, by name.
func curves() map[string]analysis.Curve {
	all := map[string]analysis.Curve{}
	same := found(ideal(doubling(128), 24, 245), 24, 245)
	same.Admission = load.Some(load.Estimate{Value: 24, Lo: 16, Hi: 24})
	same.Cause = &analysis.Cause{Name: "admission"}
	same.Run.Truth = &load.Truth{Knee: 24, AdmissionLimit: 24}
	all["coincident"] = same

	left := found(ideal([]int{1, 2, 3, 4, 6, 8, 16, 32, 64}, 1.6, 90), 1.6, 90)
	left.Admission = load.Some(load.Estimate{Value: 2, Lo: 1, Hi: 2})
	left.Run.Truth = &load.Truth{Knee: 2}
	all["left"] = left

	right := found(ideal(doubling(128), 100, 30), 100, 30)
	right.Admission = load.Some(load.Estimate{Value: 120, Lo: 64, Hi: 120})
	all["right"] = right

	open := ideal(doubling(64), 50, 60)
	open.Knee = knee.Result{
		Verdict: knee.NotLocated, LowerBound: load.Some(64.0), Plateau: load.Some(3000.0),
		Fit: &knee.Segment{B: 60, K: 50, From: 1, To: 64},
	}
	all["not_located"] = open

	rising := ideal(doubling(64), 500, 60)
	rising.Knee = knee.Result{Verdict: knee.StillRising, LowerBound: load.Some(64.0), RisePerDoubling: load.Some(0.83)}
	all["still_rising"] = rising

	retro := found(ideal(doubling(256), 24, 245), 24, 245)
	for i := range retro.Steps {
		if s := &retro.Steps[i]; s.Concurrency > 64 {
			*s = idealStep(s.Concurrency, 24*64/float64(s.Concurrency), 245)
		}
	}
	retro.Knee.Fit.To = 64
	retro.Knee.Retrograde = &knee.Retrograde{From: 128, Drop: 0.75}
	all["retrograde"] = retro

	few := ideal([]int{4, 8, 12, 16}, 10, 40)
	few.Knee = knee.Result{Verdict: knee.AtOrBelowFirst, Plateau: load.Some(400.0)}
	few.Recommended = analysis.Recommended{Concurrency: load.Some(4), LimitedBy: "knee"}
	all["four_linear"] = few

	failed := found(ideal(doubling(128), 24, 245), 24, 245)
	failed.Steps[7].Valid, failed.Steps[7].InvalidReason = false, "error rate 31 % is over the limit of 5 %"
	failed.Steps[7].Failures, failed.Steps[7].Failed = map[string]int{"http_429": 31}, 31
	failed.Steps[6] = load.Step{Concurrency: 64, InvalidReason: "no tokens"}
	failed.Steps[2].Throughput.V.Value *= 0.6
	failed.Knee.Outliers = []int{4}
	all["failed"] = failed

	many := found(ideal(levelsBy(5, 100, 5), 40, 33), 40, 33)
	many.Recommended = analysis.Recommended{Concurrency: load.Some(38), LimitedBy: "slo"}
	all["many_linear"] = many
	all["many_log"] = found(ideal([]int{1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128}, 30, 33), 30, 33)
	all["huge"] = found(ideal(doubling(4096), 1500, 260), 1500, 260)
	all["tiny"] = found(ideal(doubling(8), 3, 1e-3), 3, 1e-3)
	all["millions"] = found(ideal(doubling(64), 16, 1e6), 16, 1e6)
	scouts := found(ideal([]int{1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64}, 24, 245), 24, 245)
	for i := range scouts.Steps {
		if s := &scouts.Steps[i]; s.Concurrency < 12 || s.Concurrency > 48 {
			s.Scout, s.Measurements = true, s.Measurements[:2]
		}
	}
	all["scouts"] = scouts
	all["tiny_values"] = found(ideal(doubling(64), 12, 1e-6), 12, 1e-6)
	all["huge_values"] = found(ideal(doubling(64), 12, 1e9), 12, 1e9)
	all["huge_levels"] = found(ideal([]int{1, 1000, 1e6, 1e9, 2e9}, 1e6, 1e-3), 1e6, 1e-3)
	hard(all)
	return all
}

// hard adds the curves that have hardly anything to draw.
func hard(all map[string]analysis.Curve) {
	one := ideal([]int{8}, 24, 245)
	one.Knee.Verdict = knee.TooFewLevels
	all["one_level"] = one
	all["empty"] = analysis.Curve{}
	none := ideal(doubling(8), 24, 245)
	for i := range none.Steps {
		none.Steps[i] = load.Step{Concurrency: none.Steps[i].Concurrency, InvalidReason: "no tokens"}
	}
	all["none_valid"] = none
	equal := ideal(doubling(16), 1, 100)
	equal.Knee.Verdict = knee.AtOrBelowFirst
	all["all_equal"] = equal
	zero := ideal(doubling(16), 1, 0)
	for i := range zero.Steps {
		zero.Steps[i].TTFT = load.Dist{Count: 1}
	}
	all["zeros"] = zero
	csv := found(ideal(doubling(64), 12, 100), 12, 100)
	csv.Run = load.Run{}
	for i := range csv.Steps {
		s := csv.Steps[i]
		csv.Steps[i] = load.Step{Concurrency: s.Concurrency, Valid: true, Measurements: s.Measurements[:1],
			Throughput: load.Some(load.Estimate{Value: s.Measurements[0], Lo: math.NaN(), Hi: math.NaN()})}
	}
	csv.Knee.Concurrency.V.Lo, csv.Knee.Concurrency.V.Hi = math.NaN(), math.NaN()
	all["throughput_only"] = csv
	bad := found(ideal(doubling(64), 12, 100), 12, 100)
	bad.Steps[2].Measurements[3], bad.Steps[3].Throughput.V.Hi = math.NaN(), math.Inf(1)
	bad.Steps[4].TTFT.P50, bad.Steps[5].Decode.P50 = math.NaN(), math.Inf(1)
	bad.Knee.Plateau, bad.Knee.Fit.A = load.Some(math.NaN()), math.NaN()
	bad.Knee.Concurrency.V.Value = math.NaN()
	all["not_finite"] = bad
	wide := found(ideal(doubling(64), 12, 100), 12, 100)
	for i := range wide.Steps {
		wide.Steps[i].TTFT.P50 = 1e-3 * math.Pow(10, float64(i))
		wide.Steps[i].TTFT.P95 = 3e-3 * math.Pow(10, float64(i))
	}
	wide.Run.Model = "<b>&an-extremely-long-model-name-that-somebody-gave-to-a-quantised-fine-tune/of-another-model-with-a-long-name-q4_k_m"
	all["wide_ttft"] = wide
}
