package claims

import (
	"cmp"
	"errors"
	"fmt"

	"kneesweep/load"
)

// checkSpeedUp judges a speed-up on k GPUs by the runs on one and on k: of their
// throughputs at saturation, or at the streams that the claim states.
func (f File) checkSpeedUp(out *Finding, runs []Run) {
	c := out.Claim.Conditions
	find := func(n int) (Run, string) {
		why := "no result was measured on " + gpus(n)
		at := c
		at.GPUs = n
		for _, r := range runs {
			reason := mismatch(at, r)
			if reason == "" {
				return r, ""
			}
			if r.GPUs == n {
				why = r.Name + ": " + reason
			}
		}
		return Run{}, why
	}
	one, whyOne := find(1)
	many, whyMany := find(c.GPUs)
	if whyOne != "" || whyMany != "" {
		out.Reason = cmp.Or(whyOne, whyMany)
		return
	}
	if why := otherWork(one.Curve, many.Curve); why != "" {
		out.Reason = why
		return
	}
	out.Run = many.Name + " against " + one.Name
	if c.Streams > 0 {
		f.speedUpAt(out, one, many)
		return
	}
	x, saturated := capacity(many.Curve)
	y, also := capacity(one.Curve)
	switch {
	case !x.OK || !y.OK:
		out.Reason = "no level is valid in one of the runs"
	case !saturated || !also:
		unsaturated := many
		if !also {
			unsaturated = one
		}
		out.Measured = load.Some(ratio(x.V, y.V))
		out.Reason = fmt.Sprintf("no plateau was seen on %s, so its most is not known (verdict %s); the best levels differ by %.3g times; sweep further",
			gpus(unsaturated.GPUs), unsaturated.Curve.Knee.Verdict, out.Measured.V.Value)
	default:
		out.Measured = load.Some(ratio(x.V, y.V))
		f.judge(out)
	}
}

// speedUpAt is the speed-up at the streams that a claim states.
func (f File) speedUpAt(out *Finding, one, many Run) {
	n := out.Claim.Conditions.Streams
	at := Claim{Kind: Throughput}
	x, errX := read(at, many, n)
	y, errY := read(at, one, n)
	if err := errors.Join(errX, errY); err != nil {
		out.Reason = err.Error()
		return
	}
	out.Measured, out.Streams = load.Some(ratio(x, y)), load.Some(n)
	f.judge(out)
}
