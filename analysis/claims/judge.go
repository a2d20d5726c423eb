package claims

import (
	"fmt"
	"math"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
)

// sameLength is how far a measured length may be from a stated one, as a fraction.
const sameLength = 0.10

// check judges one claim by the first run that its conditions fit.
func (f File) check(c Claim, runs []Run) Finding {
	out := Finding{Claim: c, Verdict: NotComparable}
	missing := f.complete(&out)
	if len(missing) > 0 {
		out.Reason = "not stated: " + strings.Join(missing, ", ") + "; without it the figure means nothing, unless it is assumed"
		return out
	}
	if len(runs) == 0 {
		out.Reason = "no result was given to hold it against"
		return out
	}
	if c.Kind == SpeedUp {
		f.checkSpeedUp(&out, runs)
		return out
	}
	var why []string
	for _, r := range runs {
		reason := mismatch(out.Claim.Conditions, r)
		if reason == "" {
			f.checkRun(&out, r)
			return out
		}
		why = append(why, r.Name+": "+reason)
	}
	out.Reason = strings.Join(why, "; ")
	return out
}

// complete puts what is assumed in the place of what a claim does not state, and
// returns what is missing after that.
func (f File) complete(out *Finding) (missing []string) {
	conditions := &out.Claim.Conditions
	for _, c := range []struct {
		name  string
		value *int
		given int
	}{
		{"gpus", &conditions.GPUs, f.Assume.GPUs}, {"streams", &conditions.Streams, f.Assume.Streams},
		{"input-tokens", &conditions.InputTokens, f.Assume.InputTokens}, {"output-tokens", &conditions.OutputTokens, f.Assume.OutputTokens},
	} {
		switch {
		case *c.value != 0, c.name == "streams" && out.Claim.Kind == SpeedUp:
		case c.given == 0:
			missing = append(missing, c.name)
		default:
			*c.value = c.given
			text := fmt.Sprint(c.given)
			if c.given == Any {
				text = "any"
			}
			out.Assumed = append(out.Assumed, c.name+" "+text)
		}
	}
	return missing
}

// mismatch says which condition a run does not fulfil; empty if it fits.
func mismatch(c Conditions, r Run) string {
	if c.GPUs != Any && c.GPUs != r.GPUs {
		return fmt.Sprintf("measured on %s, claimed on %s", gpus(r.GPUs), gpus(c.GPUs))
	}
	q := r.Curve.Run.Request
	input := load.Opt[float64]{V: float64(q.InputTokensAsked), OK: q.InputTokensAsked > 0}
	if q.InputTokensGot.OK {
		input = q.InputTokensGot
	}
	if why := otherLength("input", c.InputTokens, input); why != "" {
		return why
	}
	return otherLength("output", c.OutputTokens, outputLength(r.Curve))
}

// outputLength is the mean answer of a curve, else the length asked for.
func outputLength(c analysis.Curve) load.Opt[float64] {
	sum, n := 0.0, 0
	for _, s := range c.Steps {
		if s.Valid && s.OutputLengthMean.OK {
			sum, n = sum+s.OutputLengthMean.V, n+1
		}
	}
	if n > 0 {
		return load.Some(sum / float64(n))
	}
	asked := c.Run.Request.OutputTokensAsked
	return load.Opt[float64]{V: float64(asked), OK: asked > 0}
}

func otherLength(name string, claimed int, measured load.Opt[float64]) string {
	switch {
	case claimed == Any:
		return ""
	case !measured.OK:
		return fmt.Sprintf("does not tell its %s length, claimed with %d tokens", name, claimed)
	case math.Abs(measured.V-float64(claimed)) > sameLength*float64(claimed):
		return fmt.Sprintf("measured with %.4g %s tokens, claimed with %d", measured.V, name, claimed)
	}
	return ""
}

