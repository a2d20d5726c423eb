package analysis

import (
	"cmp"
	"math"
	"slices"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// latencies fills in the distributions of a step, in seconds. A latency belongs
// to the span in which its closing event falls, so none is cut off by being
// long: TTFT by the first token, a gap by its second token, TPOT by the last
// token, E2E by the end. Failed requests have no latency; what was still
// running counts with the events that it had.
func (d *levelData) latencies(st *load.Step) {
	var ttft, ttfc, connect, tpot, decode, e2e, icl []float64
	var itl weighted
	d.each(func(s *load.Sample, span load.Span) {
		running := s.Cause == load.CauseCanceled
		if s.Failed() && !running {
			return
		}
		if within(s.FirstToken(), span) {
			ttft = append(ttft, s.TTFT().V.Seconds())
			if s.Dialled {
				connect = append(connect, s.Connect.Seconds())
			}
		}
		if s.ContentAt > 0 && span.Holds(s.Chunks[s.ContentAt-1].At) {
			ttfc = append(ttfc, s.TTFC().V.Seconds())
		}
		icl = d.gaps(s, span, icl, &itl)
		if running {
			return
		}
		if p := s.TPOT(); p.OK && within(s.LastToken(), span) {
			tpot = append(tpot, p.V)
			if p.V > 0 {
				decode = append(decode, 1/p.V)
			}
		}
		if span.Holds(s.End) {
			e2e = append(e2e, s.E2E().Seconds())
		}
	})
	st.TTFT, st.TTFC, st.Connect = dist(ttft), dist(ttfc), dist(connect)
	st.TPOT, st.Decode, st.E2E = dist(tpot), dist(decode), dist(e2e)
	st.ICL, st.ITL = dist(icl), itl.dist()
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

// dist summarises by weight, and counts tokens: the p-quantile is the smallest
// value up to which a share p of the weight lies. With equal weights it is that
// of the values.
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
	order := make([]int, len(x.v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x.v[a], x.v[b]) })
	d := load.Dist{Mean: sum / total, Count: int(math.Round(total))}
	for _, q := range []struct {
		p   float64
		out *float64
	}{{0.50, &d.P50}, {0.90, &d.P90}, {0.95, &d.P95}, {0.99, &d.P99}} {
		below := 0.0
		for _, i := range order {
			*q.out = x.v[i]
			if below += x.w[i]; below >= q.p*total {
				break
			}
		}
	}
	return d
}
