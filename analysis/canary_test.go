package analysis

import (
	"strings"
	"testing"

	"kneesweep/load"
)

// TestWorseAnswers: fewer right answers or other lengths than at the lowest level are
// said when chance does not explain them.
func TestWorseAnswers(t *testing.T) {
	level := func(n, passed, asked int, length float64) load.Step {
		return load.Step{Concurrency: n, Valid: true, Canary: load.Some(load.Canary{Asked: asked, Passed: passed, Length: length, LengthSD: 5})}
	}
	invalid := level(64, 0, 40, 9)
	invalid.Valid = false
	for _, c := range []struct {
		name  string
		steps []load.Step
		want  string // "" = nothing
	}{
		{"none", []load.Step{{Valid: true}, {Valid: true}}, ""},
		{"alike", []load.Step{level(1, 19, 20, 40), level(8, 37, 40, 41), level(64, 38, 40, 39)}, ""},
		{"worse", []load.Step{level(1, 19, 20, 40), level(8, 37, 40, 41), level(64, 20, 40, 40)}, "20 of 40 canaries at N = 64 were answered as expected, 19 of 20 at N = 1"},
		{"few say nothing", []load.Step{level(1, 2, 2, 40), level(64, 0, 2, 40)}, ""},
		{"better is no loss", []load.Step{level(1, 5, 20, 40), level(64, 40, 40, 40)}, ""},
		{"shorter", []load.Step{level(1, 19, 20, 40), level(64, 38, 40, 25)}, "their answers at N = 64 have 25 tokens on average, 40 at N = 1"},
		{"an invalid level", []load.Step{level(1, 19, 20, 40), invalid}, ""},
	} {
		w, ok := worseAnswers(c.steps)
		if ok != (c.want != "") || !strings.Contains(w.Text, c.want) || ok && w.Code != load.WarnCanary {
			t.Errorf("%s: %v %v", c.name, ok, w)
		}
	}
}

// TestCanariesAreCounted: those that ended in the measured time and did not fail.
func TestCanariesAreCounted(t *testing.T) {
	d := healthy()
	asked, passed := 0, 0
	for i := range d.Samples {
		s := &d.Samples[i]
		switch s.ID % 5 {
		case 0:
			s.Canary, s.AsExpected = 1, s.ID%10 == 0
		case 1:
			s.Canary, s.Cause = 2, load.CauseReset
		}
		if v := d.Visits[0]; s.ID%5 == 0 && !s.Warmup && v.Windows[0].From <= s.End && s.End < v.Windows[len(v.Windows)-1].To {
			asked++
			passed += map[bool]int{true: 1}[s.AsExpected]
		}
	}
	c := one(t, d).Canary
	if !c.OK || c.V.Asked != asked || c.V.Passed != passed || asked < 100 || c.V.Lo > c.V.Rate || c.V.Hi < c.V.Rate || c.V.Length != 10 {
		t.Errorf("%+v, want %d of %d", c, passed, asked)
	}
}
