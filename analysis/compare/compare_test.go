package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

// sweep is a run with a straight ramp to slots and ten windows a level, scattered
// by cv around speed times 50 tokens/s a stream.
func sweep(seed uint64, speed float64, slots int, cv float64, levels ...int) Run {
	rng := rand.New(rand.NewPCG(seed, 7))
	if levels == nil {
		levels = []int{1, 2, 4, 8, 16, 32, 64, 128}
	}
	var steps []load.Step
	for _, n := range levels {
		s := load.Step{Concurrency: n, Valid: true}
		x := 50 * speed * float64(min(n, slots))
		for range 10 {
			s.Measurements = append(s.Measurements, x*math.Exp(cv*rng.NormFloat64()))
		}
		s.Throughput = load.Some(stat.MedianEstimate(s.Measurements))
		wait := (0.1 + 0.02*math.Max(0, float64(n-slots))) / speed * math.Exp(cv/5*rng.NormFloat64())
		s.TTFT = load.Dist{P50: wait, P95: 1.5 * wait, Count: 100}
		steps = append(steps, s)
	}
	return curveOf(load.Run{Seed: seed}, steps)
}

// curveOf is a curve with what a comparison reads of it.
func curveOf(run load.Run, steps []load.Step) Run {
	c := analysis.Curve{Run: run, Steps: steps}
	c.Knee = knee.Choose(points(c), run.Seed)
	if k := c.Knee.Concurrency; k.OK {
		c.Recommended.Concurrency = load.Some(int(k.V.Value))
	}
	return Run{Curve: c}
}

func (r Run) with(change func(*load.Run)) Run {
	change(&r.Curve.Run)
	return r
}

func figureOf(t *testing.T, c Comparison, name string) Figure {
	t.Helper()
	i := slices.IndexFunc(c.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no figure %s in %+v", name, c.Figures)
	}
	return c.Figures[i]
}

// Five nights at N = 32: a bad night is no alarm, a loss is
// (microsoft/mssql-rs#434, neuralmagic/nm-vllm#156).
func TestAgainstHistory(t *testing.T) {
	past := []float64{1000, 960, 1040, 985, 1015}
	for _, c := range []struct {
		value, change, z float64
		want             Judgement
	}{
		{955, -0.045, -1.49, Unshown},
		{850, -0.15, -4.97, Worse},
		{1150, 0.15, 4.97, Better},
		{1000, 0, 0, Unshown},
	} {
		h := Against(past, c.value, false, Options{})
		if h.Mean != 1000 || !near(h.SD, 30.2, 0.05) || !near(h.Change, c.change, 1e-9) || !near(h.Z.V, c.z, 0.01) || h.Judgement != c.want {
			t.Errorf("%g: %+v, want %s", c.value, h, c.want)
		}
		if inside := h.Lo <= c.value && c.value <= h.Hi; inside != (c.want == Unshown) {
			t.Errorf("%g lies in %g to %g: %t", c.value, h.Lo, h.Hi, inside)
		}
	}
	if h := Against(past, 1150, true, Options{}); h.Judgement != Worse {
		t.Errorf("a latency that rises: %+v", h)
	}
	if h := Against(past, 850, false, Options{MinEffect: 0.2}); h.Judgement != Small {
		t.Errorf("15 %% where 20 %% matter: %+v", h)
	}
	// t(4) = 2.7764, sd 30.208, √1.2.
	if h := Against(past, 0, false, Options{}); !near(h.Lo, 1000-91.87, 0.01) || !near(h.Hi, 1091.87, 0.01) {
		t.Errorf("range %g to %g, want 1000 ± 91.87", h.Lo, h.Hi)
	}
}

func TestNotEnoughHistory(t *testing.T) {
	for _, past := range [][]float64{nil, {1000}, {1000, 1000}} {
		h := Against(past, 10, false, Options{})
		if h.Enough() || h.P.OK || h.Judgement != Untested || h.Runs != len(past) {
			t.Errorf("%v: %+v", past, h)
		}
	}
	same := []float64{100, 100, 100}
	if h := Against(same, 100, false, Options{}); h.Judgement != Unshown || h.Z.OK {
		t.Errorf("all the same: %+v", h)
	}
	if h := Against(same, 90, false, Options{}); h.Judgement != Worse || h.Z.OK {
		t.Errorf("a loss after values that are all the same: %+v", h)
	}
}

