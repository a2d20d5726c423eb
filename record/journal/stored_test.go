package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/sim"
)

// Requests that stay in the file give every figure that those in memory give.
func TestStoredIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("some 10,000 chunks")
	}
	for name, cfg := range map[string]sim.Config{
		"plain":  {Slots: 4, StepBase: 10 * time.Millisecond, Noise: 0.1, StepJitter: 0.2, Seed: 1},
		"faults": {Slots: 4, StepBase: 10 * time.Millisecond, HiddenTokens: 30, Faults: sim.Faults{Reject: 0.02, Truncate: 0.01, StreamError: 0.01}, Seed: 4},
		"dead":   {Slots: 4, StepBase: 10 * time.Millisecond, Faults: sim.Faults{Reject: 0.9}, Seed: 5}, // visits end early, ratios come from all of the run
	} {
		_, kept := record(t, cfg, load.KeepChunks)
		whole, err := journal.Read(bytes.NewReader(kept))
		if err != nil {
			t.Fatal(err)
		}
		c, stored, err := journal.Index(bytes.NewReader(kept), int64(len(kept)))
		if err != nil || len(c.Samples) > 0 {
			t.Fatalf("%s: %v, %d samples in memory", name, err, len(c.Samples))
		}
		here, there := dataOf(whole), dataOf(c)
		there.Stored = stored
		if got, want := analysis.Analyze(there), analysis.Analyze(here); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: from the file\n%+v\nfrom memory\n%+v", name, got, want)
		}
		for _, l := range []analysis.Latency{analysis.LatencyTTFT, analysis.LatencyITL} {
			curve := analysis.Analyze(here)
			if got, want := analysis.Spreads(curve, &there, l), analysis.Spreads(curve, &here, l); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: distributions from the file %+v, from memory %+v", name, got, want)
			}
		}
		for _, n := range []int{1, 16} {
			got, gotOK := analysis.NewTimeline(there, n)
			want, ok := analysis.NewTimeline(here, n)
			if gotOK != ok || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: another timeline of %d streams", name, n)
			}
		}
		if stored.Err() != nil {
			t.Errorf("%s: %v", name, stored.Err())
		}
	}
}

// A journal that is changed while it is read is noticed.
func TestStoredNoticesAnotherFile(t *testing.T) {
	run := `{"run":{"schema":"kneesweep/journal/v1","ID":"r"}}` + "\n"
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for name, change := range map[string]string{
		"cut": run, "another request": run + strings.Replace(thinLine([]int64{3, 1, 1, 3, 1, 9}), `"id":1`, `"id":2`, 1),
		"no JSON": run + strings.Repeat("x", 200),
	} {
		text := run + thinLine([]int64{3, 1, 1, 3, 1, 9})
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, stored, err := journal.Index(f, int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		if all := stored.Overlapping([]load.Span{{To: time.Hour}}, nil); len(all) != 1 || stored.Err() != nil {
			t.Fatalf("%d requests, %v", len(all), stored.Err())
		}
		if err := os.WriteFile(path, []byte(change), 0o600); err != nil {
			t.Fatal(err)
		}
		stored.Each(func(*load.Sample) { t.Errorf("%s: a request is read", name) })
		if stored.Err() == nil {
			t.Errorf("%s: no error", name)
		}
		f.Close()
	}
}
