package sweep

import (
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// TestResumeGoesOn: after the visits that were made a policy makes those that it would have
// made, and it refuses visits that it would not have made.
func TestResumeGoesOn(t *testing.T) {
	grid := func() Policy { return &Grid{Levels: []int{1, 2, 4}, Measurements: 4, Passes: 2, Seed: 1} }
	var all []load.Visit
	whole := grid()
	for {
		level, end := whole.Next(History{all})
		if end.Status != "" {
			break
		}
		all = append(all, load.Visit{Index: len(all), Level: level})
	}
	if len(all) < 5 {
		t.Fatalf("%d visits", len(all))
	}
	for n := range len(all) + 1 {
		p, err := Resume(grid(), all[:n])
		if err != nil {
			t.Fatal(err)
		}
		var here []load.Visit
		for _, want := range all[n:] {
			level, end := p.Next(History{here})
			if end.Status != "" || level != want.Level {
				t.Fatalf("after %d visits and %d more: %+v %+v, want %+v", n, len(here), level, end, want.Level)
			}
			here = append(here, load.Visit{Level: level})
		}
		if _, end := p.Next(History{here}); end.Status != load.StatusComplete {
			t.Errorf("after %d visits it does not end: %+v", n, end)
		}
	}
	other := append([]load.Visit{}, all...)
	other[1].Level.Concurrency = 3
	if _, err := Resume(grid(), other); err == nil || !strings.Contains(err.Error(), "visit 2 was 3 streams in pass 1, and would now be 2 streams in pass 1") {
		t.Errorf("another plan: %v", err)
	}
	if _, err := Resume(grid(), append(all, all[0])); err == nil || !strings.Contains(err.Error(), "would have ended after") {
		t.Errorf("too many visits: %v", err)
	}
}

func TestAfterKeepsWindows(t *testing.T) {
	a := After{Visits: []load.Visit{{Level: load.Level{Concurrency: 4}, Windows: []load.Span{{From: time.Second, To: 3 * time.Second}}}, {Level: load.Level{Concurrency: 8}}}}
	if got := a.lengths(); len(got) != 1 || got[4] != 2*time.Second {
		t.Errorf("%v", got)
	}
}
