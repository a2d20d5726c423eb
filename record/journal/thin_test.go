package journal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/sim"
)

func dataOf(c journal.Content) analysis.Data {
	return analysis.Data{Run: c.Run, Visits: c.Visits, Samples: c.Samples, Server: c.Server, Open: c.Open, Summary: c.Summary}
}

// A journal without chunks gives the live result bit for bit, and every figure of
// a single request with it.
func TestReanalysisWithoutChunks(t *testing.T) {
	if testing.Short() {
		t.Skip("some 10,000 chunks")
	}
	cfg := sim.Config{Slots: 4, StepBase: 10 * time.Millisecond, TokensPerChunk: 3, UsageInChunks: true, StepJitter: 0.2, Seed: 2, Faults: sim.Faults{Truncate: 0.01}}
	_, whole := record(t, cfg, load.KeepChunks)
	for _, keep := range []string{load.KeepRequests, load.KeepNone} {
		live, kept := record(t, cfg, keep)
		c, err := journal.Read(bytes.NewReader(kept))
		if err != nil || len(c.Missing) > 0 {
			t.Fatalf("%s: %v, missing %q", keep, err, c.Missing)
		}
		if got, want := analysis.Analyze(dataOf(c)), analysis.Analyze(live); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the journal gives another curve:\n%+v\nlive\n%+v", keep, got, want)
		}
		if len(kept) >= len(whole) {
			t.Errorf("%s: %d bytes, %d with every chunk", keep, len(kept), len(whole))
		}
		if keep == load.KeepNone {
			if len(c.Samples) > 0 {
				t.Errorf("%d requests were kept", len(c.Samples))
			}
			continue
		}
		if len(c.Samples) != len(live.Samples) {
			t.Fatalf("%d samples, live %d", len(c.Samples), len(live.Samples))
		}
		for i := range c.Samples {
			a, b := &c.Samples[i], &live.Samples[i]
			if a.TTFT() != b.TTFT() || a.TTFC() != b.TTFC() || a.TPOT() != b.TPOT() || a.LastToken() != b.LastToken() ||
				a.E2E() != b.E2E() || len(a.Chunks) != len(b.Chunks) || a.Incremental() != b.Incremental() {
				t.Fatalf("request %d: kept\n%+v\nlive\n%+v", a.ID, a, b)
			}
		}
		checkKilled(t, kept, analysis.Analyze(live))
		checkRestated(t, c, live)
	}
}

// checkKilled: a run that died before its levels were summed up is analysed from
// its requests.
func checkKilled(t *testing.T, kept []byte, live analysis.Curve) {
	t.Helper()
	at := bytes.Index(kept, []byte(`{"summary"`))
	c, err := journal.Read(bytes.NewReader(kept[:at]))
	if err != nil || !strings.Contains(strings.Join(c.Missing, "\n"), "spread evenly") {
		t.Fatalf("%v, missing %q", err, c.Missing)
	}
	got := analysis.Analyze(dataOf(c))
	for i, s := range got.Steps {
		want := live.Steps[i].Throughput.V.Value
		if d := s.Throughput.V.Value/want - 1; !s.Throughput.OK || math.Abs(d) > 0.05 {
			t.Errorf("N = %d: %+.1f %% from the live throughput", s.Concurrency, 100*d)
		}
	}
	if got.Admission != live.Admission {
		t.Errorf("admission limit %+v, live %+v", got.Admission, live.Admission)
	}
}

// checkRestated: other limits of requests are judged as with every chunk, those
// of single gaps are refused.
func checkRestated(t *testing.T, c journal.Content, live analysis.Data) {
	t.Helper()
	live.Run.Settings.SLO = "ttft_p90<=40ms,tpot_p50<=12ms"
	want := analysis.Analyze(live)
	d := dataOf(c)
	d.Run.Settings.SLO = live.Run.Settings.SLO
	if err := analysis.Restate(&d); err != nil {
		t.Fatal(err)
	}
	if got := analysis.Analyze(d); !reflect.DeepEqual(got, want) {
		t.Errorf("other limits give %+v\nlive %+v", got.Steps, want.Steps)
	}
	d.Run.Settings.SLO = "itl_p90<=40ms"
	if err := analysis.Restate(&d); err == nil || !strings.Contains(err.Error(), "tpot") && !strings.Contains(err.Error(), "TPOT") {
		t.Errorf("limits of gaps that were not kept: %v", err)
	}
}

// thinLine is a request with the second of its chunks as the first with content.
func thinLine(numbers []int64) string {
	var b []byte
	for _, v := range numbers {
		b = binary.AppendVarint(b, v)
	}
	return `{"sample":{"id":1,"sent":10,"end":90,"content_at":2,"thin":"` + base64.RawStdEncoding.EncodeToString(b) + "\"}}\n"
}

// Requests whose arrivals cannot be are refused, by the line.
func TestThinDamaged(t *testing.T) {
	head := `{"run":{"schema":"kneesweep/journal/v1","ID":"r","Settings":{"Journal":"requests"}}}` + "\n"
	for _, numbers := range [][]int64{
		{0, 1, 2, 3, 0, 0}, {-1, 1, 2, 3, 0, 0}, {2_000_000_000, 1, 2, 3, 0, 0}, // chunks
		{1, 1, 0, 0, 0, 0}, {2, 1, 1, 3, 0, 0}, // the first content
		{3, 1, 1, 3, 1, 2}, {3, 1, 1, 3, -1, 0}, {3, 1, 1, 3, 0, 9}, {3, 1, 1, 3, 1, 1 << 40}, // tokens
		{3, 1, 1, 3, 0}, {3, 1, 1, 3, 0, 0, 0},
	} {
		if _, err := journal.Read(strings.NewReader(head + thinLine(numbers) + "{}\n")); err == nil || !strings.Contains(err.Error(), "line 2:") {
			t.Errorf("%v: %v", numbers, err)
		}
	}
	if c, err := journal.Read(strings.NewReader(head + thinLine([]int64{3, 1, 1, 3, 1, 9}) + "{}\n")); err != nil || len(c.Samples) != 1 {
		t.Errorf("a sound line: %v", err)
	}
	for _, text := range []string{`{"Steps":[{"Concurrency":0}]}`, `{"Steps":[{"Concurrency":4},{"Concurrency":4}]}`} {
		if _, err := journal.Read(strings.NewReader(head + `{"summary":` + text + "}\n{}\n")); err == nil || !strings.Contains(err.Error(), "line 2:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
