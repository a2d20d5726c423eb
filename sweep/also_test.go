package sweep_test

import (
	"testing"

	"kneesweep/load"
	"kneesweep/sweep"
)

// list is a policy of levels, each in two passes of two and three windows, that is
// complete whatever they did.
type list []int

func (l list) Next(h sweep.History) (load.Level, sweep.Outcome) {
	i := len(h.Visits)
	if i >= 2*len(l) {
		return load.Level{}, sweep.Outcome{Status: load.StatusComplete}
	}
	return load.Level{Concurrency: l[i%len(l)], Windows: 2 + i/len(l), Pass: i / len(l)}, sweep.Outcome{}
}

// stretch makes the visits that a policy asks for; ended says how a level goes.
func stretch(p sweep.Policy, ended func(n int) string) (h sweep.History, end sweep.Outcome) {
	for len(h.Visits) < 100 {
		level, end := p.Next(h)
		if end.Status != "" {
			return h, end
		}
		v := load.Visit{Index: len(h.Visits), Level: level, Ended: ended(level.Concurrency)}
		if v.Ended == "" {
			v.Windows = make([]load.Span, level.Windows)
		}
		h.Visits = append(h.Visits, v)
	}
	return h, end
}

// A level more is measured in full after the others, in passes of its own, and not
// at all if it was or cannot be.
func TestAlso(t *testing.T) {
	also := func(level int) sweep.Policy {
		return &sweep.Also{Policy: list{2, 4, 8}, Level: level, Measurements: 5, Passes: 2}
	}
	well := func(int) string { return "" }
	for _, c := range []struct {
		name  string
		level int
		ended func(int) string
		want  int // visits of the level
	}{
		{"new", 5, well, 2},
		{"measured already", 4, well, 2},
		{"above one that failed", 5, func(n int) string {
			if n == 4 {
				return load.EndedFailing
			}
			return ""
		}, 0},
		{"fails itself", 5, func(n int) string {
			if n == 5 {
				return load.EndedFailing
			}
			return ""
		}, 1},
	} {
		h, end := stretch(also(c.level), c.ended)
		visits, windows, passes := 0, 0, map[int]bool{}
		for _, v := range h.Visits {
			if v.Level.Concurrency == c.level {
				visits, windows = visits+1, windows+v.Level.Windows
				passes[v.Level.Pass] = true
			}
		}
		if visits != c.want || len(passes) != visits || c.want == 2 && windows != 5 || end.Status != load.StatusComplete {
			t.Errorf("%s: %d visits with %d windows in passes %v, ended %+v", c.name, visits, windows, passes, end)
		}
	}
}
