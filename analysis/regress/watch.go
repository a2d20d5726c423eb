package regress

import (
	"cmp"
	"math"
	"slices"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// Verdict says in one word what the last night shows.
type Verdict string

// The verdicts.
const (
	NotEnough   Verdict = "not_enough_history"
	Steady      Verdict = "steady"
	Drifting    Verdict = "drift"
	Improvement Verdict = "improvement"
	Regression  Verdict = "regression"
)

const (
	// MinNights is how many nights it takes, the last one included, to judge it.
	MinNights = 4

	lineNights = 8     // from so many on, a line is drawn: three make it, five show the noise
	early      = 0.010 // false alarms a night at most before that
	window     = 24    // nights back that a night is judged by
	alpha      = 0.006 // false alarms a night at most, over all figures
	ofLevels   = 0.2   // the share of it that is for single levels
	driftP     = 0.005 // for all figures of a night
	driftRuns  = 10    // nights that a drift takes
	excursion  = 3     // nights after which a change that went back was a lasting one
	tellP      = 0.05  // what else moved together with a change
)

// Options bound what matters.
type Options struct {
	MinEffect float64 // relative change that matters; 0 = 5 %
}

func (o Options) minEffect() float64 { return cmp.Or(o.MinEffect, 0.05) }

// Shift is by how much a figure changed from one level to another.
type Shift struct {
	Figure string
	Level  int     // streams, of a single level; 0 = of the whole curve
	Change float64 // relative: −0.12 is 12 % less
	Lo, Hi float64 // its 95 % interval
	P      float64 // one-sided probability of a shift as large by chance
	Worse  bool
}

// Event is a change of level.
type Event struct {
	Night  int           // number of the night that showed it
	Since  int           // number of the first night of the new level: that night, or the one before
	Worse  bool          // its surest shift is for the worse
	Back   load.Opt[int] // number of the night from which on the old level held again, within three nights
	Shifts []Shift       // the surest first
}

// Drift is a slow change.
type Drift struct {
	Figure string
	PerDay float64 // relative change a day
	Total  float64 // over the days of the nights that show it
	Days   float64
	P      float64 // two-sided
	Worse  bool
}

// Report is what the nights say.
type Report struct {
	Nights  int
	Verdict Verdict // of the last night
	Events  []Event // of all nights, in their order
	Drifts  []Drift // that the last night shows
}

// Watch judges the nights one after the other, in the order of time, as if each were the
// last: what it says of a night does not depend on later ones, but for Back.
//
// Each figure x is held against a model of the last 24 nights,
//
//	log x = a + b·t + Σ cₛ·[night ≥ s] + noise,
//
// a line in time with a step for each change that is known already, fitted by least squares. The
// night is a change if one more step at it, or at the night before, has a coefficient that
// chance gives in at most 0.6 % of nights: one-sided by Student's t with the residual degrees of
// freedom, divided by Bonferroni among the figures (four fifths) and the single levels (one fifth), and
// the two places. The noise is that between nights, whatever makes it; a drift is in the line,
// so it is none. With three to six nights before there is no line yet: the night is then held
// against their mean, with 1 % for all figures together. A change back within three nights makes those nights an excursion, which no longer
// counts.
func Watch(nights []Night, o Options) Report {
	w := watcher{nights: nights, o: o, skip: map[int]bool{}}
	for t := range nights {
		w.judge(t)
	}
	r := Report{Nights: len(nights), Verdict: Steady, Events: w.events, Drifts: w.drifts}
	last := len(nights) - 1
	switch {
	case len(nights) < MinNights:
		r.Verdict = NotEnough
	case len(r.Drifts) > 0:
		r.Verdict = Drifting
	}
	if n := len(r.Events); n > 0 && r.Events[n-1].Night == last {
		r.Verdict = Improvement
		if r.Events[n-1].Worse {
			r.Verdict = Regression
		}
	}
	return r
}

// watcher goes through the nights.
type watcher struct {
	nights []Night
	o      Options
	steps  []int        // first nights of new levels
	skip   map[int]bool // nights of excursions
	events []Event
	drifts []Drift // of the night judged last
}

// judge holds night t against those before it.
func (w *watcher) judge(t int) {
	w.drifts = nil
	first := max(0, t+1-window)
	stretch := w.nights[first : t+1]
	flat := len(stretch) < lineNights
	if len(stretch) < MinNights {
		return
	}
	days := make([]float64, len(stretch))
	for i, x := range stretch {
		days[i] = x.At.Sub(stretch[len(stretch)-1].At).Hours() / 24
	}
	whole, single := figures(stretch)
	at := func(s series) line {
		l := newLine(s, days, w.skip, first, w.steps)
		l.flat = flat
		return l
	}
	type family struct {
		list   []series
		alpha  float64
		places int
	}
	families := []family{{whole, alpha * (1 - ofLevels), 2}, {single, alpha * ofLevels, 2}}
	if flat {
		families = []family{{whole, early, 1}}
	}
	var best load.Opt[Shift]
	since := t
	for _, f := range families {
		for _, s := range f.list {
			l := at(s)
			for _, from := range places(l, t, f.places) {
				x, ok := shift(s, l, from)
				if ok && x.P < f.alpha/float64(f.places*len(f.list)) && math.Abs(x.Change) > w.o.minEffect() && (!best.OK || x.P < best.V.P) {
					best, since = load.Some(x), from
				}
			}
		}
	}
	if !best.OK {
		if !flat {
			w.drift(whole, at)
		}
		return
	}
	if w.wentBack(best.V, since) {
		return
	}
	e := Event{Night: t, Since: since, Worse: best.V.Worse}
	for _, s := range slices.Concat(whole, single) {
		if x, ok := shift(s, at(s), since); ok && x.P < tellP && math.Abs(x.Change) > w.o.minEffect() {
			e.Shifts = append(e.Shifts, x)
		}
	}
	slices.SortStableFunc(e.Shifts, func(a, b Shift) int { return cmp.Compare(a.P, b.P) })
	w.events, w.steps = append(w.events, e), append(w.steps, since)
}

// places are the nights at which a step may have come: t, and the one before it that
// has the figure; the first most of them.
func places(l line, t, most int) []int {
	n := len(l.night)
	if n < 2 || l.night[n-1] != t {
		return nil
	}
	return []int{t, l.night[n-2]}[:most]
}

// shift is the step of a figure at a night.
func shift(s series, l line, from int) (Shift, bool) {
	e, ok := l.step(from)
	if !ok {
		return Shift{}, false
	}
	half := stat.Student{DF: float64(e.df)}.Quantile(0.975) * e.se
	x := Shift{Figure: s.name, Level: s.level, Change: math.Expm1(e.value), Lo: math.Expm1(e.value - half), Hi: math.Expm1(e.value + half)}
	x.P, x.Worse = e.less(), e.value < 0 != s.lowerIsBetter
	if e.value > 0 {
		x.P = 1 - x.P
	}
	return x, true
}

// wentBack makes the last change an excursion, if the new one undoes it soon.
func (w *watcher) wentBack(x Shift, since int) bool {
	n := len(w.events)
	if n == 0 || w.events[n-1].Back.OK || w.events[n-1].Worse == x.Worse || since-w.events[n-1].Since > excursion {
		return false
	}
	e := &w.events[n-1]
	e.Back = load.Some(since)
	for i := e.Since; i < since; i++ {
		w.skip[i] = true
	}
	w.steps = w.steps[:len(w.steps)-1]
	return true
}

// drift looks for slow changes of the figures of whole curves.
func (w *watcher) drift(whole []series, at func(series) line) {
	for _, s := range whole {
		l := at(s)
		e, ok := l.slope()
		if !ok || len(l.y) < driftRuns {
			continue
		}
		d := Drift{Figure: s.name, PerDay: math.Expm1(e.value), Days: l.days[len(l.days)-1] - l.days[0], Worse: e.value < 0 != s.lowerIsBetter}
		d.Total = math.Expm1(e.value * d.Days)
		d.P = 2 * min(e.less(), 1-e.less())
		if d.P < driftP/float64(len(whole)) && math.Abs(d.Total) > w.o.minEffect() {
			w.drifts = append(w.drifts, d)
		}
	}
}
