package knee

import (
	"math"
	"slices"

	"kneesweep/analysis/stat"
)

// level is one concurrency with everything measured at it.
type level struct {
	n       float64   // streams
	windows []float64 // tokens/s, ascending
	median  float64
}

// pool turns points in any order into ascending levels: windows of a repeated N
// are put together, values that are not positive and finite are dropped, and so
// is a point without any value left. Windows are sorted, so that their order
// cannot matter to anything that follows.
func pool(points []Point) []level {
	byN := map[int][]float64{}
	for _, p := range points {
		if p.N < 1 {
			continue
		}
		for _, x := range p.Windows {
			if x > 0 && !math.IsInf(x, 1) {
				byN[p.N] = append(byN[p.N], x)
			}
		}
	}
	levels := make([]level, 0, len(byN))
	for n, windows := range byN {
		slices.Sort(windows)
		levels = append(levels, level{float64(n), windows, stat.MedianSorted(windows)})
	}
	slices.SortFunc(levels, func(a, b level) int { return int(a.n) - int(b.n) })
	return levels
}

// columns returns the levels as three columns: streams, median, and weight,
// which is the number of windows.
func columns(levels []level) (n, x, w []float64) {
	for _, l := range levels {
		n = append(n, l.n)
		x = append(x, l.median)
		w = append(w, float64(len(l.windows)))
	}
	return n, x, w
}

// allWindows returns every window of the levels beside its streams.
func allWindows(levels []level) (n, x []float64) {
	for _, l := range levels {
		for _, v := range l.windows {
			n, x = append(n, l.n), append(x, v)
		}
	}
	return n, x
}

// single reports whether the levels tell nothing of their own spread: at most
// half of them have more than one window.
func single(levels []level) bool {
	var several int
	for _, l := range levels {
		if len(l.windows) > 1 {
			several++
		}
	}
	return 2*several <= len(levels)
}

// without returns the levels except the i-th, in new memory.
func without(levels []level, i int) []level {
	return slices.Delete(slices.Clone(levels), i, i+1)
}

// atOrAbove returns the levels from the knee k on, give or take a share of k.
func atOrAbove(levels []level, k, share float64) []level {
	for i, l := range levels {
		if l.n >= k*(1-share) {
			return levels[i:]
		}
	}
	return nil
}

const (
	kneeTolerance = 1e-9 // by which rounding may put the knee past a level that it lies on
	kneeNoise     = 0.02 // by which noise may, when levels on the plateau are counted
)
