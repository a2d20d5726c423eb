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

const (
	healthTick  = 10 * time.Millisecond
	cpuBound    = 0.90 // share of all cores at which the client may be the limit
	gcPauseName = "/sched/pauses/total/gc:seconds"
)

// Health watches what measuring costs this process: CPU, scheduling lag and
// garbage collection. Make it with NewHealth, stop it with Close.
type Health struct {
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	lags    []time.Duration
	started time.Time
	cpu     time.Duration
	pauses  float64
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

// run measures how late a ticker fires.
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

func (h *Health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lags = h.lags[:0]
	h.started, h.cpu, h.pauses = time.Now(), processCPU(), gcPauses()
}

func (h *Health) end() load.ClientHealth {
	h.mu.Lock()
	defer h.mu.Unlock()
	wall := time.Since(h.started)
	if wall <= 0 {
		return load.ClientHealth{}
	}
	slices.Sort(h.lags)
	out := load.ClientHealth{
		CPU:     (processCPU() - h.cpu).Seconds() / wall.Seconds() / float64(runtime.GOMAXPROCS(0)),
		GCPause: gcPauses() - h.pauses,
	}
	if n := len(h.lags); n > 0 {
		out.LagP99 = h.lags[min(n-1, n*99/100)].Seconds()
	}
	out.Bound = out.CPU >= cpuBound
	return out
}

// gcPauses returns the summed stop-the-world pauses in seconds, to the
// resolution of the runtime's histogram.
func gcPauses() float64 {
	s := []metrics.Sample{{Name: gcPauseName}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	sum, hist := 0.0, s[0].Value.Float64Histogram()
	for i, n := range hist.Counts {
		if n == 0 {
			continue
		}
		lo, hi := hist.Buckets[i], hist.Buckets[i+1]
		if math.IsInf(lo, 0) {
			lo = 0
		}
		if math.IsInf(hi, 0) {
			hi = lo
		}
		sum += float64(n) * (lo + hi) / 2
	}
	return sum
}
