package analysis

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// slots makes the steps of a server that runs c requests at once, each at 10
// tokens/s, with three windows a level.
func slots(c int, levels ...int) []load.Step {
	var steps []load.Step
	for _, n := range levels {
		active := min(n, c)
		x := 10 * float64(active)
		steps = append(steps, load.Step{
			Concurrency: n, Valid: true, Steady: true, Drift: load.Some(0.01),
			Measurements:      []float64{x * 0.999, x, x * 1.001},
			TPOT:              load.Dist{P50: 0.1, Count: 100},
			TTFT:              load.Dist{P50: 0.05 + 0.5*float64(n-active), Count: 100},
			DecodeConcurrency: load.Concurrency{Mean: float64(active), Mode: active, P90: active, Peak: active, PeakShare: 0.9, PeakInAll: 1, OK: true},
			OutputLengthMean:  load.Some(40.0),
			Finished:          1000,
		})
	}
	return steps
}

func hasWarning(ws []load.Warning, code string) bool {
	return slices.ContainsFunc(ws, func(w load.Warning) bool { return w.Code == code })
}

func TestBuild(t *testing.T) {
	steps := slots(8, 32, 1, 2, 4, 8, 16, 64)
	before := len(steps)
	run := load.Run{Seed: 7, Settings: load.Settings{Passes: 2}}
	c := Build(run, steps)
	if len(c.Steps) != before || !slices.IsSortedFunc(c.Steps, func(a, b load.Step) int { return a.Concurrency - b.Concurrency }) {
		t.Errorf("steps not ascending")
	}
	if steps[0].Concurrency != 32 {
		t.Error("the caller's steps were sorted")
	}
	if c.Knee.Verdict != knee.Found || math.Abs(c.Knee.Concurrency.V.Value-8) > 0.1 {
		t.Errorf("knee %s %+v, want 8", c.Knee.Verdict, c.Knee.Concurrency)
	}
	if c.Admission != load.Some(load.Estimate{Value: 8, Lo: 8, Hi: 8}) {
		t.Errorf("admission %+v, want 8", c.Admission)
	}
	if c.Cause == nil || c.Cause.Name != CauseAdmission {
		t.Errorf("cause %+v, want admission", c.Cause)
	}
	if c.Recommended.Concurrency != load.Some(8) || c.Recommended.LimitedBy != "admission" {
		t.Errorf("recommended %+v, want 8 by admission", c.Recommended)
	}
	if want := "TTFT grows by about 500 ms for each stream more"; !strings.Contains(c.Recommended.Reason, want) {
		t.Errorf("reason %q, want that %s", c.Recommended.Reason, want)
	}
	var methods []string
	for _, e := range c.Estimates {
		methods = append(methods, e.Method)
	}
	if want := []string{"segmented", "segmented_free", "hyperbola_cap", "asymptotic", "usl", "kneedle", "n95"}; !slices.Equal(methods, want) || !c.Estimates[0].Concurrency.OK {
		t.Errorf("estimates %+v, want those of %v, the first with a knee", c.Estimates, want)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings %+v, want none", c.Warnings)
	}
	if again := Build(run, steps); !reflect.DeepEqual(again, c) {
		t.Error("the same steps gave another curve")
	}
	if again := Build(run, c.Steps); !reflect.DeepEqual(again, c) {
		t.Error("the steps of a curve gave another curve")
	}
}

// An invalid step is shown and counts for nothing.
func TestInvalidSteps(t *testing.T) {
	steps := slots(16, 1, 2, 4, 8, 32, 64)
	steps = append(steps, load.Step{Concurrency: 16, InvalidReason: "every request failed", Measurements: []float64{0, 0}})
	c := Build(load.Run{}, steps)
	if len(c.Steps) != 7 || c.Steps[4].Concurrency != 16 {
		t.Fatalf("steps %v", c.Steps)
	}
	if c.Knee.Verdict != knee.Found || math.Abs(c.Knee.Concurrency.V.Value-16) > 0.3 {
		t.Errorf("knee %s %+v, want 16", c.Knee.Verdict, c.Knee.Concurrency)
	}
	for _, steps := range [][]load.Step{nil, {{Concurrency: 4}}, slots(8, 4)} {
		c := Build(load.Run{}, steps)
		if c.Knee.Verdict != knee.TooFewLevels || c.Recommended.Concurrency.OK || c.Cause != nil || c.Recommended.Reason == "" {
			t.Errorf("%d steps: %+v", len(steps), c)
		}
	}
}

