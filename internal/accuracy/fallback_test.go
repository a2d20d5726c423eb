package accuracy_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/internal/accuracy"
	"kneesweep/load"
	"kneesweep/sim"
)

// A fallback of 5 % of the requests to another model is flagged at every level where
// one of its answers is, and at no other; the answers of each model add up to all.
func TestFallbackIsFlagged(t *testing.T) {
	s := setting(16)
	s.Levels = []int{1, 2, 4, 8, 16, 32}
	var d analysis.Data
	synctest.Test(t, func(t *testing.T) {
		cfg := s.Endpoint(1)
		cfg.Faults.Fallback = 0.05
		e, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		epoch := time.Now()
		e.SetEpoch(epoch)
		if d, err = accuracy.Sweep(e, epoch, s, s.Grid(1), 1); err != nil {
			t.Fatal(err)
		}
	})
	of := func(model string) analysis.Curve {
		return analysis.Split(d, "model="+model, func(s *load.Sample) bool { return s.Model == model })
	}
	whole, usual, other := analysis.Analyze(d), of("sim"), of(sim.FallbackModel)
	mixed := 0
	for i, st := range whole.Steps {
		fallbacks := inside(d, st.Concurrency, sim.FallbackModel)
		flagged := slices.ContainsFunc(st.Warnings, func(w load.Warning) bool {
			return w.Code == load.WarnMixedModels && strings.Contains(w.Text, sim.FallbackModel)
		})
		if flagged != (fallbacks > 0) || st.Models[sim.FallbackModel] != fallbacks {
			t.Errorf("N = %d: %d answers of the other model, flagged: %v, models %v", st.Concurrency, fallbacks, flagged, st.Models)
		}
		if fallbacks == 0 {
			continue
		}
		mixed++
		a, b := usual.Steps[i], other.Steps[i]
		if a.Finished+b.Finished != st.Finished || b.Finished != fallbacks || !a.Valid || len(a.Models) != 1 {
			t.Errorf("N = %d: %d and %d answers of %d, models %v", st.Concurrency, a.Finished, b.Finished, st.Finished, a.Models)
		}
		for w, all := range st.Measurements {
			if sum := a.Measurements[w] + b.Measurements[w]; sum < 0.999*all || sum > 1.001*all {
				t.Errorf("N = %d, window %d: %g and %g tokens/s of %g", st.Concurrency, w, a.Measurements[w], b.Measurements[w], all)
			}
		}
	}
	if mixed < 4 {
		t.Errorf("the fallback shows at %d levels only", mixed)
	}
}

// inside counts the answers of a model that ended inside the windows of a level.
func inside(d analysis.Data, n int, model string) (count int) {
	for i := range d.Visits {
		v := &d.Visits[i]
		span, _ := v.Span()
		for k := range d.Samples {
			if s := &d.Samples[k]; v.Level.Concurrency == n && s.Model == model && !s.Failed() && span.Holds(s.End) {
				count++
			}
		}
	}
	return count
}
