package rows

import (
	"iter"

	"kneesweep/load"
)

func steps(r Run) iter.Seq[*load.Step] {
	return func(yield func(*load.Step) bool) {
		for i := range r.Steps {
			if !yield(&r.Steps[i]) {
				return
			}
		}
	}
}

// counted is a number that only we count: summaries of other tools do not tell it.
func counted(v func(*load.Step) int) func(*load.Step) load.Opt[int] {
	return func(s *load.Step) load.Opt[int] { return load.Opt[int]{V: v(s), OK: !s.Imported} }
}

// distribution is the columns of one distribution of a step.
func distribution(name, unit, about string, factor float64, of func(*load.Step) load.Dist) []column[*load.Step] {
	var all []column[*load.Step]
	for _, q := range []struct {
		name string
		of   func(load.Dist) float64
	}{
		{"p50", func(d load.Dist) float64 { return d.P50 }}, {"p90", func(d load.Dist) float64 { return d.P90 }},
		{"p95", func(d load.Dist) float64 { return d.P95 }}, {"p99", func(d load.Dist) float64 { return d.P99 }},
		{"mean", func(d load.Dist) float64 { return d.Mean }},
	} {
		suffix := "_" + unit
		if unit == "tokens/s" {
			suffix = "_tokens_per_second"
		}
		all = append(all, float(name+"_"+q.name+suffix, unit, about+", "+q.name, func(s *load.Step) load.Opt[float64] {
			d := of(s)
			return load.Opt[float64]{V: q.of(d) * factor, OK: d.Count > 0}
		}))
	}
	return all
}

// stepColumns are those of the levels, as in curve.json.
func stepColumns(run load.Run) []column[*load.Step] {
	type step = *load.Step
	all := []column[step]{
		text("run_id", "the run", func(step) string { return run.ID }),
		integer("concurrency", "streams", "N, the streams that were asked for", func(s step) load.Opt[int] { return count(s.Concurrency) }),
		boolean("valid", "whether the fit may use the level", func(s step) load.Opt[bool] { return load.Some(s.Valid) }),
		text("invalid_reason", "why it may not", func(s step) string { return s.InvalidReason }),
		boolean("steady", "whether it had settled", func(s step) load.Opt[bool] { return load.Opt[bool]{V: s.Steady, OK: !s.Imported} }),
		boolean("scout", "a level of few windows, on the way to the knee", func(s step) load.Opt[bool] { return load.Some(s.Scout) }),
		integer("windows", "windows", "windows measured", func(s step) load.Opt[int] { return count(len(s.Measurements)) }),
		float("output_tokens_per_second", "tokens/s", "output of all streams together, median of the windows", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: s.Throughput.V.Value, OK: s.Throughput.OK}
		}),
		float("output_tokens_per_second_lo", "tokens/s", "lower end of its 95 % interval", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: s.Throughput.V.Lo, OK: s.Throughput.OK}
		}),
		float("output_tokens_per_second_hi", "tokens/s", "upper end of its 95 % interval", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: s.Throughput.V.Hi, OK: s.Throughput.OK}
		}),
		float("requests_per_second", "requests/s", "requests that ended well", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: s.Requests, OK: !s.Imported || s.Requests > 0}
		}),
		float("goodput_requests_per_second", "requests/s", "of these, those that met every limit of --slo", func(s step) load.Opt[float64] { return s.Goodput }),
	}
	all = append(all, distribution("decode", "tokens/s", "speed of one stream while it decodes, 1/TPOT", 1, func(s step) load.Dist { return s.Decode })...)
	for _, d := range []struct {
		name, about string
		of          func(step) load.Dist
	}{
		{"ttft", "time to first token", func(s step) load.Dist { return s.TTFT }},
		{"ttfc", "time to first content", func(s step) load.Dist { return s.TTFC }},
		{"ttft_cached", "time to first token of requests of which a cache had half of the prompt or more", func(s step) load.Dist { return s.Hits }},
		{"ttft_uncached", "time to first token of the others, where the server tells of a cache", func(s step) load.Dist { return s.Misses }},
		{"connect", "dialling and TLS, of requests that dialled", func(s step) load.Dist { return s.Connect }},
		{"tpot", "time per output token of a request", func(s step) load.Dist { return s.TPOT }},
		{"itl", "gap between tokens", func(s step) load.Dist { return s.ITL }},
		{"icl", "gap between chunks", func(s step) load.Dist { return s.ICL }},
		{"e2e", "whole request", func(s step) load.Dist { return s.E2E }},
	} {
		all = append(all, distribution(d.name, "ms", d.about, 1e3, d.of)...)
	}
	return append(all, auditColumns()...)
}

