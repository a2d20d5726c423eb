package analysis

import "kneesweep/load"

// intake is how the chunks of a step were read.
type intake struct {
	chunks    float64 // inside the spans
	stamped   float64 // of them, by the kernel
	coalesced float64 // of them, with the stamp of a later one
	merged    float64 // of those, in requests that were read so late that tokens may have met
	lag       lags
}

// intake adds up the accounts of the requests. A request that reaches beyond a span
// counts with the share of its chunks that lie inside.
// The time between two tokens is gap, in seconds.
func (d *levelData) intake(gap float64) intake {
	var in intake
	d.each(func(s *load.Sample, span load.Span) {
		inside := 0
		for i := range s.Chunks {
			if span.Holds(s.Chunks[i].At) {
				inside++
			}
		}
		if inside == 0 {
			return
		}
		share := float64(inside) / float64(len(s.Chunks))
		in.chunks += float64(inside)
		in.coalesced += share * float64(s.Coalesced)
		if s.Lag.Max.Seconds() > mergeLag*gap {
			in.merged += share * float64(s.Coalesced)
		}
		in.stamped += share * float64(s.Lag.Chunks())
		in.lag.add(&s.Lag, share)
	})
	return in
}

// byKernel reports whether the kernel stamped as good as every chunk.
func (in *intake) byKernel() bool {
	return in.stamped > 0 && in.stamped >= (1-wrongShare)*in.chunks
}

// lags is the distribution of how late chunks were read.
type lags struct {
	counts []float64 // by the edges of load.LagEdge
	most   float64   // seconds
	total  float64
}

func (l *lags) add(s *load.Lag, share float64) {
	for len(l.counts) < len(s.Counts) {
		l.counts = append(l.counts, 0)
	}
	for i, n := range s.Counts {
		l.counts[i] += share * float64(n)
		l.total += share * float64(n)
	}
	l.most = max(l.most, s.Max.Seconds())
}

// edges are those of bucket i, in seconds; nothing lies above the largest value.
func (l *lags) edges(i int) (lo, hi float64) {
	if i > 0 {
		lo = min(l.most, load.LagEdge(i-1).Seconds())
	}
	if i == len(l.counts)-1 {
		return lo, l.most
	}
	return lo, load.LagEdge(i).Seconds()
}

// quantile is the p-quantile in seconds, values spread evenly over their bucket.
func (l *lags) quantile(p float64) float64 {
	left := p * l.total
	for i, n := range l.counts {
		if n > 0 && left <= n {
			lo, hi := l.edges(i)
			return lo + (hi-lo)*left/n
		}
		left -= n
	}
	return l.most
}

// above is the share of values over x seconds, again spread evenly.
func (l *lags) above(x float64) float64 {
	sum := 0.0
	for i, n := range l.counts {
		lo, hi := l.edges(i)
		switch {
		case x <= lo:
			sum += n
		case x < hi:
			sum += n * (hi - x) / (hi - lo)
		}
	}
	if l.total == 0 {
		return 0
	}
	return sum / l.total
}
