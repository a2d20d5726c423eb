// Package steady decides whether a stay at one concurrency level was in steady
// state, from the number of tokens that arrived in each of equal time bins.
//
// Two tests look for two faults. MSER-5 (White 1997) looks for a start that is
// unlike the rest: it finds the cut after which the mean is known best. A
// Mann-Kendall test, corrected for autocorrelation, looks for a slow drift. The
// level is a constant, and never chosen by what the values are.
//
// What this deliberately does not do is move the measured windows: it answers
// yes or no, and the caller measures longer or says so.
//
// The package is pure and safe for concurrent use.
package steady

import (
	"fmt"
	"math"

	"kneesweep/analysis/stat"
)

const (
	// Alpha is the probability with which the trend test calls a steady level
	// not steady.
	Alpha = 0.01

	// BinsPerWindow is how finely callers cut a window for the test: the five
	// windows of an ordinary visit make 20 batches.
	BinsPerWindow = 20

	batch       = 5    // bins in a batch of MSER-5
	leftBatches = 5    // batches that must be left after the cut
	gain        = 0.25 // of what MSER-5 minimises, to which a cut in the second half must bring it
	minTrend    = 8    // bins below which a trend cannot reach Alpha
	maxTrend    = 400  // values for the trend test; more bins are averaged
)

// Result is the answer of [Test].
type Result struct {
	Steady bool
	Tested bool    // false when the bins are too few to tell; Steady is true then
	Cut    int     // bins before the cut of MSER-5; 0 = nothing to cut
	P      float64 // of the trend test, two-sided; 1 when it was not tried
	Reason string  // why not steady, or not tested, in words; empty otherwise
}

// Test judges bins, the tokens (or tokens/s) in consecutive bins of equal
// length. Not steady means that the cut of MSER-5 lies in the second half, or
// that there is a trend with P below [Alpha]. Bins that are all equal are
// steady. With fewer than 8 bins nothing can be told: Steady is true, Tested
// false.
//
// Both are kept to the level Alpha. White noise puts the cut of MSER-5 in the
// second half once in eight times at 100 bins; such a cut counts only if it
// divides the squared standard error by four, which noise does once in a
// hundred. And autocorrelation may widen the trend test but not sharpen it:
// with the correction of Hamed and Rao below 1, white noise shows a trend three
// times in a hundred.
func Test(bins []float64) Result {
	r := Result{Steady: true, P: 1}
	if len(bins) < minTrend {
		r.Reason = fmt.Sprintf("too few bins to tell: %d, at least %d needed", len(bins), minTrend)
		return r
	}
	r.Tested = true
	var left float64
	r.Cut, left = cut(bins)
	values := average(bins, (len(bins)+maxTrend-1)/maxTrend)
	trend := stat.MannKendall(values)
	r.P = trend.P
	if trend.Correction < 1 {
		r.P = min(1, math.Erfc(math.Abs(trend.Z)*math.Sqrt(trend.Correction/2)))
	}
	switch {
	case 2*r.Cut > len(bins) && left <= gain:
		r.Steady = false
		r.Reason = fmt.Sprintf("not settled: the first %d of %d bins differ from the rest", r.Cut, len(bins))
	case r.P < Alpha:
		r.Steady = false
		r.Reason = fmt.Sprintf("trend of %+.1f %% from begin to end (p = %.2g)",
			100*trend.Slope*float64(len(values)-1)/stat.Mean(values), r.P)
	}
	return r
}

// cut returns the truncation point of MSER-5 in bins: bins are averaged in
// batches of five, and the number d of batches to drop is the one that makes
//
//	Σ (y − ȳ)² / (n − d)²,  over the n − d batches after the cut,
//
// smallest, which is the squared standard error of their mean. left is what the
// cut leaves of that, as a share of its value without a cut. At least five
// batches stay, and the smallest d wins a tie. Bins at the end that fill no
// batch are not looked at.
func cut(bins []float64) (at int, left float64) {
	y := average(bins[:len(bins)/batch*batch], batch)
	n := len(y)
	if n <= leftBatches {
		return 0, 1
	}
	best, z := math.Inf(1), 0.0
	// From the end, so that sums over what is left grow by one batch at a time.
	var count, mean, ss float64
	for d := n - 1; d >= 0; d-- {
		count++
		delta := y[d] - mean
		mean += delta / count
		ss += delta * (y[d] - mean)
		if n-d < leftBatches {
			continue
		}
		if z = ss / (count * count); z <= best {
			best, at = z, d
		}
	}
	if z == 0 {
		return 0, 1
	}
	return at * batch, best / z
}

// average returns the means of consecutive groups of size values; a last group
// that is not full is averaged over what it has.
func average(values []float64, size int) []float64 {
	means := make([]float64, 0, (len(values)+size-1)/size)
	for i := 0; i < len(values); i += size {
		means = append(means, stat.Mean(values[i:min(i+size, len(values))]))
	}
	return means
}