// auditColumns are what the figures of a level are believed by.
func auditColumns() []column[*load.Step] {
	type step = *load.Step
	within := func(v func(load.Concurrency) int) func(step) load.Opt[int] {
		return func(s step) load.Opt[int] {
			return load.Opt[int]{V: v(s.DecodeConcurrency), OK: s.DecodeConcurrency.OK}
		}
	}
	client := func(v func(load.ClientHealth) float64) func(step) load.Opt[float64] {
		return func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: v(s.Client.V), OK: s.Client.OK && s.Client.V.Cores > 0}
		}
	}
	return []column[step]{
		float("in_flight_mean", "requests", "requests in flight, mean over time", func(s step) load.Opt[float64] { return load.Opt[float64]{V: s.InFlight.Mean, OK: s.InFlight.OK} }),
		integer("in_flight_peak", "requests", "requests in flight, peak", func(s step) load.Opt[int] { return load.Opt[int]{V: s.InFlight.Peak, OK: s.InFlight.OK} }),
		float("decode_concurrency_mean", "streams", "streams between first and last token, mean over time", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: s.DecodeConcurrency.Mean, OK: s.DecodeConcurrency.OK}
		}),
		integer("decode_concurrency_mode", "streams", "the number that held for the longest time", within(func(c load.Concurrency) int { return c.Mode })),
		integer("decode_concurrency_p90", "streams", "90 % of the time not exceeded", within(func(c load.Concurrency) int { return c.P90 })),
		integer("decode_concurrency_peak", "streams", "peak", within(func(c load.Concurrency) int { return c.Peak })),
		float("littles_law", "ratio", "requests/s · mean time in flight / N", func(s step) load.Opt[float64] { return s.LittlesLaw }),
		integer("started", "requests", "in flight when the windows began, or sent inside them", counted(func(s step) int { return s.Started })),
		integer("finished", "requests", "ended well", func(s step) load.Opt[int] {
			return load.Opt[int]{V: s.Finished, OK: !s.Imported || s.Finished > 0 || s.ErrorRate.OK}
		}),
		integer("failed", "requests", "ended otherwise", func(s step) load.Opt[int] { return load.Opt[int]{V: s.Failed, OK: !s.Imported || s.ErrorRate.OK} }),
		integer("in_flight_at_end", "requests", "not ended within the windows", counted(func(s step) int { return s.InFlightAtEnd })),
		float("error_rate", "share", "failed / (finished + failed)", func(s step) load.Opt[float64] { return s.ErrorRate }),
		float("backoff_ms", "ms", "time spent waiting after failures, summed over streams", func(s step) load.Opt[float64] {
			return load.Opt[float64]{V: millis(s.Backoff).V, OK: !s.Imported}
		}),
		text("token_source", "who counted the tokens", func(s step) load.TokenSource { return s.TokenSource }),
		float("hidden_share", "share", "tokens that were billed and never streamed", func(s step) load.Opt[float64] { return s.HiddenShare }),
		float("cached_share", "share", "prompt tokens out of a cache", func(s step) load.Opt[float64] { return s.CachedShare }),
		integer("canary_asked", "requests", "questions of --canary that were answered", func(s step) load.Opt[int] { return load.Opt[int]{V: s.Canary.V.Asked, OK: s.Canary.OK} }),
		integer("canary_passed", "requests", "of these, answered as expected", func(s step) load.Opt[int] { return load.Opt[int]{V: s.Canary.V.Passed, OK: s.Canary.OK} }),
		float("canary_output_length_mean", "tokens", "of their answers", func(s step) load.Opt[float64] { return load.Opt[float64]{V: s.Canary.V.Length, OK: s.Canary.OK} }),
		float("output_length_mean", "tokens", "output tokens of a request, mean", func(s step) load.Opt[float64] { return s.OutputLengthMean }),
		float("prompt_tokens_mean", "tokens", "prompt tokens of a request, mean", func(s step) load.Opt[float64] { return s.PromptTokensMean }),
		integer("connections_opened", "requests", "sent on a new connection", counted(func(s step) int { return s.ConnectionsOpened })),
		integer("connections_reused", "requests", "sent on an open connection", counted(func(s step) int { return s.ConnectionsReused })),
		integer("replayed", "requests", "sent again by the HTTP client", counted(func(s step) int { return s.Replayed })),
		integer("retries", "attempts", "after the first of a request", counted(func(s step) int { return s.Retries })),
		float("drift", "share", "(last pass − first pass) / their mean", func(s step) load.Opt[float64] { return s.Drift }),
		float("client_cpu", "share", "of the cores that the client may use", client(func(c load.ClientHealth) float64 { return c.CPU })),
		float("client_lag_p99_ms", "ms", "from the arrival of a chunk until it was read, p99", client(func(c load.ClientHealth) float64 { return c.LagP99 * 1e3 })),
		boolean("client_bound", "whether the client was the limit", func(s step) load.Opt[bool] { return load.Opt[bool]{V: s.Client.V.Bound, OK: s.Client.OK} }),
	}
}