func TestSlowerRunIsARegression(t *testing.T) {
	c := Runs([]Run{sweep(1, 1, 24, 0.05)}, sweep(3, 0.85, 24, 0.05), Options{})
	if c.Verdict != Regression || len(c.Levels) != 8 || len(c.Missing) != 0 || c.ByHistory {
		t.Fatalf("%+v", c)
	}
	for _, name := range []string{FigureThroughput, FigurePlateau, FigureTTFT50, FigureTTFT95} {
		f := figureOf(t, c, name).Change
		truth := 0.85
		if f.lowerIsBetter {
			truth = 1 / truth
		}
		if f.Judgement != Worse || f.Ratio.Lo > truth || f.Ratio.Hi < truth || f.Adjusted.V >= alpha || !near(f.Ratio.Value, f.New/f.Old, 1e-9) {
			t.Errorf("%s: %+v, want %.3f", name, f, truth)
		}
	}
	if c := Runs([]Run{sweep(3, 0.85, 24, 0.05)}, sweep(1, 1, 24, 0.05), Options{}); c.Verdict != Improvement {
		t.Errorf("the other way round it is %s", c.Verdict)
	}
	if c := Runs([]Run{sweep(1, 1, 24, 0.05)}, sweep(3, 0.85, 24, 0.05), Options{MinEffect: 0.25}); c.Verdict != Equivalent || figureOf(t, c, FigureThroughput).Change.Judgement != Small {
		t.Errorf("15 %% where 25 %% matter: %s", c.Verdict)
	}
}

// A plateau that falls changes no level below it: the mean over all levels hides it.
func TestLostSlotsShowInThePlateau(t *testing.T) {
	c := Runs([]Run{sweep(1, 1, 30, 0.05)}, sweep(2, 1, 24, 0.05), Options{})
	if c.Verdict != Regression || figureOf(t, c, FigurePlateau).Change.Judgement != Worse || figureOf(t, c, FigureThroughput).Change.Judgement == Worse {
		t.Errorf("%s, %+v", c.Verdict, c.Figures)
	}
	if by := c.Knee.By; !by.OK || by.V.Lo > -6 || by.V.Hi < -6 || c.Knee.P.V > 0.05 {
		t.Errorf("the knee moved by %+v, P %+v, want −6", by, c.Knee.P)
	}
	if c.Recommended.Old.V <= c.Recommended.New.V {
		t.Errorf("streams to allow: %+v", c.Recommended)
	}
}

// One level alone is found as well.
func TestOneLevelIsARegression(t *testing.T) {
	latest := sweep(2, 1, 24, 0.04)
	s := &latest.Curve.Steps[7]
	for i := range s.Measurements {
		s.Measurements[i] *= 0.7
	}
	s.Throughput = load.Some(stat.MedianEstimate(s.Measurements))
	latest = curveOf(latest.Curve.Run, latest.Curve.Steps)
	c := Runs([]Run{sweep(1, 1, 24, 0.04)}, latest, Options{})
	for _, l := range c.Levels {
		if want := l.Concurrency == 128; (l.Throughput.Judgement == Worse) != want {
			t.Errorf("N = %d is %+v", l.Concurrency, l.Throughput)
		}
	}
	if c.Verdict != Regression {
		t.Error(c.Verdict)
	}
}

func TestEqualRuns(t *testing.T) {
	quiet := Runs([]Run{sweep(1, 1, 24, 0.01)}, sweep(2, 1, 24, 0.01), Options{})
	if quiet.Verdict != Equivalent {
		t.Errorf("one per cent of noise: %s", quiet.Verdict)
	}
	loud := Runs([]Run{sweep(1, 1, 24, 0.3)}, sweep(2, 1, 24, 0.3), Options{})
	if loud.Verdict != NoEvidence {
		t.Errorf("thirty per cent of noise: %s", loud.Verdict)
	}
	q, l := figureOf(t, quiet, FigureThroughput).Change.Detectable, figureOf(t, loud, FigureThroughput).Change.Detectable
	if q.V < DefaultMinEffect || q.V > 0.08 || l.V < 0.1 {
		t.Errorf("detectable %+v with little noise, %+v with much", q, l)
	}
	same := sweep(1, 1, 24, 0.1)
	if c := Runs([]Run{same}, same, Options{}); c.Verdict == Regression || c.Verdict == Improvement || len(c.Differences) > 0 {
		t.Errorf("a run and itself: %s", c.Verdict)
	}
}

