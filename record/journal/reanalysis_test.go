package journal_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// record runs a whole sweep of a simulated endpoint and keeps it twice: in
// memory and in a journal.
func record(t *testing.T, cfg sim.Config, keep string) (live analysis.Data, kept []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		epoch := time.Now()
		e.SetEpoch(epoch)
		live.Run = load.Run{
			ID: "r", Started: epoch.UTC(), Seed: 5, Status: load.StatusComplete,
			Request:  load.RequestShape{OutputTokensAsked: 20, Stream: true},
			Settings: load.Settings{Measurements: 4, Passes: 2, MaxErrorRate: 0.05, SLO: "ttft_p95<=60ms,itl_p90<=40ms,error_rate<=10%", Journal: keep},
		}
		var file bytes.Buffer
		w := journal.NewWriter(&file, live.Run)
		var mem sweep.Memory
		local, err := sweep.NewLocal(sweep.Config{
			Sender: e, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 20, Seed: 5}, Epoch: epoch,
			Sink: sweep.Tee(mem.Take, func(e sweep.Event) {
				switch {
				case e.Sample != nil:
					w.Sample(e.Sample)
				case e.Visit != nil:
					w.Visit(e.Visit)
				case e.Beat != nil:
					w.Beat(e.Beat)
				}
			}),
			Warmup: 5, Window: 500 * time.Millisecond, MaxErrorRate: 0.05, Seed: 5,
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := sweep.Run(context.Background(), local, sweep.Grid{Levels: []int{1, 2, 4, 8, 16}, Measurements: 4, Passes: 2, Seed: 5})
		local.Close()
		if err != nil {
			t.Fatal(err)
		}
		live.Run.Status, live.Run.StopReason = out.Status, out.Reason
		live.Visits, live.Samples = mem.Visits, mem.Samples
		if keep != load.KeepChunks {
			w.Summary(analysis.Sum(live))
		}
		if err := w.Close(out.Status, out.Reason); err != nil {
			t.Fatal(err)
		}
		kept = file.Bytes()
	})
	return live, kept
}

// Analysing a journal gives the live result bit for bit.
func TestReanalysisIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("some 10,000 chunks")
	}
	for name, cfg := range map[string]sim.Config{
		"plain":         {Slots: 4, StepBase: 10 * time.Millisecond, Noise: 0.1, StepJitter: 0.2, Seed: 1},
		"growing usage": {Slots: 4, StepBase: 10 * time.Millisecond, TokensPerChunk: 3, UsageInChunks: true, StepJitter: 0.2, Seed: 2},
		"hidden":        {Slots: 4, StepBase: 10 * time.Millisecond, HiddenTokens: 30, StepJitter: 0.2, Seed: 3},
		"faults":        {Slots: 4, StepBase: 10 * time.Millisecond, Faults: sim.Faults{Reject: 0.02, Truncate: 0.01, StreamError: 0.01}, Seed: 4},
	} {
		t.Run(name, func(t *testing.T) {
			live, kept := record(t, cfg, load.KeepChunks)
			c, err := journal.Read(bytes.NewReader(kept))
			if err != nil || len(c.Missing) > 0 {
				t.Fatalf("%v, missing %q", err, c.Missing)
			}
			if len(live.Samples) < 100 || len(c.Samples) != len(live.Samples) || len(c.Visits) != len(live.Visits) {
				t.Fatalf("%d samples and %d visits, live %d and %d", len(c.Samples), len(c.Visits), len(live.Samples), len(live.Visits))
			}
			want := analysis.Analyze(live)
			got := analysis.Analyze(analysis.Data{Run: c.Run, Visits: c.Visits, Samples: c.Samples})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the journal gives another curve:\n%+v\nlive\n%+v", got, want)
			}
			if s := want.Steps[2]; s.Valid && (!s.SLO.OK || s.SLO.V.Text == "" || !s.Goodput.OK) {
				t.Errorf("the limits are not judged: %+v", s.SLO)
			}
			if want.Steps[0].Throughput.V.Value <= 0 {
				t.Errorf("nothing was measured: %+v", want.Steps[0])
			}
			size(t, kept, c.Samples)
		})
	}
}

// size checks what a request costs on disk: its chunks, and all else.
func size(t *testing.T, kept []byte, samples []load.Sample) {
	t.Helper()
	chunks, packed, rest := 0, 0, 0
	for i := range samples {
		chunks += len(samples[i].Chunks)
	}
	for l := range strings.Lines(string(kept)) {
		if strings.HasPrefix(l, `{"sample"`) {
			rest += len(l)
			if _, after, ok := strings.Cut(l, `"chunks":"`); ok {
				n := strings.IndexByte(after, '"')
				packed += n
				rest -= n
			}
		}
	}
	perSample := float64(rest) / float64(len(samples))
	t.Logf("%d samples, %d chunks: %.2f bytes a chunk, %.0f a request besides", len(samples), chunks, float64(packed)/float64(chunks), perSample)
	if most := 4*chunks + 20*len(samples); packed > most {
		t.Errorf("%d bytes of packed chunks, want at most 4 each and 20 a request: %d", packed, most)
	}
	if perSample > 300 {
		t.Errorf("%.0f bytes a request besides its chunks, want at most 300", perSample)
	}
}

// Whatever a journal holds, it is refused or analysed.
func FuzzRead(f *testing.F) {
	run := load.Run{ID: "r", Settings: load.Settings{MaxErrorRate: 0.05, Passes: 1, Think: time.Second}}
	var file bytes.Buffer
	w := journal.NewWriter(&file, run)
	v := load.Visit{Level: load.Level{Concurrency: 2, Windows: 2}, Windows: []load.Span{{From: 5, To: 105}, {From: 105, To: 205}}}
	w.Visit(&v)
	for i := range 4 {
		s := load.Sample{ID: int64(i), Sent: time.Duration(10 * i), End: time.Duration(40*i + 50), OutputTokens: 9, HiddenTokens: 2 * i, TokenSource: load.SourceServer, ContentAt: 1}
		for c := range 4 {
			s.Chunks = append(s.Chunks, load.Chunk{At: s.Sent + time.Duration(10*c+5), Tokens: int32(i / 2)})
		}
		w.Sample(&s)
	}
	if err := w.Close(load.StatusComplete, ""); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Add(strings.ReplaceAll(file.String(), `"hidden":`, `"hidden":-`))
	f.Add(strings.ReplaceAll(file.String(), `"sent":`, `"sent":9`))
	f.Add(strings.ReplaceAll(file.String(), `"end":`, `"cause":"canceled","end":`))
	f.Add(`{"run":{"schema":"kneesweep/journal/v1","ID":"r","Settings":{"Journal":"requests"}}}` + "\n" + thinLine([]int64{3, 1, 1, 3, 1, 9}) + `{"summary":{"Steps":[{"Concurrency":2}]}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := journal.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range analysis.Summarize(analysis.Data{Run: c.Run, Visits: c.Visits, Samples: c.Samples}) {
			if s.Started != s.Finished+s.Failed+s.InFlightAtEnd {
				t.Fatalf("%+v", s)
			}
		}
	})
}
