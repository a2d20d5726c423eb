package rows

import (
	"iter"
	"time"

	"kneesweep/load"
)

func requests(r Run) iter.Seq[*load.Sample] {
	return func(yield func(*load.Sample) bool) {
		for i := range r.Samples {
			if !yield(&r.Samples[i]) {
				return
			}
		}
	}
}

// visits finds the level of a visit by its index.
func visits(r Run) func(index int) load.Opt[load.Level] {
	levels := map[int]load.Level{}
	for _, v := range r.Visits {
		levels[v.Index] = v.Level
	}
	return func(index int) load.Opt[load.Level] {
		l, ok := levels[index]
		return load.Opt[load.Level]{V: l, OK: ok}
	}
}

// whose are the columns that say where a request belongs.
func whose(r Run) []column[*load.Sample] {
	type sample = *load.Sample
	level := visits(r)
	return []column[sample]{
		text("run_id", "the run", func(sample) string { return r.Run.ID }),
		integer("request_id", "", "number of the request within the run", func(s sample) load.Opt[int] { return count(int(s.ID)) }),
		integer("visit", "", "number of the visit of a level that sent it, −1 in an open loop", func(s sample) load.Opt[int] { return count(s.Visit) }),
		integer("concurrency", "streams", "N of that visit", func(s sample) load.Opt[int] {
			l := level(s.Visit)
			return load.Opt[int]{V: l.V.Concurrency, OK: l.OK}
		}),
	}
}

// requestColumns are those of the single requests.
func requestColumns(r Run) []column[*load.Sample] {
	type sample = *load.Sample
	all := append(whose(r),
		boolean("warmup", "sent while its visit warmed up", func(s sample) load.Opt[bool] { return load.Some(s.Warmup) }),
		float("scheduled_ms", "ms", "in an open loop, when it was meant to be sent", func(s sample) load.Opt[float64] { return millisOpt(s.Scheduled) }),
		float("sent_ms", "ms", "when it was sent, t0", func(s sample) load.Opt[float64] { return millis(s.Sent) }),
		float("end_ms", "ms", "when it ended or failed, tE", func(s sample) load.Opt[float64] { return millis(s.End) }),
		boolean("ok", "whether it ended well", func(s sample) load.Opt[bool] { return load.Some(!s.Failed()) }),
		text("cause", "why it did not; canceled = cut off by the end of the sweep", func(s sample) load.Cause { return s.Cause }),
		integer("status", "", "HTTP status", func(s sample) load.Opt[int] { return load.Opt[int]{V: s.Status, OK: s.Status > 0} }),
		text("error", "what was said, without secrets", func(s sample) string { return s.Error }),
		float("retry_after_ms", "ms", "wait that the server asked for", func(s sample) load.Opt[float64] { return millisOpt(s.RetryAfter) }))
	all = append(all, requestTimes()...)
	optional := func(n load.Opt[int]) load.Opt[int] { return n }
	return append(all,
		integer("output_tokens", "tokens", "generated, hidden ones included", func(s sample) load.Opt[int] {
			return load.Opt[int]{V: s.OutputTokens, OK: s.TokenSource != ""}
		}),
		integer("hidden_tokens", "tokens", "of these, never streamed", func(s sample) load.Opt[int] {
			return load.Opt[int]{V: s.HiddenTokens, OK: s.TokenSource != ""}
		}),
		text("token_source", "who counted them", func(s sample) load.TokenSource { return s.TokenSource }),
		integer("prompt_tokens", "tokens", "as the server counted", func(s sample) load.Opt[int] { return optional(s.PromptTokens) }),
		integer("cached_tokens", "tokens", "of the prompt, out of a cache", func(s sample) load.Opt[int] { return optional(s.CachedTokens) }),
		integer("reasoning_tokens", "tokens", "of the output", func(s sample) load.Opt[int] { return optional(s.ReasoningTokens) }),
		integer("canary", "", "number of the question of --canary; null for other requests", func(s sample) load.Opt[int] { return load.Opt[int]{V: s.Canary, OK: s.Canary > 0} }),
		boolean("canary_as_expected", "the answer to it was the one expected", func(s sample) load.Opt[bool] { return load.Opt[bool]{V: s.AsExpected, OK: s.Canary > 0} }),
		text("finish_reason", "as the server said", func(s sample) string { return s.FinishReason }),
		text("model", "that answered", func(s sample) string { return s.Model }),
		text("fingerprint", "of the system that answered", func(s sample) string { return s.Fingerprint }),
		boolean("streaming", "the answer came as a stream", func(s sample) load.Opt[bool] { return load.Some(s.Streaming) }),
		boolean("reused", "sent on an open connection", func(s sample) load.Opt[bool] { return load.Some(s.Reused) }),
		integer("replayed", "", "times that the HTTP client sent it again", func(s sample) load.Opt[int] { return count(s.Replayed) }),
		integer("retries", "", "attempts after the first", func(s sample) load.Opt[int] { return count(s.Retries) }),
		text("protocol", "of HTTP", func(s sample) string { return s.Protocol }),
		text("clock", "who stamped the arrivals: kernel or user", func(s sample) string { return s.Clock }))
}

