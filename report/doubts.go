package report

import (
	"fmt"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
)

// doubt is a warning with the levels that it was raised at; none for the whole
// curve.
type doubt struct {
	load.Warning
	levels []string
}

func (d doubt) String() string {
	switch len(d.levels) {
	case 0:
		return d.Text
	case 1:
		return "level " + d.levels[0] + ": " + d.Text
	}
	return "levels " + strings.Join(d.levels, ", ") + ": " + d.Text
}

// sameCode is how many different texts of one code the steps may show before
// the rest is summed up.
const sameCode = 2

// doubts collects the warnings of a curve, of its knee and of its steps. Equal
// ones are listed once with all their levels; of a code that many levels raise
// in different words only the first few are spelled out.
func doubts(c analysis.Curve) []doubt {
	var all []doubt
	add := func(w load.Warning, level string) {
		for i := range all {
			if all[i].Warning != w {
				continue
			}
			if level != "" && len(all[i].levels) > 0 {
				all[i].levels = append(all[i].levels, level)
			}
			return
		}
		d := doubt{Warning: w}
		if level != "" {
			d.levels = []string{level}
		}
		all = append(all, d)
	}
	for _, w := range c.Warnings {
		add(w, "")
	}
	for _, w := range c.Knee.Warnings {
		add(w, "")
	}
	if c.Rates != nil {
		for _, w := range c.Rates.Knee.Warnings {
			add(w, "")
		}
	}
	for _, s := range c.Steps {
		for _, w := range s.Warnings {
			add(w, fmt.Sprint(s.Concurrency))
		}
	}
	return fold(all)
}

// fold keeps the first doubts of each code and sums up the later ones.
func fold(all []doubt) []doubt {
	seen := map[string]int{}
	more := map[string][]string{}
	var kept []doubt
	for _, d := range all {
		if len(d.levels) > 0 {
			if seen[d.Code] == sameCode {
				more[d.Code] = append(more[d.Code], d.levels...)
				continue
			}
			seen[d.Code]++
		}
		kept = append(kept, d)
	}
	last := map[string]int{}
	for i, d := range kept {
		if len(d.levels) > 0 {
			last[d.Code] = i
		}
	}
	for code, levels := range more {
		kept[last[code]].Text += " (similar at " + strings.Join(levels, ", ") + ")"
	}
	return kept
}
