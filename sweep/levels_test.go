package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/sweep"
)

func TestParseLevels(t *testing.T) {
	for in, want := range map[string][]int{
		"1,2,4,8":     {1, 2, 4, 8},
		"8, 1,4,4,2":  {1, 2, 4, 8},
		"50:100:10":   {50, 60, 70, 80, 90, 100},
		"50:95:10":    {50, 60, 70, 80, 90, 95},
		"1:256:x2":    {1, 2, 4, 8, 16, 32, 64, 128, 256},
		"1:100:x2":    {1, 2, 4, 8, 16, 32, 64, 100},
		"1:8:x1.5":    {1, 2, 3, 5, 8},
		"5:5:1":       {5},
		"1,2,8:16:x2": {1, 2, 8, 16},
	} {
		got, err := sweep.ParseLevels(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestParseLevelsRefuses(t *testing.T) {
	for _, in := range []string{
		"", ",", "1,,2", "a", "1;2", "0", "-1", "1.5", "1e3", "1:2", "1:2:3:4", "4:2:1", "1:8:0", "1:8:-1",
		"1:8:x1", "1:8:x0", "1:8:xNaN", "1:8:xInf", "1:8:x", "1:99999:1", "100001", "1 2", "x2",
	} {
		got, err := sweep.ParseLevels(in)
		if err == nil || !strings.HasPrefix(err.Error(), "--levels: ") {
			t.Errorf("%q: got %v, %v; want an error that names --levels", in, got, err)
		}
	}
}

func plan(ls []load.Level) (out []int) {
	for _, l := range ls {
		out = append(out, l.Concurrency)
	}
	return out
}

func TestGridGoesUpAndDownAndSharesWindows(t *testing.T) {
	g := sweep.Grid{Levels: []int{1, 2, 4}, Measurements: 7, Passes: 3, Seed: 1}
	p := g.Plan()
	if got := plan(p)[:6]; !slices.Equal(got, []int{1, 2, 4, 4, 2, 1}) {
		t.Errorf("order %v", got)
	}
	windows := map[int]int{}
	for _, l := range p {
		windows[l.Concurrency] += l.Windows
	}
	for n, w := range windows {
		if w != 7 {
			t.Errorf("level %d got %d windows, want 7", n, w)
		}
	}
	one := sweep.Grid{Levels: []int{1, 2}, Measurements: 1, Passes: 2}
	if got := plan(one.Plan()); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("one window in two passes: %v", got)
	}
}

// walk runs a policy against a rule that says how a visit ends.
func walk(p sweep.Policy, ends func(load.Level) string) (seen []int, end sweep.Outcome) {
	var h sweep.History
	for {
		l, end := p.Next(h)
		if end.Status != "" {
			return seen, end
		}
		seen = append(seen, l.Concurrency)
		h.Visits = append(h.Visits, load.Visit{Level: l, Ended: ends(l)})
	}
}

func TestGridStopsGoingUpAtAFailingLevel(t *testing.T) {
	g := sweep.Grid{Levels: []int{1, 2, 4, 8, 16}, Measurements: 10, Passes: 2}
	seen, stop := walk(g, func(l load.Level) string {
		if l.Concurrency >= 8 {
			return load.EndedThrottled
		}
		return ""
	})
	if want := []int{1, 2, 4, 8, 4, 2, 1}; !slices.Equal(seen, want) {
		t.Errorf("visited %v, want %v", seen, want)
	}
	if stop.Status != load.StatusStopped || !strings.Contains(stop.Reason, "8 streams") || !strings.Contains(stop.Reason, "throttled") {
		t.Errorf("stop reason %q", stop.Reason)
	}
	seen, stop = walk(g, func(load.Level) string { return load.EndedFailing })
	if !slices.Equal(seen, []int{1}) || stop.Status != load.StatusStopped {
		t.Errorf("all failing: visited %v, %v", seen, stop)
	}
	seen, stop = walk(g, func(load.Level) string { return "" })
	if len(seen) != 10 || stop != (sweep.Outcome{Status: load.StatusComplete}) {
		t.Errorf("all well: %v, %v", seen, stop)
	}
}

func containsText(err error, part string) bool { return strings.Contains(err.Error(), part) }
