package peers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kneesweep/load"
)

// Result is what the files of one curve hold: what [kneesweep/analysis.Build]
// takes, and the doubts that concern all levels, for its Warnings.
type Result struct {
	Run      load.Run
	Steps    []load.Step // ascending, each Imported
	Warnings []load.Warning
}

const (
	apart   = 0.10 // difference of mean lengths between levels from which it is said
	foreign = 2    // factor between them from which the levels are not of one request shape
)

// Join makes one curve of files, in any order. Runs of the same level are its
// windows. It refuses what makes no curve: files of several tools, models or
// request shapes, and the same file twice. files is not empty; nothing in it is
// changed.
func Join(files []File) (Result, error) {
	files = distinct(files)
	if err := oneTool(files); err != nil {
		return Result{}, err
	}
	t := files[0].tool
	runs, left := gather(files)
	if len(runs) == 0 {
		return Result{}, fmt.Errorf("%s: %s: %w", files[0].name, t.name, errNoResult)
	}
	if err := oneShape(runs); err != nil {
		return Result{}, err
	}
	r := Result{Run: account(files, runs)}
	var all []measured
	byLevel := map[int][]measured{}
	for _, m := range runs {
		all = append(all, m.measured)
		byLevel[m.streams] = append(byLevel[m.streams], m.measured)
	}
	for _, n := range slices.Sorted(maps.Keys(byLevel)) {
		r.Steps = append(r.Steps, step(n, byLevel[n]))
	}
	for _, text := range append(t.doubts(all), unequal(runs)...) {
		r.Warnings = append(r.Warnings, load.Warnf(load.WarnPeerBias, "%s", text))
	}
	for _, text := range left {
		r.Warnings = append(r.Warnings, load.Warnf(load.WarnPeerBias, "left out: %s", text))
	}
	return r, nil
}

// distinct returns the files with the names of their folders where their own are
// the same, as those of AIPerf are.
func distinct(files []File) []File {
	files = slices.Clone(files)
	uses := map[string]int{}
	for _, f := range files {
		uses[f.name]++
	}
	for i, f := range files {
		if uses[f.name] > 1 {
			files[i].name = f.dir + "/" + f.name
		}
	}
	return files
}

// source is a run with the name of its file.
type source struct {
	file string
	measured
}

// gather collects the runs of all files, and what was left out of them. A model
// that is named beside the runs is that of those that name none.
func gather(files []File) (runs []source, left []string) {
	model := ""
	for _, f := range files {
		model = firstText(model, f.model)
	}
	for _, f := range files {
		for _, m := range f.runs {
			m.model = firstText(m.model, model)
			runs = append(runs, source{f.name, m})
		}
		for _, text := range f.left {
			left = append(left, f.name+": "+text)
		}
	}
	return runs, left
}

// oneTool refuses files of several tools, and files that are the same.
func oneTool(files []File) error {
	seen := map[[32]byte]string{}
	for _, f := range files {
		a, b := files[0].tool, f.tool
		switch {
		case a == b:
		case a.name == b.name:
			return fmt.Errorf("%s and %s: JSON and CSV of %s hold the same figures; give the JSON files alone", files[0].name, f.name, a.name)
		default:
			return fmt.Errorf("%s is of %s and %s of %s, which count differently: they make no common curve; analyze each tool's files with --out and plot the folders together",
				files[0].name, a.name, f.name, b.name)
		}
		if other, twice := seen[f.sum]; twice && len(f.runs) > 0 {
			return fmt.Errorf("%s and %s hold the same bytes: one measurement is not two; give it once", other, f.name)
		}
		seen[f.sum] = f.name
	}
	return nil
}

