package sweep

import (
	"context"
	"slices"

	"kneesweep/load"
)

// Resting is a Stepper whose load can be taken off between visits. Rest starts no
// more requests and returns when those in flight have ended, or ctx has.
type Resting interface {
	Stepper
	Rest(ctx context.Context)
}

// Rest is that of [Resting]: every worker retires as its request ends. The next Hold
// begins with an empty pool.
func (l *Local) Rest(ctx context.Context) {
	l.mu.Lock()
	l.target = 0
	l.mu.Unlock()
	for {
		l.mu.Lock()
		idle := l.alive == 0
		l.mu.Unlock()
		if idle || ctx.Err() != nil {
			return
		}
		select {
		case <-l.changed:
		case <-ctx.Done():
		}
	}
}

// Interleave sweeps several endpoints through the visits of one grid, each visit on
// all of them in turn while the others rest, so that what drifts, drifts under all
// alike. The order is turned round with each visit: a level that one endpoint is
// first to hold on the way up, it is last to hold on the way down. An endpoint that
// fails is spared like that of a [Grid]; the others go on. turn, if not nil, is called
// with the index of the endpoint before each visit. There is an Outcome for each
// endpoint, in the order given.
func Interleave(ctx context.Context, g Grid, endpoints []Resting, turn func(int)) ([]Outcome, error) {
	lids, outcomes := make([]lid, len(endpoints)), make([]Outcome, len(endpoints))
	order := make([]int, len(endpoints))
	for i := range order {
		order[i] = i
	}
	for _, level := range g.Plan() {
		for _, i := range order {
			if outcomes[i].Status != "" || lids[i].forbids(level.Concurrency) {
				continue
			}
			if ctx.Err() != nil {
				return endAll(outcomes, Outcome{load.StatusInterrupted, "interrupted"}), nil
			}
			if turn != nil {
				turn(i)
			}
			v, err := endpoints[i].Hold(ctx, level)
			if err != nil {
				return endAll(outcomes, Outcome{load.StatusStopped, err.Error()}), err
			}
			endpoints[i].Rest(ctx)
			if v.Ended == load.EndedInterrupted {
				continue // no fault of the endpoint
			}
			lids[i].note(&v)
			if stop, over := lids[i].stop(); over {
				outcomes[i] = stop
			}
		}
		slices.Reverse(order)
	}
	for i := range lids {
		if outcomes[i].Status == "" {
			outcomes[i] = lids[i].cut()
		}
	}
	if ctx.Err() != nil {
		return endAll(outcomes, Outcome{load.StatusInterrupted, "interrupted"}), nil
	}
	return endAll(outcomes, Outcome{Status: load.StatusComplete}), nil
}

// endAll gives every sweep that has not ended an end.
func endAll(outcomes []Outcome, end Outcome) []Outcome {
	for i := range outcomes {
		if outcomes[i].Status == "" {
			outcomes[i] = end
		}
	}
	return outcomes
}