// One bad step is marked, on itself and in the result, and once only.
func TestOutlierIsMarked(t *testing.T) {
	steps := slots(16, 1, 2, 4, 8, 16, 24, 32, 48, 64)
	for i := range steps[6].Measurements {
		steps[6].Measurements[i] *= 0.69
	}
	steps[6].Warnings = []load.Warning{{Code: load.WarnOneWave}}
	c := Build(load.Run{}, steps)
	if !slices.Equal(c.Knee.Outliers, []int{32}) || !hasWarning(c.Knee.Warnings, load.WarnOutlier) {
		t.Fatalf("outliers %v, warnings %+v", c.Knee.Outliers, c.Knee.Warnings)
	}
	if w := c.Steps[6].Warnings; len(w) != 2 || !hasWarning(w, load.WarnOutlier) || len(steps[6].Warnings) != 1 {
		t.Errorf("warnings of the step %+v, of the caller's %+v", w, steps[6].Warnings)
	}
	if again := Build(load.Run{}, c.Steps); len(again.Steps[6].Warnings) != 2 {
		t.Errorf("warnings after a second analysis: %+v", again.Steps[6].Warnings)
	}
}

func TestRunWarnings(t *testing.T) {
	steps := slots(8, 1, 2, 4, 8, 16)
	for i := range steps {
		steps[i].Drift = load.Some(-0.08)
	}
	c := Build(load.Run{Settings: load.Settings{Passes: 2}}, steps)
	if len(c.Warnings) != 1 || c.Warnings[0].Code != load.WarnDrift || !strings.Contains(c.Warnings[0].Text, "8 % slower") {
		t.Errorf("warnings %+v, want a drift of 8 %%", c.Warnings)
	}
	for i := range steps {
		steps[i].Drift = load.Some(0.01)
	}
	steps[0].Drift = load.Some(0.4)
	c = Build(load.Run{Settings: load.Settings{Passes: 2}}, steps)
	if len(c.Warnings) != 1 || c.Warnings[0].Code != load.WarnColdStart || !strings.Contains(c.Warnings[0].Text, "40 % faster") {
		t.Errorf("warnings %+v, want a cold start", c.Warnings)
	}
	for i := range steps {
		steps[i].Drift = load.Opt[float64]{}
	}
	for _, passes := range []int{1, 2} { // one asked for, or two of which the budget allowed one
		c := Build(load.Run{Settings: load.Settings{Passes: passes}}, steps)
		if len(c.Warnings) != 1 || c.Warnings[0].Code != load.WarnDriftUnchecked || !strings.Contains(c.Warnings[0].Text, "5 of 5 levels") {
			t.Errorf("warnings %+v, want drift_unchecked after one pass of %d", c.Warnings, passes)
		}
	}
	if c := Build(load.Run{}, steps); len(c.Warnings) != 0 {
		t.Errorf("warnings %+v of a file without passes, want none", c.Warnings)
	}
}

func concurrency(mode, p90, peak int, share, inAll float64) load.Concurrency {
	c := load.Concurrency{Mean: float64(mode), Mode: mode, P90: p90, Peak: peak, PeakShare: share, PeakInAll: inAll, OK: true}
	if peak > p90 {
		c.AboveP90 = share
	}
	return c
}