// oneShape refuses runs of several models or request shapes.
func oneShape(runs []source) error {
	for _, facet := range []struct {
		what string
		of   func(m measured) string
	}{
		{"the model", func(m measured) string { return m.model }},
		{"the prompts", func(m measured) string { return m.shape.Source }},
		{"the API", func(m measured) string { return m.shape.Dialect }},
		{"input tokens asked for", func(m measured) string { return asked(m.shape.InputTokensAsked) }},
		{"output tokens asked for", func(m measured) string { return asked(m.shape.OutputTokensAsked) }},
	} {
		if a, b, differ := extremes(runs, facet.of); differ {
			return fmt.Errorf("%s is %.60q in %s and %.60q in %s: a curve is of one model and one request shape; %s",
				facet.what, facet.of(a.measured), a.file, facet.of(b.measured), b.file, mend(a, b))
		}
	}
	for _, length := range lengths {
		if lo, hi := length.between(runs); lo.OK && hi.V > foreign*lo.V {
			return fmt.Errorf("%s have %.4g tokens on average at one level and %.4g at another: a curve is of one request shape; give the files of one", length.what, lo.V, hi.V)
		}
	}
	return nil
}

// mend says what to do about runs that differ.
func mend(a, b source) string {
	if a.file == b.file {
		return "keep the runs of one in the file"
	}
	return "give the files of one"
}

func asked(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// extremes finds two runs of which a text differs; empty ones are unknown.
func extremes(runs []source, of func(measured) string) (a, b source, differ bool) {
	known := ""
	for _, m := range runs {
		switch s := of(m.measured); {
		case s == "":
		case known == "":
			known, a = s, m
		case s != known:
			return a, m, true
		}
	}
	return a, b, false
}

// length is a mean length of which levels are compared.
type length struct {
	what string
	of   func(measured) load.Opt[float64]
}

var lengths = []length{
	{"prompts", func(m measured) load.Opt[float64] { return m.prompt }},
	{"answers", func(m measured) load.Opt[float64] { return m.output }},
}

// between is the smallest and the largest mean.
func (l length) between(runs []source) (lo, hi load.Opt[float64]) {
	for _, m := range runs {
		switch x := l.of(m.measured); {
		case !x.OK:
		case !lo.OK:
			lo, hi = x, x
		default:
			lo.V, hi.V = min(lo.V, x.V), max(hi.V, x.V)
		}
	}
	return lo, hi
}

// unequal says that the levels did not do the same work.
func unequal(runs []source) (texts []string) {
	for _, l := range lengths {
		if lo, hi := l.between(runs); lo.OK && hi.V > (1+apart)*lo.V {
			texts = append(texts, fmt.Sprintf("levels did not do the same work: %s have %.4g to %.4g tokens on average, which bends the curve either way", l.what, lo.V, hi.V))
		}
	}
	return texts
}

// account says where the figures come from.
func account(files []File, runs []source) load.Run {
	names := fileNames(files)
	run := load.Run{
		ID: names, Tool: fmt.Sprintf("%s (%s)", files[0].tool.name, names), Target: names, Status: load.StatusComplete, Seed: 1,
		Request: load.RequestShape{InputTokensGot: meanPrompt(runs)},
	}
	for _, m := range slices.Backward(runs) {
		run.Model = firstText(m.model, run.Model)
		run.Target = firstText(masked(m.target), run.Target)
		q := &run.Request
		q.Source, q.Dialect = firstText(m.shape.Source, q.Source), firstText(m.shape.Dialect, q.Dialect)
		q.InputTokensAsked, q.OutputTokensAsked = max(m.shape.InputTokensAsked, q.InputTokensAsked), max(m.shape.OutputTokensAsked, q.OutputTokensAsked)
		if !m.started.IsZero() && (run.Started.IsZero() || m.started.Before(run.Started)) {
			run.Started = m.started
		}
	}
	return run
}

// listed is how many files are named.
const listed = 3

// fileNames names the files of a curve, of many the first ones.
func fileNames(files []File) string {
	var names []string
	for _, f := range files[:min(len(files), listed)] {
		names = append(names, f.name)
	}
	text := strings.Join(names, ", ")
	if more := len(files) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// meanPrompt is the mean prompt over all requests that finished.
func meanPrompt(runs []source) load.Opt[float64] {
	sum, n := 0.0, 0.0
	for _, m := range runs {
		if m.prompt.OK && m.finished.OK {
			sum += m.prompt.V * float64(m.finished.V)
			n += float64(m.finished.V)
		}
	}
	return ratio(load.Some(sum), load.Some(n))
}
