package analysis

import "kneesweep/load"

const (
	ceilingLevels   = 2    // levels above the ceiling that must show it
	peakLevels      = 3    // the same, when only the peak shows it
	peakWindows     = 0.5  // share of windows that touch the peak
	peakTime        = 0.05 // share of time at the peak
	excursionsShare = 0.01 // time above the ceiling that does not count
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
		ceiling := settled(s.DecodeConcurrency)
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

// settled is the peak of D without the excursions that stamps out of order make
// when one stream ends and the next begins at once: the 90th percentile if D
// is above it for less than 1 % of the time.
func settled(d load.Concurrency) int {
	if d.AboveP90 < excursionsShare {
		return d.P90
	}
	return d.Peak
}

// holds reports whether the levels above a ceiling show it and none refutes it.
func holds(steps []load.Step, ceiling int) bool {
	var hard, touched int
	for _, s := range steps {
		d := s.DecodeConcurrency
		peak := settled(d)
		switch {
		case s.Concurrency <= ceiling:
		case peak > ceiling:
			return false
		case peak < ceiling:
		case d.P90 == ceiling:
			hard++
			touched++
		case d.PeakInAll >= peakWindows && d.PeakShare >= peakTime:
			touched++
		}
	}
	return hard >= ceilingLevels || touched >= peakLevels
}
