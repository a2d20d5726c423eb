package compare

import (
	"fmt"
	"math"
	"strings"

	"kneesweep/analysis"
	"kneesweep/load"
)

const (
	lengthShare = 0.10 // by which mean lengths may differ before the work is another
	cacheShare  = 0.10 // the same of the share of cached prompt tokens, absolute
)

// Difference is a field in which the accounts of two runs differ.
type Difference struct {
	Field    string // as in the curve's JSON, below run
	Old, New string // as text; "not recorded" when a run does not say
	Fatal    bool   // the two runs did not do the same work: they cannot be compared
	Expected bool   // what a comparison is made for, or what never matters
}

// unrecorded stands for what the account of a run does not say.
const unrecorded = "not recorded"

// differences lists the fields in which the accounts of two runs differ: first
// what forbids a comparison, then what weakens it, then what it is made for. A
// field that one run does not record weakens it.
func differences(old, latest analysis.Curve) []Difference {
	var fatal, weak, expected []Difference
	for _, f := range fields(old, latest) {
		if f.Old == f.New {
			continue
		}
		if f.Fatal && (f.Old == unrecorded || f.New == unrecorded) {
			f.Fatal = false
		}
		switch {
		case f.Fatal:
			fatal = append(fatal, f)
		case f.Expected:
			expected = append(expected, f)
		default:
			weak = append(weak, f)
		}
	}
	return append(append(fatal, weak...), expected...)
}

// fields are the fields of both accounts. The model forbids a comparison because
// another model is other work: tokens of different size and number.
func fields(old, latest analysis.Curve) []Difference {
	a, b := old.Run, latest.Run
	var all []Difference
	add := func(kind Difference, name string, of func(load.Run) string) {
		kind.Field, kind.Old, kind.New = name, of(a), of(b)
		all = append(all, kind)
	}
	fatal, weak, expected := Difference{Fatal: true}, Difference{}, Difference{Expected: true}
	swept := func(f func(load.Run) string) func(load.Run) string { // a table says nothing of it
		return func(r load.Run) string {
			if r.Settings.Passes == 0 {
				return unrecorded
			}
			return f(r)
		}
	}
	add(fatal, "request.input_tokens_asked", func(r load.Run) string { return count(r.Request.InputTokensAsked) })
	add(fatal, "request.output_tokens_asked", func(r load.Run) string { return count(r.Request.OutputTokensAsked) })
	add(fatal, "model", func(r load.Run) string { return text(r.Model) })
	add(fatal, "request.stream", swept(func(r load.Run) string { return fmt.Sprint(r.Request.Stream) }))
	add(fatal, "request.dialect", func(r load.Run) string { return text(r.Request.Dialect) })
	add(fatal, "request.extra", swept(func(r load.Run) string { return or(r.Request.Extra, "none") }))
	add(fatal, "request.source", func(r load.Run) string { return text(r.Request.Source) })
	add(fatal, "request.cache", func(r load.Run) string { return text(r.Request.Cache) })
	add(fatal, "settings.think_ms", swept(func(r load.Run) string { return fmt.Sprintf("%g", float64(r.Settings.Think.Microseconds())/1e3) }))
	prompts := fatal
	if generated(a) && generated(b) { // the hash holds the number of words, which follows the tokenizer, and the seed
		prompts = weak
	}
	if prompts.Fatal || a.Seed == b.Seed {
		add(prompts, "dataset_hash", func(r load.Run) string { return text(r.DatasetHash) })
	}
	add(weak, "tool", func(r load.Run) string { return text(r.Tool) })
	add(weak, "settings.window_ms", swept(func(r load.Run) string { return fmt.Sprintf("%g", float64(r.Settings.Window.Microseconds())/1e3) }))
	add(weak, "settings.measurements", func(r load.Run) string { return count(r.Settings.Measurements) })
	add(weak, "settings.passes", func(r load.Run) string { return count(r.Settings.Passes) })
	add(weak, "settings.requests", swept(func(r load.Run) string { return fmt.Sprint(r.Settings.Requests) }))
	add(weak, "settings.warmup", swept(func(r load.Run) string { return fmt.Sprint(r.Settings.Warmup) }))
	add(weak, "settings.slo", swept(func(r load.Run) string { return or(r.Settings.SLO, "none") }))
	add(weak, "status", func(r load.Run) string { return text(string(r.Status)) })
	add(expected, "target", func(r load.Run) string { return text(r.Target) })
	add(expected, "label", func(r load.Run) string { return or(r.Label, "none") })
	add(expected, "seed", func(r load.Run) string { return fmt.Sprint(r.Seed) })
	return all
}

// generated reports whether the prompts of a run were made up, not read.
func generated(r load.Run) bool { return strings.HasPrefix(r.Request.Source, "synthetic") }

func text(s string) string { return or(s, unrecorded) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func count(n int) string {
	if n == 0 {
		return unrecorded
	}
	return fmt.Sprint(n)
}

// work says in which figures that were measured, not asked for, the work of two
// runs differs: lengths of prompts and answers, and what caches answered.
func (c *Comparison) work(old, latest analysis.Curve) []load.Warning {
	var all []load.Warning
	a, b := old.Run.Request.InputTokensGot, latest.Run.Request.InputTokensGot
	if a.OK && b.OK && apart(a.V, b.V) {
		all = append(all, load.Warnf(WarnWork, "prompts had %.3g tokens on average in %s and %.3g in %s", a.V, c.OldName, b.V, c.NewName))
	}
	type point struct {
		old, latest load.Step
	}
	var long, cached []point
	steps := valid(latest)
	for _, s := range old.Steps {
		t, ok := steps[s.Concurrency]
		if !ok || !s.Valid {
			continue
		}
		if x, y := s.OutputLengthMean, t.OutputLengthMean; x.OK && y.OK && apart(x.V, y.V) {
			long = append(long, point{s, t})
		}
		if x, y := s.CachedShare, t.CachedShare; (x.OK || y.OK) && math.Abs(x.V-y.V) > cacheShare {
			cached = append(cached, point{s, t})
		}
	}
	if len(long) > 0 {
		p := long[0]
		all = append(all, load.Warnf(WarnWork, "answers had other lengths at %d levels (N = %d: %.3g tokens on average in %s, %.3g in %s)",
			len(long), p.old.Concurrency, p.old.OutputLengthMean.V, c.OldName, p.latest.OutputLengthMean.V, c.NewName))
	}
	if len(cached) > 0 {
		p := cached[0]
		all = append(all, load.Warnf(WarnWork, "caches answered other shares of the prompts at %d levels (N = %d: %.0f %% in %s, %.0f %% in %s)",
			len(cached), p.old.Concurrency, 100*p.old.CachedShare.V, c.OldName, 100*p.latest.CachedShare.V, c.NewName))
	}
	return all
}

func apart(a, b float64) bool { return math.Abs(a-b) > lengthShare*min(a, b) }
