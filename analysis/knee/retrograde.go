package knee

import (
	"math"
	"slices"

	"kneesweep/analysis/stat"
)

const (
	declineShare  = 0.05 // below the plateau, to be called a decline
	unknownMargin = 0.20 // the same, for one window a level and nothing that tells its scatter
)

// decline reports whether the last of the levels lies certainly below the
// plateau: by more than 5 %, with the interval of its median excluding the
// plateau. The first such level after the highest one is where it begins. A
// level with one window has no interval: it must lie below by the margin, a
// share of the plateau.
func decline(levels []level, plateau, margin float64) *Retrograde {
	if len(levels) == 0 || !below(levels[len(levels)-1], plateau, margin) {
		return nil
	}
	for _, l := range levels[peak(levels):] {
		if below(l, plateau, margin) {
			return &Retrograde{From: int(l.n), Drop: 1 - levels[len(levels)-1].median/plateau}
		}
	}
	return nil
}

func below(l level, plateau, margin float64) bool {
	if l.median >= (1-declineShare)*plateau {
		return false
	}
	_, hi, ok := stat.MedianInterval(l.windows, confidence)
	if !ok {
		hi = l.median + margin*plateau
	}
	return hi < plateau
}

// peak is the index of the highest level, the first among equals.
func peak(levels []level) int {
	top := 0
	for i, l := range levels {
		if l.median > levels[top].median {
			top = i
		}
	}
	return top
}

// withLast puts the last level measured back when it was left out as an
// outlier: being low there it may as well be a decline, and is told as both.
func withLast(kept, all []level) []level {
	last := all[len(all)-1]
	if kept[len(kept)-1].n == last.n {
		return kept
	}
	return append(slices.Clone(kept), last)
}

// fallMargin is how far below the plateau, as a share of it, a level with one
// window may lie by chance at 95 %: Student's t times the scatter of a level and
// of the plateau. The scatter is that of the levels up to the highest about
// their line, and behind it that of levels that only fall but for noise: squares
// of the steps up are half of all there, and steps have twice the variance of a
// level. Where too few levels tell, it is an assumed 20 %.
func fallMargin(levels []level) float64 {
	top := peak(levels)
	before, after := levels[:top+1], levels[top+1:]
	sum, df := 0.0, 0.0
	if len(before) > 3 {
		df = float64(len(before) - 3)
		sum = lackOfFit(before) * df
	}
	for i := 1; i < len(after); i++ {
		up := max(0, after[i].median/after[i-1].median-1)
		sum += up * up
		df++
	}
	if df < 1 {
		return unknownMargin
	}
	return stat.StudentQuantile((1+confidence)/2, int(df)) * math.Sqrt(2*sum/df)
}