// checkRun reads the figure in a run that fits, and judges it.
func (f File) checkRun(out *Finding, r Run) {
	out.Run = r.Name
	levels := []int{out.Claim.Conditions.Streams}
	if levels[0] == Any {
		levels = levels[:0]
		for _, s := range r.Curve.Steps {
			if s.Valid {
				levels = append(levels, s.Concurrency)
			}
		}
	}
	if len(levels) == 0 {
		out.Reason = r.Name + ": no level is valid"
		return
	}
	for _, n := range levels {
		e, err := read(out.Claim, r, n)
		if err != nil {
			out.Reason = r.Name + ": " + err.Error()
			continue
		}
		if !out.Measured.OK || better(out.Claim.Kind, e.Value, out.Measured.V.Value) {
			out.Measured, out.Streams = load.Some(e), load.Some(n)
		}
	}
	if out.Measured.OK {
		f.judge(out)
	}
}

// better reports whether a figure suits a claim of the kind more than another.
func better(k Kind, a, b float64) bool {
	if k == Throughput || k == SpeedUp {
		return a > b
	}
	return a < b
}

// read is the figure of a claim in a run at n streams.
func read(c Claim, r Run, n int) (load.Estimate, error) {
	if c.Kind == TTFT {
		e, err := analysis.TTFTAt(r.Curve, r.Data, n, c.Percentile)
		if err != nil {
			return load.Estimate{}, err
		}
		return load.Estimate{Value: 1e3 * e.Value, Lo: 1e3 * e.Lo, Hi: 1e3 * e.Hi}, nil
	}
	at, err := analysis.ReadAt(r.Curve, r.Data, n)
	switch {
	case err != nil:
		return load.Estimate{}, err
	case !at.Throughput.OK:
		return load.Estimate{}, fmt.Errorf("no throughput at %d streams", n)
	case c.Kind == Stream:
		x := at.Throughput.V
		per := func(x float64) float64 { return 1e6 * float64(n) / x }
		return load.Estimate{Value: per(x.Value), Lo: per(x.Hi), Hi: per(x.Lo)}, nil
	}
	return at.Throughput.V, nil
}

// judge compares the measured figure with the claim, which is taken as a promise:
// at least so much throughput or speed-up, at most so long a time. With the claim v
// and its tolerance t the limit is v·(1−t), or v·(1+t) for a time. The claim is
// confirmed if the whole 95 % interval keeps the limit, and refuted if none of it
// does; else the measurement is too coarse to tell. Without an interval the figure
// alone decides.
func (f File) judge(out *Finding) {
	e, c := out.Measured.V, out.Claim
	t := f.tolerance(c)
	limit, word := c.Value*(1-t), "at least"
	up := c.Kind == Throughput || c.Kind == SpeedUp
	if !up {
		limit, word = c.Value*(1+t), "at most"
	}
	keeps := func(x float64) bool { return up && x >= limit || !up && x <= limit }
	lo, hi := e.Lo, e.Hi
	if math.IsNaN(lo) || math.IsNaN(hi) {
		lo, hi = e.Value, e.Value
	}
	what := fmt.Sprintf("measured %.4g (%.4g–%.4g) %s", e.Value, lo, hi, c.Kind)
	if lo == hi {
		what = fmt.Sprintf("measured %.4g %s, without an interval", e.Value, c.Kind)
	}
	what += f.where(out)
	asked := fmt.Sprintf("claimed %.4g, so %s %.4g with a tolerance of %.3g %%", c.Value, word, limit, 100*t)
	switch {
	case keeps(lo) && keeps(hi):
		out.Verdict, out.Reason = Confirmed, what+"; "+asked
	case !keeps(lo) && !keeps(hi):
		out.Verdict, out.Reason = Refuted, what+"; "+asked+fmt.Sprintf(": %.3g times the claim", e.Value/c.Value)
	default:
		out.Reason = what + "; " + asked + ": the interval holds this limit, so measure longer to tell"
	}
}

// where says at how many streams a figure was read.
func (f File) where(out *Finding) string {
	switch {
	case !out.Streams.OK:
		return ""
	case out.Claim.Conditions.Streams == Any:
		return fmt.Sprintf(" at N = %d, the level that suits the claim best", out.Streams.V)
	}
	return fmt.Sprintf(" at N = %d", out.Streams.V)
}

// gpus is "1 GPU" or "4 GPUs".
func gpus(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}
