package analysis

import (
	"strings"
	"testing"

	"kneesweep/load"
)

func TestUnevenCache(t *testing.T) {
	level := func(n int, share float64) load.Step {
		return load.Step{Concurrency: n, Valid: true, CachedShare: load.Some(share)}
	}
	untold := load.Step{Concurrency: 4, Valid: true}
	invalid := level(8, 0.9)
	invalid.Valid = false
	for _, c := range []struct {
		name  string
		steps []load.Step
		want  string
	}{
		{"nothing", nil, ""},
		{"no server tells", []load.Step{untold, untold}, ""},
		{"alike", []load.Step{level(1, 0.80), level(2, 0.88)}, ""},
		{"warms up", []load.Step{level(1, 0.02), level(2, 0.4), level(4, 0.85)}, "2 % of the prompt tokens at N = 1 and 85 % at N = 4"},
		{"told at some levels", []load.Step{level(1, 0.3), untold}, "0 % of the prompt tokens at N = 4 and 30 % at N = 1"},
		{"an invalid level", []load.Step{level(1, 0.1), level(2, 0.1), invalid}, ""},
	} {
		w, ok := unevenCache(c.steps)
		if ok != (c.want != "") || !strings.Contains(w.Text, c.want) {
			t.Errorf("%s: %v %v", c.name, ok, w)
		}
	}
}
