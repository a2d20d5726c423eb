package report

import (
	"kneesweep/analysis"
	"kneesweep/load"
)

// chart is the data of the charts: a list per figure with a value for each level,
// null where there is none. Times are milliseconds, rates tokens/s.
type chart struct {
	N       []int     `json:"n"`
	Used    []bool    `json:"used"` // by the fit
	Output  []number  `json:"output"`
	Lo      []number  `json:"lo"`
	Hi      []number  `json:"hi"`
	TTFT50  []number  `json:"ttft50"`
	TTFT95  []number  `json:"ttft95"`
	TTFT99  []number  `json:"ttft99"`
	ITL50   []number  `json:"itl50"`
	ITL95   []number  `json:"itl95"`
	Stream  []number  `json:"stream"`
	Fit     *fitLine  `json:"fit"`
	Knee    *kneeMark `json:"knee"`
	Allowed number    `json:"allowed"`
	Slots   number    `json:"slots"`
}

// fitLine is X(N) = a + b · min(N, k) between two levels.
type fitLine struct {
	A    number `json:"a"`
	B    number `json:"b"`
	K    number `json:"k"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// kneeMark is the knee with its interval.
type kneeMark struct {
	Value number `json:"value"`
	Lo    number `json:"lo"`
	Hi    number `json:"hi"`
}

func newChart(c analysis.Curve) *chart {
	if len(c.Steps) == 0 {
		return nil
	}
	d := &chart{}
	quantile := func(s load.Dist, v, unit float64) number {
		if s.Count == 0 {
			return number{}
		}
		return finite(v * unit)
	}
	for _, s := range c.Steps {
		d.N = append(d.N, s.Concurrency)
		d.Used = append(d.Used, mark(c, s) != markInvalid && mark(c, s) != markOutlier)
		out, lo, hi := number{}, number{}, number{}
		if s.Throughput.OK {
			out, lo, hi = finite(s.Throughput.V.Value), finite(s.Throughput.V.Lo), finite(s.Throughput.V.Hi)
		}
		d.Output, d.Lo, d.Hi = append(d.Output, out), append(d.Lo, lo), append(d.Hi, hi)
		d.TTFT50 = append(d.TTFT50, quantile(s.TTFT, s.TTFT.P50, 1e3))
		d.TTFT95 = append(d.TTFT95, quantile(s.TTFT, s.TTFT.P95, 1e3))
		d.TTFT99 = append(d.TTFT99, quantile(s.TTFT, s.TTFT.P99, 1e3))
		d.ITL50 = append(d.ITL50, quantile(s.ITL, s.ITL.P50, 1e3))
		d.ITL95 = append(d.ITL95, quantile(s.ITL, s.ITL.P95, 1e3))
		d.Stream = append(d.Stream, quantile(s.Decode, s.Decode.P50, 1))
	}
	if f := c.Knee.Fit; f != nil {
		d.Fit = &fitLine{finite(f.A), finite(f.B), finite(f.K), f.From, f.To}
	}
	if k := c.Knee.Concurrency; k.OK {
		d.Knee = &kneeMark{finite(k.V.Value), finite(k.V.Lo), finite(k.V.Hi)}
	}
	if n := c.Recommended.Concurrency; n.OK {
		d.Allowed = finite(float64(n.V))
	}
	if c.Admission.OK {
		d.Slots = finite(c.Admission.V.Value)
	}
	return d
}
