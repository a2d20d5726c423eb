package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"kneesweep/load"
	"kneesweep/sweep"
)

// filledTUI has seen three levels and some requests of the visit that is running.
func filledTUI() *tui {
	t := newTUI(nil, load.Run{Model: "m", Target: "http://x"})
	for i, n := range []int{1, 4, 16} {
		t.take(sweep.Event{Visit: &load.Visit{Index: i, Level: load.Level{Concurrency: n}, Live: load.Live{Rates: []float64{250 * float64(n), 260 * float64(n), 240 * float64(n)}}}})
	}
	t.take(sweep.Event{Visit: &load.Visit{Index: 3, Level: load.Level{Concurrency: 64}, Ended: load.EndedRunning}})
	for i := range 20 {
		sent := time.Duration(i) * time.Second
		t.take(sweep.Event{Sample: &load.Sample{Visit: 3, Sent: sent, Chunks: []load.Chunk{{At: sent + time.Duration(i+1)*10*time.Millisecond}}}})
	}
	t.take(sweep.Event{Sample: &load.Sample{Visit: 2, Chunks: []load.Chunk{{At: time.Hour}}}}) // late, of an earlier visit
	t.take(sweep.Event{Sample: &load.Sample{Visit: 3, Cause: "http_500"}})
	t.take(sweep.Event{Sample: &load.Sample{Visit: 3, Cause: load.CauseCanceled}})
	return t
}

// No screen is larger than its terminal, whatever that is, and a usual one shows all.
func TestScreenFits(t *testing.T) {
	full := filledTUI().snapshot("64 parallel, pass 1, window 1 of 5 | 5,900 tok/s | 1 failed | ETA 12s")
	for _, s := range []screen{{}, full, {points: []point{{4, 0}}}, {points: []point{{4, 10}}}} {
		for width := range 130 {
			for height := range 50 {
				lines := strings.Split(s.draw("kneesweep · m", width, height), "\n")
				if len(lines) > max(height, 1) {
					t.Fatalf("%d lines on a terminal of %d × %d", len(lines), width, height)
				}
				for _, l := range lines {
					if n := utf8.RuneCountInString(l); n > width {
						t.Fatalf("%d columns on a terminal of %d × %d: %q", n, width, height, l)
					}
				}
			}
		}
	}
	text := full.draw("kneesweep · m", 80, 30)
	for _, want := range []string{"ETA 12s", "4,000 ┤", "●", "TTFT of this visit, 20 requests", "10 ms ████", "Failures: 1 http_500", farewellLine} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the screen:\n%s", want, text)
		}
	}
	if strings.Count(text, "●") != 3 {
		t.Errorf("three levels are drawn as:\n%s", text)
	}
}

// A frame takes the sweep as it is, and a resize the new size.
func TestModel(t *testing.T) {
	var m tea.Model = model{heading: "kneesweep", snapshot: func() screen { return screen{status: "now"} }}
	m, _ = m.Update(tea.WindowSizeMsg{Width: 40, Height: 5})
	m, next := m.Update(frame(time.Time{}))
	if v := m.View(); next == nil || !v.AltScreen || !strings.Contains(v.Content, "now") {
		t.Errorf("the screen is %q", v.Content)
	}
}