// requestTimes are the latencies of a request. A failed one has none but the time it took.
func requestTimes() []column[*load.Sample] {
	type sample = *load.Sample
	return []column[sample]{
		float("connect_ms", "ms", "dialling and TLS; null when the connection was open", func(s sample) load.Opt[float64] {
			return load.Opt[float64]{V: millis(s.Connect).V, OK: s.Dialled}
		}),
		float("ttft_ms", "ms", "time to first token, tF − t0", func(s sample) load.Opt[float64] { return millisOpt(s.TTFT()) }),
		float("ttfc_ms", "ms", "time to first content", func(s sample) load.Opt[float64] { return millisOpt(s.TTFC()) }),
		float("tpot_ms", "ms", "time per output token, (tL − tF) / (n − n1)", func(s sample) load.Opt[float64] { return scaled(s.TPOT()) }),
		float("last_token_ms", "ms", "tL − t0", func(s sample) load.Opt[float64] {
			l := s.LastToken()
			return millisOpt(load.Opt[time.Duration]{V: l.V - s.Sent, OK: l.OK})
		}),
		float("e2e_ms", "ms", "tE − t0", func(s sample) load.Opt[float64] { return millis(s.E2E()) }),
		float("dispatch_ms", "ms", "from the end of the stream's previous request to t0, deliberate waits excluded", func(s sample) load.Opt[float64] { return millisOpt(s.Dispatch) }),
		integer("chunks", "chunks", "token-bearing events of its stream", func(s sample) load.Opt[int] { return count(len(s.Chunks)) }),
	}
}

// chunk is one chunk of a request.
type chunk struct {
	sample *load.Sample
	index  int
}

func chunks(r Run) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for i := range r.Samples {
			for k := range r.Samples[i].Chunks {
				if !yield(chunk{&r.Samples[i], k}) {
					return
				}
			}
		}
	}
}

// chunkColumns are those of the chunks of streams.
func chunkColumns(r Run) []column[chunk] {
	var all []column[chunk]
	for _, c := range whose(r) {
		all = append(all, column[chunk]{c.Column, func(x chunk) any { return c.value(x.sample) }})
	}
	return append(all,
		integer("chunk", "", "number within the request, from 0", func(x chunk) load.Opt[int] { return count(x.index) }),
		float("at_ms", "ms", "when it arrived", func(x chunk) load.Opt[float64] { return millis(x.sample.Chunks[x.index].At) }),
		float("since_sent_ms", "ms", "the same from t0 of its request", func(x chunk) load.Opt[float64] {
			return millis(x.sample.Chunks[x.index].At - x.sample.Sent)
		}),
		float("gap_ms", "ms", "since the chunk before; null for the first", func(x chunk) load.Opt[float64] {
			if x.index == 0 {
				return load.Opt[float64]{}
			}
			return millis(x.sample.Chunks[x.index].At - x.sample.Chunks[x.index-1].At)
		}),
		integer("tokens", "tokens", "that it carried, where the server's usage grew with it; else null", func(x chunk) load.Opt[int] {
			n := int(x.sample.Chunks[x.index].Tokens)
			return load.Opt[int]{V: n, OK: n > 0}
		}))
}
