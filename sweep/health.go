package sweep

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"kneesweep/load"
)

const healthTick = 10 * time.Millisecond

// The histograms of the runtime that are read.
const (
	schedLatency = "/sched/latencies:seconds"
	gcPause      = "/sched/pauses/total/gc:seconds"
)

// Health watches what measuring costs this process: CPU, how late it wakes up, and
// garbage collection. Make it with NewHealth, stop it with Close.
type Health struct {
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	lags  []time.Duration
	since time.Time
	cpu   time.Duration
	sched tally
	gc    tally
}

// NewHealth starts the watch.
func NewHealth() *Health {
	h := &Health{stop: make(chan struct{}), done: make(chan struct{})}
	go h.run()
	return h
}

// Close stops the watch and waits for it.
func (h *Health) Close() {
	close(h.stop)
	<-h.done
}

// run measures how late a timer fires.
func (h *Health) run() {
	defer close(h.done)
	t := time.NewTimer(healthTick)
	defer t.Stop()
	due := time.Now().Add(healthTick)
	for {
		select {
		case <-h.stop:
			return
		case <-t.C:
		}
		now := time.Now()
		h.mu.Lock()
		if len(h.lags) < 1<<20 {
			h.lags = append(h.lags, now.Sub(due))
		}
		h.mu.Unlock()
		due = now.Add(healthTick)
		t.Reset(healthTick)
	}
}

// begin opens a stretch of time to be judged, and drops an earlier one.
func (h *Health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lags = h.lags[:0]
	h.since, h.cpu = time.Now(), processCPU()
	h.sched, h.gc = readTally(schedLatency), readTally(gcPause)
}

// end tells what the stretch since begin was like.
func (h *Health) end() load.Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	wall := time.Since(h.since)
	if h.since.IsZero() || wall <= 0 {
		return load.Process{}
	}
	cores := runtime.GOMAXPROCS(0)
	sched := readTally(schedLatency).less(h.sched)
	return load.Process{
		CPU: (processCPU() - h.cpu).Seconds() / wall.Seconds() / float64(cores), Cores: cores,
		LagP50: quantile(h.lags, 0.50).Seconds(), LagP99: quantile(h.lags, 0.99).Seconds(),
		SchedP50: sched.quantile(0.50), SchedP99: sched.quantile(0.99),
		GCPause: readTally(gcPause).less(h.gc).sum(),
	}
}

// tally is a histogram of the runtime: counts[i] values lie in [edges[i], edges[i+1]).
type tally struct {
	counts []uint64
	edges  []float64
}

// readTally reads a histogram that has counted since the process began; it is empty
// where the runtime does not know the name.
func readTally(name string) tally {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return tally{}
	}
	h := s[0].Value.Float64Histogram()
	return tally{slices.Clone(h.Counts), h.Buckets} // the edges never change
}

// less is what was counted since an earlier reading.
func (t tally) less(earlier tally) tally {
	if len(earlier.counts) != len(t.counts) {
		return t
	}
	out := tally{slices.Clone(t.counts), t.edges}
	for i, n := range earlier.counts {
		out.counts[i] -= n
	}
	return out
}

// middle stands for the values of bucket i. The outer ones have one edge.
func (t tally) middle(i int) float64 {
	lo, hi := t.edges[i], t.edges[i+1]
	switch {
	case math.IsInf(lo, 0):
		lo = 0
	case math.IsInf(hi, 0):
		hi = lo
	}
	return (lo + hi) / 2
}

func (t tally) sum() float64 {
	sum := 0.0
	for i, n := range t.counts {
		if n > 0 {
			sum += float64(n) * t.middle(i)
		}
	}
	return sum
}

// quantile is the p-quantile to the width of a bucket; 0 without values.
func (t tally) quantile(p float64) float64 {
	total := uint64(0)
	for _, n := range t.counts {
		total += n
	}
	below := uint64(0)
	for i, n := range t.counts {
		if below += n; n > 0 && float64(below) >= p*float64(total) {
			return t.middle(i)
		}
	}
	return 0
}
