package main

import (
	"context"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/regress"
	"kneesweep/load"
	"kneesweep/record/history"
)

// watchedRuns bounds how far back a series is read to judge its last run: the nights
// that count, and enough before them to know the changes among them.
const watchedRuns = 120

// nightsOf are the runs of a series as nights, the oldest first.
func nightsOf(ctx context.Context, db *history.DB, entries []history.Entry) ([]regress.Night, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	first := entries[0]
	levels, err := db.Levels(ctx, history.Filter{Target: first.Target, Model: first.Model, Shape: first.Shape, Since: first.Started, Curves: true})
	if err != nil {
		return nil, err
	}
	nights := make([]regress.Night, 0, len(entries))
	for _, e := range entries {
		n := regress.Night{ID: e.ID, At: e.Started, Levels: map[int]regress.Level{}, Recommended: e.Recommended,
			Knee: valueOf(e.Knee), Plateau: valueOf(e.Plateau)}
		for _, l := range levels[e.ID] {
			n.Levels[l.Concurrency] = regress.Level{Rate: l.Rate, TTFT: l.TTFT}
		}
		nights = append(nights, n)
	}
	return nights, nil
}

func valueOf(e load.Opt[load.Estimate]) load.Opt[float64] {
	return load.Opt[float64]{V: e.V.Value, OK: e.OK}
}

// judged is what the history says of a run.
type judged struct {
	nights []regress.Night
	report regress.Report
}

// judgeRun holds a run against those of its series that began before it.
func judgeRun(ctx context.Context, db *history.DB, c analysis.Curve) (j judged, err error) {
	past, err := db.Series(ctx, history.Filter{Target: c.Run.Target, Model: c.Run.Model, Shape: history.Shape(c.Run)})
	if err != nil {
		return j, err
	}
	kept := past[:0]
	for _, e := range past {
		if e.ID != c.Run.ID && e.Started.Before(c.Run.Started.Truncate(time.Microsecond)) {
			kept = append(kept, e)
		}
	}
	if n := len(kept) - watchedRuns; n > 0 {
		kept = kept[n:]
	}
	if j.nights, err = nightsOf(ctx, db, kept); err != nil {
		return j, err
	}
	j.nights = append(j.nights, regress.FromCurve(c))
	j.report = regress.Watch(j.nights, regress.Options{})
	return j, nil
}

// watch judges the latest runs of a series, one after the other.
func watch(ctx context.Context, db *history.DB, entries []history.Entry) (j judged, err error) {
	if n := len(entries) - watchedRuns; n > 0 {
		entries = entries[n:]
	}
	if j.nights, err = nightsOf(ctx, db, entries); err == nil {
		j.report = regress.Watch(j.nights, regress.Options{})
	}
	return j, err
}

// eventJSON is a change of level in a series.
type eventJSON struct {
	Run    string           `json:"run"`   // that showed it
	Since  string           `json:"since"` // first run of the new level
	Worse  bool             `json:"worse"`
	Back   load.Opt[string] `json:"back"` // run from which on the old level held again, within three runs
	Shifts []shiftJSON      `json:"shifts"`
}

func (j judged) events() []eventJSON {
	list := []eventJSON{}
	for _, e := range j.report.Events {
		x := eventJSON{Run: j.nights[e.Night].ID, Since: j.nights[e.Since].ID, Worse: e.Worse, Shifts: shiftsOf(e.Shifts)}
		if e.Back.OK {
			x.Back = load.Some(j.nights[e.Back.V].ID)
		}
		list = append(list, x)
	}
	return list
}

// changes are the runs at which a change began, for a chart: −1 for the worse, 1 for the
// better.
func (j judged) changes() map[string]int {
	all := map[string]int{}
	for _, e := range j.report.Events {
		all[j.nights[e.Since].ID] = 1
		if e.Worse {
			all[j.nights[e.Since].ID] = -1
		}
	}
	return all
}

// sentence is what the run shows, in words.
func (j judged) sentence() string { return j.report.Sentence(j.nights) }
