package sweep

import (
	"time"

	"kneesweep/analysis/steady"
	"kneesweep/load"
)

// ended is what a request that ended well brought.
type ended struct {
	at              time.Duration
	tokens, chunks  int
	whole, decoding time.Duration // from the send, and from the first token, to the last
}

// live sums up a visit for the policy. Chunks count when they arrive, with the
// tokens a chunk of the requests that have ended; where answers come in one piece,
// or windows were cut after the fact, their tokens count when they end.
func (v *visit) live() load.Live {
	out := load.Live{TTFT: quantile(v.ttft, 0.5), TPOT: quantile(v.tpot, 0.5), E2E: v.median()}
	var tokens, chunks int
	var whole, decoding time.Duration
	for _, e := range v.done {
		tokens += e.tokens
		chunks += e.chunks
		whole += e.whole
		decoding += e.decoding
	}
	if whole > 0 {
		out.Decoding = float64(v.out.Level.Concurrency) * decoding.Seconds() / whole.Seconds()
	}
	bins := v.meter.span.Load()
	counted := bins != nil && len(bins.bins) > 0 && chunks > 0
	for _, w := range v.out.Windows {
		sum := 0.0
		if counted {
			first := int((w.From-bins.from)/(w.To-w.From)) * steady.BinsPerWindow
			for _, n := range bins.counts(first, first+steady.BinsPerWindow) {
				sum += n
			}
			sum *= float64(tokens) / float64(chunks)
		} else {
			for _, e := range v.done {
				if w.Holds(e.at) {
					sum += float64(e.tokens)
				}
			}
		}
		out.Rates = append(out.Rates, sum/w.Seconds())
	}
	return out
}
