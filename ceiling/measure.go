// Package ceiling measures what the client of this machine can hold: it reads tokens
// from a source on loopback that stamps each of them, with the client and the
// controller of a sweep, and says from which number of streams on the client itself
// would be what limits.
package ceiling

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// Shape is what the source sends to each stream.
type Shape struct {
	Interval time.Duration // between two tokens
	Tokens   int           // of an answer
	Burst    bool          // all streams get their tokens at the same ticks, as from an engine's step; else each at its own
}

// maxTokens keeps an answer within what sockets take in, so that a client that does
// not read cannot hold up the source.
const maxTokens = 1000

// Validate reports everything that is wrong, naming the flag to change.
func (s Shape) Validate() error {
	var errs []error
	if s.Interval < time.Millisecond || s.Interval > time.Second {
		errs = append(errs, fmt.Errorf("--interval: %v, need 1ms to 1s", s.Interval))
	}
	if s.Tokens < 2 || s.Tokens > maxTokens {
		errs = append(errs, fmt.Errorf("--tokens: %d, need 2 to %d", s.Tokens, maxTokens))
	}
	return errors.Join(errs...)
}

// asked is how many tokens/s n streams get: one answer lasts half an interval more
// than its tokens, the mean wait for the step of the first.
func (s Shape) asked(n int) float64 {
	return float64(n) / s.Interval.Seconds() * float64(s.Tokens) / (float64(s.Tokens) + 0.5)
}

// Level is what was measured with n streams. Times are seconds.
type Level struct {
	Streams        int
	Asked          float64           // events/s that the source was to send
	Sent           float64           // events/s that it sent, by its stamps
	Events         float64           // events/s that arrived
	CPUPerEvent    load.Opt[float64] // of this process, which is the client alone
	Error          load.Dist         // of the stamps against those of the source; no Mean
	ErrorMax       float64
	InFlight       float64 // mean
	Failed         int
	BytesPerStream load.Opt[float64] // memory per stream, of this process
	Client         load.ClientHealth
	Limits         []string // that do not hold, in words; empty = the machine holds so many
}

// Holds reports whether every limit holds.
func (l *Level) Holds() bool { return len(l.Limits) == 0 }

const windows = 5

// Measure reads from the source at url, its base address, with n streams for a span of
// time. It ends by itself, however slow things are; then what was not measured is
// among the limits. An error says that it could not begin, or that ctx ended.
func Measure(ctx context.Context, url string, n int, shape Shape, span time.Duration) (Level, error) {
	out := Level{Streams: n, Asked: shape.asked(n)}
	answer := time.Duration(shape.Tokens+1) * shape.Interval
	bounded, cancel := context.WithTimeout(ctx, 2*answer+span*3/2+5*time.Second)
	defer cancel()
	before := inUse()
	epoch := time.Now()
	cl, err := client.New(client.Config{URL: url, Model: "source", Epoch: epoch, Connections: n, KeepText: true})
	if err != nil {
		return out, err
	}
	defer cl.Close()
	health := sweep.NewHealth()
	defer health.Close()
	var mem sweep.Memory
	local, err := sweep.NewLocal(sweep.Config{
		Sender: cl, Source: workload.Synthetic{InputTokens: 8, OutputTokens: shape.Tokens, Seed: 1}, Sink: mem.Take,
		Epoch: epoch, Window: span / windows, MaxErrorRate: 1, Health: health,
	})
	if err != nil {
		return out, err
	}
	visit, err := local.Hold(bounded, load.Level{Concurrency: n, Windows: windows})
	held := inUse() - before // the streams go on
	local.Close()
	if err != nil {
		return out, err
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	visits, samples := mem.Snapshot()
	if bytes := held - kept(samples); bytes > 0 {
		out.BytesPerStream = load.Some(float64(bytes) / float64(n))
	}
	out.read(visit, visits, samples, epoch)
	out.Limits = out.judge(visit, shape)
	return out, nil
}

// read takes the figures from what was measured, as a sweep would.
func (l *Level) read(visit load.Visit, visits []load.Visit, samples []load.Sample, epoch time.Time) {
	steps := analysis.Summarize(analysis.Data{Run: load.Run{Settings: load.Settings{MaxErrorRate: 1}}, Visits: visits, Samples: samples})
	step := steps[0]
	l.InFlight, l.Failed, l.Client = step.InFlight.Mean, step.Failed, step.Client.V
	span, ok := visit.Span()
	if !ok {
		return
	}
	events, sends := 0, 0
	var wrong []float64
	for i := range samples {
		for k, c := range samples[i].Chunks {
			sent, ok := stamp(samples[i].Text, k)
			if ok && span.Holds(sent.Sub(epoch)) {
				sends++
			}
			if !span.Holds(c.At) {
				continue
			}
			events++
			if ok {
				wrong = append(wrong, epoch.Add(c.At).Sub(sent).Seconds())
			}
		}
	}
	l.Sent = float64(sends) / span.Seconds()
	l.Events = float64(events) / span.Seconds()
	if p := visit.Client; events > 0 && p.Cores > 0 {
		l.CPUPerEvent = load.Some(p.CPU * float64(p.Cores) / l.Events)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		l.Error = load.Dist{P50: stat.Quantile(wrong, 0.5), P90: stat.Quantile(wrong, 0.9), P95: stat.Quantile(wrong, 0.95), P99: stat.Quantile(wrong, 0.99), Count: len(wrong)}
		l.ErrorMax = wrong[len(wrong)-1]
	}
}

// stamp is when the source sent token k of an answer.
func stamp(text string, k int) (sent time.Time, ok bool) {
	if len(text) < (k+1)*stampDigits {
		return sent, false
	}
	ns, err := strconv.ParseInt(text[k*stampDigits:(k+1)*stampDigits], 10, 64)
	return time.Unix(0, ns), err == nil
}

// inUse is the memory of this process that is live, without that of the kernel.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// kept is the memory that finished requests take up for the analysis only.
func kept(samples []load.Sample) (bytes int64) {
	for i := range samples {
		bytes += int64(cap(samples[i].Chunks))*16 + int64(len(samples[i].Text)) + 600
	}
	return bytes
}
