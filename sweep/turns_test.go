package sweep

import (
	"testing"

	"kneesweep/load"
)

// The streams of a visit are numbered in the order in which they first ask, whatever
// their workers did before, and each counts its own requests.
func TestTurns(t *testing.T) {
	v := newVisit(load.Visit{})
	for i, c := range []struct{ slot, stream, turn int }{{7, 0, 0}, {7, 0, 1}, {3, 1, 0}, {9, 2, 0}, {3, 1, 1}, {7, 0, 2}} {
		if stream, turn := v.nextTurn(c.slot); stream != c.stream || turn != c.turn {
			t.Errorf("request %d, of worker %d: stream %d, turn %d, want %d and %d", i, c.slot, stream, turn, c.stream, c.turn)
		}
	}
}
