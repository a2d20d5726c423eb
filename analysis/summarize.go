package analysis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// Data is everything that was measured in a run, live or read from a journal.
type Data struct {
	Run     load.Run
	Visits  []load.Visit
	Samples []load.Sample    // in any order
	Stored  Stored           // in place of Samples; nil = they are at hand
	Server  []load.Server    // what the server said of itself, in any order
	Open    []load.OpenPhase // of open loops; empty when none was run
	Summary *load.Summary    // what the samples came to when their chunks were at hand; nil = they are
}

// Analyze turns what was measured into a curve.
func Analyze(d Data) Curve {
	sum := d.Summary
	if sum == nil {
		sum = Sum(d)
	}
	run := d.Run
	run.Request.InputTokensGot = sum.InputTokensGot
	c := Build(run, sum.Steps)
	c.Confirm = confirm(d, c)
	if c.Rates = rateSweep(d); c.Rates != nil {
		c.Estimates = nil // of streams: none was asked for
		c.Recommended = Recommended{Reason: c.Rates.Recommended.Text}
	}
	c.Used = sum.Used
	return Priced(c, run.Settings.Prices)
}

// Sum is what a run came to. With it [Analyze] needs no chunks.
func Sum(d Data) *load.Summary {
	t := d.tally()
	return &load.Summary{InputTokensGot: t.PromptMean(), Used: t.Used(), Steps: Summarize(d)}
}

// Summarize makes one Step per level, ascending, all its visits pooled. Visits
// that were interrupted count only when a level has no other, and then the step
// is not valid; one that failures ended makes it invalid in any case.
func Summarize(d Data) []load.Step {
	all, server := d.requests(), byTime(d.Server)
	byLevel := visitsByLevel(d.Visits)
	steps := make([]load.Step, 0, len(byLevel))
	for _, n := range slices.Sorted(maps.Keys(byLevel)) {
		level := newLevelData(d.Run, n, byLevel[n], all)
		step := level.step()
		step.Server = level.serverFigures(server)
		steps = append(steps, step)
	}
	return steps
}

// inOrder is one order whatever the order of arrival: sums of floats come out alike.
func inOrder(samples []load.Sample) []*load.Sample {
	order := make([]*load.Sample, len(samples))
	for i := range samples {
		order[i] = &samples[i]
	}
	slices.SortFunc(order, func(a, b *load.Sample) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.ID, b.ID))
	})
	return order
}

func visitsByLevel(visits []load.Visit) map[int][]load.Visit {
	byLevel := map[int][]load.Visit{}
	for _, v := range visits {
		byLevel[v.Level.Concurrency] = append(byLevel[v.Level.Concurrency], v)
	}
	return byLevel
}

// stay is a visit with the samples that overlap its measured span.
type stay struct {
	load.Visit
	span    load.Span
	samples []*load.Sample

	// rest are the requests that a visit which failures ended sent or ended outside its
	// windows: what broke it stands there.
	rest []*load.Sample
}

// levelData is the input of one step.
type levelData struct {
	run   load.Run
	n     int
	stays []stay
	cut   string // why no complete visit could be used; empty = all well

	superseded []load.Visit // the level was measured again instead of them

	tokens tokenModel

	finished int // inside the windows
}

func newLevelData(run load.Run, n int, visits []load.Visit, all requests) *levelData {
	slices.SortFunc(visits, func(a, b load.Visit) int { return cmp.Compare(a.Index, b.Index) })
	d := &levelData{run: run, n: n}
	visits, d.superseded = latest(visits)
	order := all.of(visits)
	for _, v := range visits {
		unfinished := v.Ended == load.EndedInterrupted || v.Ended == load.EndedRunning
		if unfinished {
			d.cut = "interrupted"
			continue
		}
		d.add(v, order)
	}
	if len(d.stays) > 0 {
		d.cut = ""
	} else {
		for _, v := range visits {
			d.add(v, order)
		}
	}
	d.tokens = newTokenModel(d, all)
	return d
}

// latest returns the visits that count: where a level was measured again, because
// it contradicted its neighbours, that takes the place of what came before.
func latest(visits []load.Visit) (count, superseded []load.Visit) {
	for i := len(visits) - 1; i >= 0; i-- {
		if v := &visits[i]; v.Level.Again && v.Ended == "" {
			return visits[i:], visits[:i]
		}
	}
	return visits, nil
}

func (d *levelData) add(v load.Visit, order []*load.Sample) {
	s := stay{Visit: v}
	var ok bool
	if s.span, ok = v.Span(); ok {
		for _, m := range order {
			if m.Sent >= s.span.To {
				break
			}
			if m.End >= s.span.From {
				s.samples = append(s.samples, m)
			}
		}
	}
	if v.Ended == load.EndedFailing || v.Ended == load.EndedThrottled {
		for _, m := range order {
			if m.Visit == v.Index && (!ok || m.End >= s.span.To) {
				s.rest = append(s.rest, m)
			}
		}
	}
	d.stays = append(d.stays, s)
}

// seconds is the measured time of the level.
func (d *levelData) seconds() float64 { return d.measured().Seconds() }

// measured is the length of the measured spans together.
func (d *levelData) measured() time.Duration {
	var sum time.Duration
	for i := range d.stays {
		sum += d.stays[i].span.To - d.stays[i].span.From
	}
	return sum
}

// each calls f for every sample that overlaps a measured span.
func (d *levelData) each(f func(s *load.Sample, span load.Span)) {
	for i := range d.stays {
		for _, s := range d.stays[i].samples {
			f(s, d.stays[i].span)
		}
	}
}

// step computes the figures of the level.
func (d *levelData) step() load.Step {
	st := load.Step{Concurrency: d.n, Valid: true, Steady: true, Scout: d.scouted()}
	d.throughput(&st)
	d.latencies(&st)
	d.concurrency(&st)
	d.count(&st)
	d.audit(&st)
	d.judge(&st)
	d.objectives(&st)
	d.warn(&st)
	return st
}

// scouted reports whether the level had nothing but glances.
func (d *levelData) scouted() bool {
	return !slices.ContainsFunc(d.stays, func(s stay) bool { return !s.Level.Scout })
}

// throughput fills in the windows, their median and interval, and the drift
// between the first and the last pass.
func (d *levelData) throughput(st *load.Step) {
	var visible []float64
	perPass := map[int][]float64{}
	first, last := -1, -1
	for i := range d.stays {
		s := &d.stays[i]
		if len(s.Windows) == 0 {
			continue
		}
		st.Window = s.Windows[0].To - s.Windows[0].From
		t := d.tally(s)
		st.Measurements = append(st.Measurements, t.all...)
		visible = append(visible, t.visible...)
		st.Steady = st.Steady && t.steady
		p := s.Level.Pass
		perPass[p] = append(perPass[p], t.all...)
		if first < 0 || p < first {
			first = p
		}
		last = max(last, p)
	}
	if len(st.Measurements) == 0 {
		return
	}
	e := stat.MedianEstimate(st.Measurements)
	if e.Value <= 0 {
		return // a level without tokens is no point of the curve
	}
	st.Throughput = load.Some(e)
	st.VisibleTokens = load.Some(stat.Median(visible))
	if a, b := stat.Median(perPass[first]), stat.Median(perPass[last]); first != last && a+b > 0 {
		st.Drift = load.Some((b - a) / ((a + b) / 2))
	}
}
