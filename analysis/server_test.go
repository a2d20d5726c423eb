package analysis

import (
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// TestServerFigures takes gauges inside the windows only, and counters from the
// last reading before them.
func TestServerFigures(t *testing.T) {
	at := func(s, running, preempted, hits, asked float64) load.Server {
		return load.Server{
			At: time.Duration(s * float64(time.Second)), Engine: "vllm", Running: load.Some(running), KVUse: load.Some(running / 10),
			Preemptions: load.Some(preempted), PrefixHits: load.Some(hits), PrefixQueries: load.Some(asked),
		}
	}
	window := func(from, to float64) stay {
		return stay{span: load.Span{From: time.Duration(from * float64(time.Second)), To: time.Duration(to * float64(time.Second))}}
	}
	d := &levelData{n: 8, stays: []stay{window(2, 4), window(10, 12)}}
	got := d.serverFigures(byTime([]load.Server{
		at(11, 8, 20, 150, 200), at(0.5, 1, 3, 0, 0), at(1.5, 2, 5, 100, 100), at(2, 4, 6, 110, 120), at(3.5, 6, 9, 120, 140),
		at(4, 9, 99, 130, 150), at(9, 1, 15, 130, 150), at(12, 9, 99, 999, 999),
	}))
	want := load.ServerStats{
		Engine: "vllm", Readings: 3, Running: load.Some(load.Range{Mean: 6, Max: 8}), KVUse: load.Some(load.Range{Mean: 0.6, Max: 0.8}),
		Preemptions: load.Some(9.0), PrefixHitShare: load.Some(40.0 / 90),
	}
	got.V.KVUse.V.Mean = float64(int(got.V.KVUse.V.Mean*1e6+0.5)) / 1e6
	if !got.OK || got.V != want {
		t.Errorf("%+v, want %+v", got.V, want)
	}
	if got := d.serverFigures(byTime([]load.Server{at(1, 1, 0, 0, 0), at(7, 1, 0, 0, 0)})); got.OK {
		t.Errorf("readings outside the windows give %+v", got.V)
	}
	// A server that was started anew counts from 0 again.
	if got := d.serverFigures([]load.Server{at(1, 1, 50, 0, 0), at(2, 1, 1, 0, 0), at(3, 1, 2, 0, 0)}); got.V.Preemptions.V != 1 {
		t.Errorf("%+v", got.V)
	}
}

func TestServerEvidence(t *testing.T) {
	step := func(n int, running, waiting float64) load.Step {
		return load.Step{Concurrency: n, Valid: true, Server: load.Some(load.ServerStats{
			Engine: "vllm", Running: load.Some(load.Range{Mean: running, Max: running}), Waiting: load.Some(load.Range{Mean: waiting}),
		})}
	}
	steps := []load.Step{step(8, 8, 0), step(16, 12, 4), step(32, 12, 20), step(64, 12, 52)}
	steps[3].Server.V.KVUse, steps[3].Server.V.Preemptions = load.Some(load.Range{Max: 0.98}), load.Some(7.0)
	got := serverEvidence(steps, 12)
	for _, want := range []string{"(vllm)", "at N = 16 on average 12 in work and 4 waiting", "at N = 64 on average 12 in work and 52 waiting, KV cache up to 98 % in use, 7 preemptions"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.Contains(got, "N = 8") || strings.Contains(got, "N = 32") {
		t.Errorf("too much: %q", got)
	}
	if got := serverEvidence([]load.Step{{Concurrency: 64, Valid: true}}, 12); got != "" {
		t.Errorf("without readings: %q", got)
	}
}
