//go:build accuracy

package accuracy_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// TestSocketBias measures, in real time over loopback sockets, how far the
// throughput of a level by the client's stamps is from that by the endpoint's
// own log. It prints the table of docs/accuracy.md.
func TestSocketBias(t *testing.T) {
	const output, windows = 64, 20
	window := 500 * time.Millisecond
	cfg := sim.Config{Slots: 256, StepBase: 20 * time.Millisecond, OutputTokens: output, StepJitter: 0.2, Noise: 0.05, NoiseWindow: window, Seed: 1, Log: true}
	e, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := e.Serve(l)
	epoch := time.Now()
	c, err := client.New(client.Config{URL: "http://" + l.Addr().String() + "/v1", Model: "sim", Epoch: epoch, Connections: 256})
	if err != nil {
		t.Fatal(err)
	}
	source := workload.Synthetic{InputTokens: 32, OutputTokens: output, Seed: 1}
	var mem sweep.Memory
	local, err := sweep.NewLocal(sweep.Config{Sender: c, Source: source, Sink: mem.Take, Epoch: epoch, Warmup: 5, Window: window, MaxErrorRate: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	grid := sweep.Grid{Levels: []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, Measurements: windows, Passes: 2}
	if _, err := sweep.Run(context.Background(), local, grid); err != nil {
		t.Fatal(err)
	}
	local.Close()
	c.Close()
	stop()
	e.Close()

	steps := analysis.Summarize(analysis.Data{Visits: mem.Visits, Samples: mem.Samples})
	var table strings.Builder
	fmt.Fprintf(&table, "| N | tokens/s by the client | by the endpoint's log | bias |\n|---|---|---|---|\n")
	for _, s := range steps {
		got, want := mean(s.Measurements), logged(e.Log(), mem.Visits, s.Concurrency, epoch)
		bias := got/want - 1
		fmt.Fprintf(&table, "| %d | %.1f | %.1f | %+.3f %% |\n", s.Concurrency, got, want, 100*bias)
		if math.Abs(bias) > 0.005 {
			t.Errorf("N = %d: %.1f tokens/s measured, %.1f sent: bias %+.2f %%", s.Concurrency, got, want, 100*bias)
		}
	}
	t.Logf("\n%s", table.String())
}

// logged is the throughput of a level's windows by the endpoint's log.
func logged(log []*sim.Entry, visits []load.Visit, n int, epoch time.Time) float64 {
	tokens, seconds := 0, 0.0
	for _, v := range visits {
		if v.Level.Concurrency != n {
			continue
		}
		span, _ := v.Span()
		seconds += span.Seconds()
		for _, e := range log {
			for _, m := range e.Events {
				if span.Holds(m.At.Sub(epoch)) {
					tokens += m.Tokens
				}
			}
		}
	}
	return float64(tokens) / seconds
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
