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
	ttft, ttfc, connect, tpot, decode, e2e []float64
	hits, misses                           []float64 // ttft by what a prefix cache had
}

// latencies fills in the distributions of a step.
func (d *levelData) latencies(st *load.Step) {
	v := d.values()
	st.TTFT, st.TTFC, st.Connect = dist(v.ttft), dist(v.ttfc), dist(v.connect)
	st.Hits, st.Misses = dist(v.hits), dist(v.misses)
	st.TPOT, st.Decode, st.E2E = dist(v.tpot), dist(v.decode), dist(v.e2e)
	gaps := d.gaps(false, nil)
	st.ICL = gaps.dist()
	gaps = d.gaps(true, gaps.v[:0])
	st.ITL = gaps.dist()
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
			if s.CachedTokens.OK && s.PromptTokens.OK {
				part := &v.misses
				if 2*s.CachedTokens.V >= s.PromptTokens.V {
					part = &v.hits
				}
				*part = append(*part, s.TTFT().V.Seconds())
			}
			if s.Dialled {
				v.connect = append(v.connect, s.Connect.Seconds())
			}
		}
		if s.ContentAt > 0 && span.Holds(s.Chunks[s.ContentAt-1].At) {
			v.ttfc = append(v.ttfc, s.TTFC().V.Seconds())
		}
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

// gaps collects the gaps between chunks that close inside the measured spans: as
// they are, or, per token, as the w gaps of gap/w that a chunk of w tokens stands
// for. It appends to buf: there are more of them than of all other values together.
func (d *levelData) gaps(perToken bool, buf []float64) weighted {
	most := 0
	d.each(func(s *load.Sample, _ load.Span) { most += len(s.Chunks) })
	g := weighted{v: slices.Grow(buf, most)}
	d.each(func(s *load.Sample, span load.Span) {
		if len(s.Chunks) < 2 || s.Failed() && s.Cause != load.CauseCanceled {
			return
		}
		c := d.tokens.of(s)
		for i := 1; i < len(s.Chunks); i++ {
			if !span.Holds(s.Chunks[i].At) {
				continue
			}
			gap := (s.Chunks[i].At - s.Chunks[i-1].At).Seconds()
			if !perToken {
				g.add(gap, 1)
			} else if w := c.tokensOf(s.Chunks[i]); w > 0 {
				g.add(gap/w, w)
			}
		}
	})
	return g
}

// manyValues is from how many values on their quantiles are selected: sorting that
// many would take most of the time of an analysis.
const manyValues = 1 << 16

// dist summarises values, whose order it changes.
func dist(v []float64) load.Dist {
	if len(v) == 0 {
		return load.Dist{}
	}
	if len(v) < manyValues {
		slices.Sort(v)
	} else {
		var ranks []int
		for _, p := range []float64{0.50, 0.90, 0.95, 0.99} {
			i := int(p * float64(len(v)-1))
			ranks = append(ranks, i, i+1)
		}
		slices.Sort(ranks)
		stat.Partition(v, slices.Compact(ranks)...)
	}
	return load.Dist{
		P50: stat.Quantile(v, 0.50), P90: stat.Quantile(v, 0.90),
		P95: stat.Quantile(v, 0.95), P99: stat.Quantile(v, 0.99),
		Mean: stat.Mean(v), Count: len(v),
	}
}

// weighted is values with weights: a chunk's gap counts once per token.
type weighted struct {
	v    []float64
	even float64   // the weight of all values so far
	w    []float64 // their weights, once they differ
}

func (x *weighted) add(v, w float64) {
	switch {
	case x.w != nil:
		x.w = append(x.w, w)
	case len(x.v) == 0:
		x.even = w
	case w != x.even:
		x.w = make([]float64, len(x.v), cap(x.v))
		for i := range x.w {
			x.w[i] = x.even
		}
		x.w = append(x.w, w)
	}
	x.v = append(x.v, v)
}

// dist summarises by weight, and counts tokens.
func (x *weighted) dist() load.Dist {
	if x.w == nil {
		d := dist(x.v)
		d.Count = int(math.Round(x.even * float64(len(x.v))))
		return d
	}
	total, sum := 0.0, 0.0
	for i := range x.v {
		total += x.w[i]
		sum += x.v[i] * x.w[i]
	}
	q := x.quantiles(0.50, 0.90, 0.95, 0.99)
	return load.Dist{P50: q[0], P90: q[1], P95: q[2], P99: q[3], Mean: sum / total, Count: int(math.Round(total))}
}

// quantiles are those for the shares p: the p-quantile is the smallest value up
// to which a share p of the weight lies. With equal weights it is that of the
// values.
func (x *weighted) quantiles(p ...float64) []float64 {
	if x.w == nil {
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
