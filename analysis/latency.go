package analysis

import (
	"cmp"
	"math"
	"slices"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// latencyValues are the single latencies of a step, in seconds, and the decode
// rates, in tokens/s.
type latencyValues struct {
	ttft, ttfc, connect, tpot, decode, e2e, icl []float64
	itl                                         weighted
}

// latencies fills in the distributions of a step.
func (d *levelData) latencies(st *load.Step) {
	v := d.values()
	st.TTFT, st.TTFC, st.Connect = dist(v.ttft), dist(v.ttfc), dist(v.connect)
	st.TPOT, st.Decode, st.E2E = dist(v.tpot), dist(v.decode), dist(v.e2e)
	st.ICL, st.ITL = dist(v.icl), v.itl.dist()
}

// values collects the latencies of a step. A latency belongs to the span in
// which its closing event falls, so none is cut off by being long: TTFT by the
// first token, a gap by its second token, TPOT by the last token, E2E by the
// end. Failed requests have no latency; what was still running counts with the
// events that it had.
func (d *levelData) values() latencyValues {
	var v latencyValues
	d.each(func(s *load.Sample, span load.Span) {
		running := s.Cause == load.CauseCanceled
		if s.Failed() && !running {
			return
		}
		if within(s.FirstToken(), span) {
			v.ttft = append(v.ttft, s.TTFT().V.Seconds())
			if s.Dialled {
				v.connect = append(v.connect, s.Connect.Seconds())
			}
		}
		if s.ContentAt > 0 && span.Holds(s.Chunks[s.ContentAt-1].At) {
			v.ttfc = append(v.ttfc, s.TTFC().V.Seconds())
		}
		v.icl = d.gaps(s, span, v.icl, &v.itl)
		if running {
			return
		}
		if p := s.TPOT(); p.OK && within(s.LastToken(), span) {
			v.tpot = append(v.tpot, p.V)
			if p.V > 0 {
				v.decode = append(v.decode, 1/p.V)
			}
		}
		if span.Holds(s.End) {
			v.e2e = append(v.e2e, s.E2E().Seconds())
		}
	})
	return v
}

// gaps collects the gaps between chunks that close inside span: raw, and as the
// w gaps of gap/w that a chunk of w tokens stands for.
func (d *levelData) gaps(s *load.Sample, span load.Span, icl []float64, itl *weighted) []float64 {
	if len(s.Chunks) < 2 {
		return icl
	}
	c := d.tokens.of(s)
	for i := 1; i < len(s.Chunks); i++ {
		if !span.Holds(s.Chunks[i].At) {
			continue
		}
		gap := (s.Chunks[i].At - s.Chunks[i-1].At).Seconds()
		icl = append(icl, gap)
		w := c.tokensOf(s.Chunks[i])
		if w > 0 {
			itl.add(gap/w, w)
		}
	}
	return icl
}

// dist summarises values, which it sorts.
func dist(v []float64) load.Dist {
	if len(v) == 0 {
		return load.Dist{}
	}
	slices.Sort(v)
	return load.Dist{
		P50: stat.Quantile(v, 0.50), P90: stat.Quantile(v, 0.90),
		P95: stat.Quantile(v, 0.95), P99: stat.Quantile(v, 0.99),
		Mean: stat.Mean(v), Count: len(v),
	}
}

// weighted is values with weights: a chunk's gap counts once per token.
type weighted struct {
	v      []float64
	w      []float64
	uneven bool
}

func (x *weighted) add(v, w float64) {
	x.uneven = x.uneven || len(x.w) > 0 && w != x.w[0]
	x.v = append(x.v, v)
	x.w = append(x.w, w)
}

// dist summarises by weight, and counts tokens.
func (x *weighted) dist() load.Dist {
	total, sum := 0.0, 0.0
	for i := range x.v {
		total += x.w[i]
		sum += x.v[i] * x.w[i]
	}
	if !x.uneven {
		d := dist(x.v)
		d.Count = int(math.Round(total))
		return d
	}
	q := x.quantiles(0.50, 0.90, 0.95, 0.99)
	return load.Dist{P50: q[0], P90: q[1], P95: q[2], P99: q[3], Mean: sum / total, Count: int(math.Round(total))}
}

// quantiles are those for the shares p: the p-quantile is the smallest value up
// to which a share p of the weight lies. With equal weights it is that of the
// values.
func (x *weighted) quantiles(p ...float64) []float64 {
	if !x.uneven {
		return quantiles(slices.Sorted(slices.Values(x.v)), p)
	}
	order := make([]int, len(x.v))
	total := 0.0
	for i := range order {
		order[i] = i
		total += x.w[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x.v[a], x.v[b]) })
	out := make([]float64, len(p))
	for k := range p {
		below := 0.0
		for _, i := range order {
			out[k] = x.v[i]
			if below += x.w[i]; below >= p[k]*total {
				break
			}
		}
	}
	return out
}

// quantiles are those of sorted values for the shares p.
func quantiles(sorted []float64, p []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		out[i] = stat.Quantile(sorted, p[i])
	}
	return out
}
