package report

import (
	"fmt"
	"math"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// atJSON is what the curve says of a number of streams that was asked for; null if
// none was.
type atJSON struct {
	Concurrency int           `json:"concurrency"`
	Why         string        `json:"why"`
	Below       int           `json:"below"`
	Above       int           `json:"above"`
	Throughput  *intervalJSON `json:"output_tokens_per_second"`
	Decode      *intervalJSON `json:"decode_tokens_per_second_p50"`
	TTFT        *intervalJSON `json:"ttft_p50_ms"`
	TPOT        *intervalJSON `json:"tpot_p50_ms"`
	KneeBetween bool          `json:"knee_between"`
}

func atOf(r *analysis.Reading) *atJSON {
	if r == nil {
		return nil
	}
	return &atJSON{
		Concurrency: r.Concurrency, Why: r.Why, Below: r.Below, Above: r.Above, KneeBetween: r.KneeBetween,
		Throughput: intervalOrNull(r.Throughput), Decode: intervalOrNull(r.Decode), TTFT: intervalOrNull(scaled(r.TTFT, 1e3)),
		TPOT: intervalOrNull(scaled(r.TPOT, 1e3)),
	}
}

func (j *atJSON) load() *analysis.Reading {
	if j == nil {
		return nil
	}
	return &analysis.Reading{
		Concurrency: j.Concurrency, Why: j.Why, Below: j.Below, Above: j.Above, KneeBetween: j.KneeBetween,
		Throughput: j.Throughput.opt(), Decode: j.Decode.opt(), TTFT: scaled(j.TTFT.opt(), 1e-3),
		TPOT: scaled(j.TPOT.opt(), 1e-3),
	}
}

// scaled is an interval in another unit.
func scaled(e load.Opt[load.Estimate], by float64) load.Opt[load.Estimate] {
	if !e.OK {
		return e
	}
	return load.Some(load.Estimate{Value: e.V.Value * by, Lo: e.V.Lo * by, Hi: e.V.Hi * by})
}

// AtSentence says what a curve says of a number of streams, and how it is known.
func AtSentence(r analysis.Reading) string {
	figure := func(e load.Opt[load.Estimate], unit string) string {
		if !e.OK {
			return "not known"
		}
		if math.IsNaN(e.V.Lo) || math.IsNaN(e.V.Hi) {
			return plots.Number(e.V.Value) + unit
		}
		return fmt.Sprintf("%s%s (%s–%s)", plots.Number(e.V.Value), unit, plots.Number(e.V.Lo), plots.Number(e.V.Hi))
	}
	why := ""
	if r.Why != "" {
		why = ", " + r.Why
	}
	how := "this level was measured"
	if r.Below < r.Above {
		how = fmt.Sprintf("interpolated on the straight line between the levels %d and %d, whose errors are taken as independent", r.Below, r.Above)
		if r.KneeBetween {
			how += "; the knee may lie between them, and then throughput is rather more than said"
		}
	}
	streams := "streams"
	if r.Concurrency == 1 {
		streams = "stream"
	}
	return fmt.Sprintf("At %s parallel %s%s: throughput %s, decode rate of one stream %s, TTFT p50 %s; 95 %% intervals. %s.",
		whole(r.Concurrency), streams, why, figure(r.Throughput, " tokens/s"), figure(r.Decode, " tokens/s"), figure(scaled(r.TTFT, 1e3), " ms"), upperFirst(how))
}

// upperFirst begins a sentence.
func upperFirst(s string) string { return string(s[0]-'a'+'A') + s[1:] }
