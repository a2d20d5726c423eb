package load

import (
	"math/bits"
	"time"
)

// Lag is how late a process read what had arrived, chunk by chunk: the time from
// the kernel's receive stamp until the bytes were at hand, before any parsing. It
// says how far the client, not the endpoint, was behind.
type Lag struct {
	Max time.Duration `json:"max,omitzero"`
	// Counts is how many chunks had a lag of less than [LagEdge](i), and not less than
	// the edge before; without trailing zeros.
	Counts []int32 `json:"counts,omitzero"`
}

// Chunks returns how many chunks were stamped by the kernel.
func (l *Lag) Chunks() int {
	n := 0
	for _, c := range l.Counts {
		n += int(c)
	}
	return n
}

// lagBuckets reach beyond a minute.
const (
	lagBuckets = 24
	lagFirst   = 8 * time.Microsecond
)

// LagEdge returns the upper edge of bucket i of [Lag].Counts, 8 µs · 2^i. The last
// bucket, 23, has none: larger lags fall into it too.
func LagEdge(i int) time.Duration { return lagFirst << min(i, lagBuckets-1) }

// Lags gathers lags without allocating. The zero value is ready.
type Lags struct {
	most   time.Duration
	counts [lagBuckets]int32
}

// Add takes the lag of one chunk; it is not negative.
func (l *Lags) Add(lag time.Duration) {
	l.most = max(l.most, lag)
	l.counts[min(bits.Len64(uint64(lag/lagFirst)), lagBuckets-1)]++
}

// Lag returns what was gathered.
func (l *Lags) Lag() Lag {
	n := lagBuckets
	for n > 0 && l.counts[n-1] == 0 {
		n--
	}
	if n == 0 {
		return Lag{}
	}
	return Lag{l.most, append([]int32(nil), l.counts[:n]...)}
}
