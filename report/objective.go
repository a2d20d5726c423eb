package report

import (
	"fmt"

	"kneesweep/analysis"
	"kneesweep/load"
)

// sloLevels returns the highest valid level that meets the SLO, and the first
// level above it that is not shown to; each may be nil.
func sloLevels(c analysis.Curve) (met, unmet *load.Step) {
	for i := range c.Steps {
		s := &c.Steps[i]
		switch {
		case !s.Valid || !s.SLO.OK:
		case s.SLO.V.Met == load.Some(true):
			met, unmet = s, nil
		case unmet == nil:
			unmet = s
		}
	}
	return met, unmet
}

// sloSentence says up to which level the limits hold, and why not beyond.
func sloSentence(c analysis.Curve) string {
	met, unmet := sloLevels(c)
	if c.Run.Settings.SLO == "" || met == nil && unmet == nil {
		return ""
	}
	s := "No level is shown to meet the SLO " + c.Run.Settings.SLO
	if met != nil {
		s = fmt.Sprintf("The SLO %s holds at %s", c.Run.Settings.SLO, streams(float64(met.Concurrency)))
	}
	if unmet != nil {
		s += fmt.Sprintf("; at %s %s", streams(float64(unmet.Concurrency)), unmet.SLO.V.Text)
	} else {
		s += ", the highest level measured"
	}
	return sentence(s)
}