// With three old runs their scatter decides: what is sure between two runs is an
// ordinary night among several.
func TestHistoryDecides(t *testing.T) {
	var nights []Run
	for i, speed := range []float64{1, 0.9, 1.12, 0.95, 1.06} {
		nights = append(nights, sweep(uint64(i+1), speed, 24, 0.03))
	}
	tonight := sweep(9, 0.93, 24, 0.03)
	if c := Runs(nights[4:], tonight, Options{}); c.Verdict != Regression {
		t.Errorf("against the last night it is %s", c.Verdict)
	}
	c := Runs(nights, tonight, Options{})
	if !c.ByHistory || c.Verdict != NoEvidence || c.Levels[0].History.V.Runs != 5 {
		t.Errorf("against five nights it is %s", c.Verdict)
	}
	if c := Runs(nights, sweep(9, 0.6, 24, 0.03), Options{}); c.Verdict != Regression || figureOf(t, c, FigureThroughput).History.V.Judgement != Worse {
		t.Errorf("a loss of 40 %% is %s", c.Verdict)
	}
	if c := Runs(nights[:2], tonight, Options{}); c.ByHistory || !slices.ContainsFunc(c.Warnings, func(w load.Warning) bool { return w.Code == WarnFew }) {
		t.Errorf("two nights: %+v", c.Warnings)
	}
}

func TestOnlyCommonLevelsAreCompared(t *testing.T) {
	old, latest := sweep(1, 1, 24, 0.05, 1, 4, 16, 32, 64), sweep(2, 1, 24, 0.05, 4, 16, 32, 128)
	latest.Curve.Steps[2].Valid, latest.Curve.Steps[2].InvalidReason = false, "error rate 40 %"
	c := Runs([]Run{old}, latest, Options{})
	want := []Missing{{1, "", "not measured", false}, {32, "", "error rate 40 %", false}, {64, "", "not measured", false}, {128, "not measured", "", false}}
	if len(c.Levels) != 2 || !slices.Equal(c.Missing, want) || c.Verdict == Regression {
		t.Errorf("%+v, %s", c.Missing, c.Verdict)
	}
	latest.Curve.Steps[2].ErrorRate = load.Some(0.4)
	if c := Runs([]Run{old}, latest, Options{}); c.Verdict != Regression || !c.Failing() {
		t.Errorf("a level that fails now: %s", c.Verdict)
	}
	if c := Runs([]Run{old}, sweep(2, 1, 24, 0.05, 2, 3, 5, 7), Options{}); c.Verdict != CannotTell || len(c.Figures) != 0 {
		t.Errorf("nothing in common: %+v", c)
	}
	if c := Runs([]Run{old}, Run{}, Options{}); c.Verdict != CannotTell {
		t.Errorf("nothing measured: %s", c.Verdict)
	}
}

// Single windows at a single level: there is a ratio, and nothing to judge it by.
func TestNoScatterNoTest(t *testing.T) {
	one := func(x float64) Run {
		return curveOf(load.Run{}, []load.Step{{Concurrency: 4, Valid: true, Measurements: []float64{x}, Throughput: load.Some(load.Estimate{Value: x, Lo: x, Hi: x})}})
	}
	c := Runs([]Run{one(100)}, one(50), Options{})
	l := c.Levels[0].Throughput
	if c.Verdict != CannotTell || l.Ratio.Value != 0.5 || !math.IsNaN(l.Ratio.Lo) || l.P.OK {
		t.Errorf("%s, %+v", c.Verdict, l)
	}
}

