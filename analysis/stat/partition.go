package stat

import "slices"

// Partition rearranges v so that each position in ranks (ascending, each below
// len(v)) holds the value that sorting would put there, smaller values lie before it
// and larger ones after it. It takes time proportional to len(v) for a few ranks,
// where sorting takes len(v)·log(len(v)): quickselect with the median of three as
// pivot. NaN must not occur.
func Partition(v []float64, ranks ...int) {
	for len(ranks) > 0 {
		if len(v) <= 32 {
			slices.Sort(v)
			return
		}
		lo, hi := split(v)
		// v[:lo] is below the pivot, v[lo:hi] equal to it, v[hi:] above.
		left, _ := slices.BinarySearch(ranks, lo)
		right, _ := slices.BinarySearch(ranks, hi)
		Partition(v[:lo], ranks[:left]...)
		v = v[hi:]
		above := make([]int, 0, len(ranks)-right)
		for _, r := range ranks[right:] {
			above = append(above, r-hi)
		}
		ranks = above
	}
}

// split partitions v in three around the median of its first, middle and last
// value, and returns where the values equal to that begin and end.
func split(v []float64) (lo, hi int) {
	a, b, c := v[0], v[len(v)/2], v[len(v)-1]
	pivot := max(min(a, b), min(max(a, b), c))
	lo, hi = 0, len(v)
	for i := 0; i < hi; {
		switch x := v[i]; {
		case x < pivot:
			v[i], v[lo] = v[lo], x
			lo++
			i++
		case x > pivot:
			hi--
			v[i], v[hi] = v[hi], x
		default:
			i++
		}
	}
	return lo, hi
}
