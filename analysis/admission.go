package analysis

import "kneesweep/load"

const (
	ceilingLevels   = 2    // levels above the ceiling that must show it
	peakLevels      = 3    // the same, when only the peak shows it
	peakWindows     = 0.5  // share of windows that touch the peak
	peakTime        = 0.05 // share of time at the peak
	excursionsShare = 0.01 // time above the ceiling that stamps out of order explain
)

// admission returns K_admit, the number of sequences that the endpoint runs at
// once, from the number of streams D between first and last token: below the
// limit D is N, above it D stays at the limit at every level.
//
// The ceiling is believed when at least two levels above it have D at the
// ceiling for a tenth of the time or more (90th percentile = peak). Where
// prefill dominates D seldom stays there; the peak alone is believed when it is
// the same at three levels above it, touched in at least half of the windows of
// each, for at least 5 % of the time. A level at which D goes higher refutes it.
//
// Hi is the ceiling, Lo the largest level that was certainly not limited (D was
// N most of the time): bounds, not a confidence interval. Undefined means that
// no limit was seen up to the largest N.
func admission(steps []load.Step) load.Opt[load.Estimate] {
	var seen []load.Step
	for _, s := range steps {
		if s.Valid && s.DecodeConcurrency.OK && s.DecodeConcurrency.Peak > 0 {
			seen = append(seen, s)
		}
	}
	for _, s := range seen {
		ceiling := s.DecodeConcurrency.Peak
		if s.Concurrency > ceiling && holds(seen, ceiling) {
			lo := 1
			for _, t := range seen {
				if t.DecodeConcurrency.Mode == t.Concurrency {
					lo = max(lo, t.Concurrency)
				}
			}
			return load.Some(load.Estimate{Value: float64(ceiling), Lo: float64(min(lo, ceiling)), Hi: float64(ceiling)})
		}
	}
	return load.Opt[load.Estimate]{}
}

// holds reports whether the levels above a ceiling show it and none refutes it.
func holds(steps []load.Step, ceiling int) bool {
	var hard, touched int
	for _, s := range steps {
		d := s.DecodeConcurrency
		switch {
		case s.Concurrency <= ceiling:
		case d.P90 > ceiling || d.Peak > ceiling && d.PeakShare >= excursionsShare:
			return false
		case d.Peak != ceiling:
		case d.P90 == d.Peak:
			hard++
			touched++
		case d.PeakInAll >= peakWindows && d.PeakShare >= peakTime:
			touched++
		}
	}
	return hard >= ceilingLevels || touched >= peakLevels
}