// Runs that differ in what was asked are told apart from those that differ in
// name (aws-samples/aws-do-eks#89).
func TestDifferences(t *testing.T) {
	base := load.Run{
		Model: "m", Target: "a", Tool: "v1", DatasetHash: "h", Seed: 1,
		Request:  load.RequestShape{InputTokensAsked: 64, OutputTokensAsked: 128, Stream: true, Dialect: "chat", Source: "synthetic words", Cache: "none"},
		Settings: load.Settings{Passes: 2, Measurements: 10},
	}
	for _, c := range []struct {
		field  string
		change func(*load.Run)
		fatal  bool
	}{
		{"request.output_tokens_asked", func(r *load.Run) { r.Request.OutputTokensAsked = 512 }, true},
		{"request.input_tokens_asked", func(r *load.Run) { r.Request.InputTokensAsked = 1 }, true},
		{"model", func(r *load.Run) { r.Model = "n" }, true},
		{"request.stream", func(r *load.Run) { r.Request.Stream = false }, true},
		{"request.dialect", func(r *load.Run) { r.Request.Dialect = "anthropic" }, true},
		{"request.source", func(r *load.Run) { r.Request.Source = "p.jsonl" }, true},
		{"request.cache", func(r *load.Run) { r.Request.Cache = "warm" }, true},
		{"settings.think_ms", func(r *load.Run) { r.Settings.Think = time.Second }, true},
		{"tool", func(r *load.Run) { r.Tool = "v2" }, false},
		{"settings.window_ms", func(r *load.Run) { r.Settings.Window = time.Second }, false},
		{"dataset_hash", func(r *load.Run) { r.DatasetHash = "i" }, false},
		{"label", func(r *load.Run) { r.Label = "new" }, false},
		{"target", func(r *load.Run) { r.Target = "b" }, false},
		{"seed", func(r *load.Run) { r.Seed, r.DatasetHash = 2, "i" }, false},
		{"model", func(r *load.Run) { r.Model = "" }, false}, // not recorded
	} {
		b := base
		c.change(&b)
		old, latest := sweep(1, 1, 24, 0.05).with(func(r *load.Run) { *r = base }), sweep(2, 1, 24, 0.05).with(func(r *load.Run) { *r = b })
		got := Runs([]Run{old}, latest, Options{})
		if len(got.Differences) == 0 || got.Differences[0].Field != c.field && c.field != "seed" || got.Forced() != c.fatal || c.field != "request.source" && len(got.Differences) > 1 {
			t.Errorf("%s: %+v", c.field, got.Differences)
		}
	}
	if d := differences(analysis.Curve{Run: base}, analysis.Curve{}); len(d) == 0 || d[0].Fatal {
		t.Errorf("what a table does not record forbids: %+v", d)
	}
}

// Other lengths and other cached shares are other work, whatever was asked.
func TestOtherWorkIsSaid(t *testing.T) {
	old, latest := sweep(1, 1, 24, 0.05), sweep(2, 1, 24, 0.05)
	for i := range latest.Curve.Steps {
		old.Curve.Steps[i].OutputLengthMean, latest.Curve.Steps[i].OutputLengthMean = load.Some(100.0), load.Some(80.0)
		old.Curve.Steps[i].CachedShare, latest.Curve.Steps[i].CachedShare = load.Some(0.0), load.Some(0.9)
	}
	n := 0
	for _, w := range Runs([]Run{old}, latest, Options{}).Warnings {
		if w.Code == WarnWork {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d warnings of other work, want 2", n)
	}
}

// A drift within a run is a range that the run may lie in.
func TestDriftWidens(t *testing.T) {
	still, drifting := sweep(1, 1, 24, 0.03), sweep(1, 1, 24, 0.03)
	for i := range drifting.Curve.Steps {
		drifting.Curve.Steps[i].Drift = load.Some(-0.2)
	}
	a := figureOf(t, Runs([]Run{still}, sweep(2, 0.9, 24, 0.03), Options{}), FigureThroughput).Change
	b := figureOf(t, Runs([]Run{drifting}, sweep(2, 0.9, 24, 0.03), Options{}), FigureThroughput).Change
	if want := math.Sqrt(a.se*a.se + 0.04/12); !near(b.se, want, 1e-9) || b.P.V <= a.P.V || a.Judgement != Worse || b.Judgement == Worse {
		t.Errorf("without drift %+v, with it %+v", a, b)
	}
}

// Hundreds of windows a level give a P that is almost 0, and no NaN.
func TestManyWindows(t *testing.T) {
	many := func(seed uint64, speed float64) Run {
		r := sweep(seed, speed, 24, 0.05)
		rng := rand.New(rand.NewPCG(seed, 9))
		for i := range r.Curve.Steps {
			s := &r.Curve.Steps[i]
			x := s.Throughput.V.Value
			s.Measurements = nil
			for range 200 {
				s.Measurements = append(s.Measurements, x*math.Exp(0.05*rng.NormFloat64()))
			}
			s.Throughput = load.Some(stat.MedianEstimate(s.Measurements))
		}
		return r
	}
	for _, l := range Runs([]Run{many(1, 1)}, many(3, 0.2), Options{}).Levels {
		if p := l.Throughput.P; !p.OK || !(p.V >= 0 && p.V < 1e-4) || l.Throughput.Judgement != Worse {
			t.Errorf("N = %d: %+v", l.Concurrency, l.Throughput)
		}
	}
}