func TestAdmission(t *testing.T) {
	type seen struct {
		n int
		d load.Concurrency
	}
	full := func(n int) seen { return seen{n, concurrency(n, n, n, 0.9, 1)} }
	tests := []struct {
		name         string
		steps        []seen
		lo, value    float64 // value 0 = no limit seen
		invalidAbove int
	}{
		{"no limit", []seen{full(1), full(2), full(4), full(8), full(16)}, 0, 0, 0},
		{"four slots", []seen{full(1), full(2), full(4), {8, concurrency(4, 4, 4, 0.9, 1)}, {16, concurrency(4, 4, 4, 0.9, 1)}}, 4, 4, 0},
		{"between levels", []seen{full(1), full(4), {16, concurrency(8, 8, 8, 0.9, 1)}, {32, concurrency(8, 8, 8, 0.9, 1)}}, 4, 8, 0},
		{"one level above", []seen{full(1), full(2), full(4), {8, concurrency(4, 4, 4, 0.9, 1)}}, 0, 0, 0},
		{"two ceilings", []seen{full(1), full(4), {8, concurrency(4, 4, 4, 0.9, 1)}, {16, concurrency(4, 4, 4, 0.9, 1)}, {32, concurrency(9, 9, 9, 0.9, 1)}}, 0, 0, 0},
		{"a stamp out of order", []seen{full(4), {8, concurrency(4, 4, 4, 0.9, 1)}, {16, concurrency(4, 4, 5, 0.0001, 0.1)}, {32, concurrency(4, 4, 4, 0.9, 1)}}, 4, 4, 0},
		{"peak only, three levels", []seen{full(1), {8, concurrency(1, 3, 4, 0.06, 0.8)}, {16, concurrency(1, 3, 4, 0.06, 0.8)}, {32, concurrency(2, 3, 4, 0.06, 0.8)}}, 1, 4, 0},
		{"peak only, two levels", []seen{full(1), {8, concurrency(1, 3, 4, 0.06, 0.8)}, {16, concurrency(1, 3, 4, 0.06, 0.8)}}, 0, 0, 0},
		{"peak seldom", []seen{full(1), {8, concurrency(1, 3, 4, 0.04, 0.8)}, {16, concurrency(1, 3, 4, 0.06, 0.8)}, {32, concurrency(2, 3, 4, 0.06, 0.8)}}, 0, 0, 0},
		{"peak in few windows", []seen{full(1), {8, concurrency(1, 3, 4, 0.06, 0.8)}, {16, concurrency(1, 3, 4, 0.06, 0.4)}, {32, concurrency(2, 3, 4, 0.06, 0.8)}}, 0, 0, 0},
		{"peaks differ", []seen{full(1), {8, concurrency(1, 3, 4, 0.06, 0.8)}, {16, concurrency(1, 4, 5, 0.06, 0.8)}, {32, concurrency(2, 4, 6, 0.06, 0.8)}}, 0, 0, 0},
		{"invalid levels do not count", []seen{full(1), full(4), {8, concurrency(4, 4, 4, 0.9, 1)}, {16, concurrency(4, 4, 4, 0.9, 1)}}, 0, 0, 8},
		{"not known", []seen{{1, load.Concurrency{}}, {2, load.Concurrency{}}, {4, load.Concurrency{}}}, 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var steps []load.Step
			for _, s := range test.steps {
				valid := test.invalidAbove == 0 || s.n < test.invalidAbove
				steps = append(steps, load.Step{Concurrency: s.n, Valid: valid, DecodeConcurrency: s.d})
			}
			want := load.Opt[load.Estimate]{}
			if test.value > 0 {
				want = load.Some(load.Estimate{Value: test.value, Lo: test.lo, Hi: test.value})
			}
			if got := admission(steps); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// With every level the same, or noise in D, the analysis of random steps never
// yields a number that is not finite.
func TestBuildIsTotal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var steps []load.Step
		for range rng.IntN(9) {
			n := 1 + rng.IntN(64)
			s := load.Step{Concurrency: n, Valid: rng.IntN(5) > 0, DecodeConcurrency: concurrency(rng.IntN(n+1), rng.IntN(n+1), rng.IntN(n+1), rng.Float64(), rng.Float64())}
			for range rng.IntN(4) {
				s.Measurements = append(s.Measurements, 100*rng.Float64()*float64(rng.IntN(3)))
			}
			if rng.IntN(2) > 0 {
				s.TPOT = load.Dist{P50: rng.Float64(), Count: 10}
				s.TTFT = load.Dist{P50: rng.Float64(), Count: 10}
			}
			steps = append(steps, s)
		}
		c := Build(load.Run{Seed: 1}, steps)
		if c.Recommended.Reason == "" || strings.Contains(c.Recommended.Reason, "NaN") || c.Recommended.Concurrency.OK && c.Recommended.Concurrency.V < 1 {
			t.Fatalf("recommended %+v from %+v", c.Recommended, c.Knee)
		}
		if c.Cause != nil && slices.ContainsFunc(c.Cause.Evidence, func(e string) bool { return strings.Contains(e, "NaN") || strings.Contains(e, "Inf") }) {
			t.Fatalf("cause %+v", c.Cause)
		}
	}
}
