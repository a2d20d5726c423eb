package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report"
	"kneesweep/sweep"
)

// The files of a sweep of several targets, beside a folder for each.
const (
	comparisonFile     = "comparison.md"
	comparisonJSONFile = "comparison.json"
)

var targetsFiles = []string{comparisonFile, comparisonJSONFile, figureFile, pageFile}

// contender is one of several targets while it is swept.
type contender struct {
	sweepOptions // with its own target and label
	client       *client.Client
	out          output
	run          load.Run
	journal      *journalSink
	memory       sweep.Memory
	local        *sweep.Local
	data         analysis.Data
	curve        analysis.Curve
}

// runTargets sweeps several targets in turn and compares the others with the first.
func runTargets(c *cli.Context, o sweepOptions) error {
	if err := checkConnections(o.targets[0].config.Connections, len(o.targets)); err != nil {
		return failed(err)
	}
	all, closeAll, err := o.contenders()
	defer closeAll()
	if err != nil {
		return usage(err)
	}
	top, err := openTargets(o.out, all)
	if err != nil {
		return failed(err)
	}
	if err := preflights(c, top, all); err != nil {
		return err
	}
	for _, t := range all {
		t.run = t.newRun(t.client)
		if t.journal, err = t.out.startJournal(t.run); err != nil {
			return failed(err)
		}
	}
	err = o.interleave(c, all)
	for _, t := range all {
		t.data = keep(t.run, &t.memory)
		t.journal.sum(&t.data)
		err = errors.Join(err, t.journal.close(t.run.Status, t.run.StopReason))
		t.curve = analysis.Analyze(t.data)
		err = errors.Join(err, t.out.write(t.curve))
	}
	result := compareTargets(all)
	if err = errors.Join(err, top.writeTargets(result)); err == nil {
		fmt.Fprintf(c.App.ErrWriter, "written to %s, with a folder for each of %d targets\n", top.dir, len(all))
	}
	if o.json {
		err = errors.Join(err, report.TargetsJSON(c.App.Writer, result))
	} else {
		err = errors.Join(err, report.TargetsTable(c.App.Writer, result))
	}
	if err != nil {
		return failed(err)
	}
	return targetsExit(c.Context, all)
}

// contenders makes the clients, which count their times from one epoch.
func (o *sweepOptions) contenders() (all []*contender, closeAll func(), err error) {
	closeAll = func() {
		for _, t := range all {
			t.client.Close()
		}
	}
	for _, n := range o.targets {
		t := &contender{sweepOptions: *o}
		t.target, t.label = n.target, n.name
		t.target.config.Epoch = o.targets[0].config.Epoch
		if t.client, err = client.New(t.target.config); err != nil {
			return all, closeAll, aboutTarget(n.name, err)
		}
		all = append(all, t)
	}
	return all, closeAll, nil
}

// openTargets makes the folder and those of the targets in it.
func openTargets(dir string, all []*contender) (top output, err error) {
	if top, err = openFolder(dir, all[0].target.config.Epoch, targetsFiles); err != nil {
		return top, err
	}
	for i, t := range all {
		if t.out, err = openOutput(filepath.Join(top.dir, t.label), t.target.config.Epoch); err != nil {
			discardAll(top, all[:i])
			return top, err
		}
	}
	return top, nil
}

func discardAll(top output, all []*contender) {
	for _, t := range all {
		t.out.discard()
	}
	top.discard()
}

// inTarget names the parts of --target in advice that is about the flags of a single
// endpoint.
var inTarget = strings.NewReplacer("check --url", "check the address in --target", "in --url", "in --target", "--url: ", "",
	"check --model", "check its model=", "in --model", "after model=", "--api-key-env", "key-env=")

// preflights asks every target once. If one does not answer, nothing is measured:
// there would be nothing to compare. Its folder keeps the account of that.
func preflights(c *cli.Context, top output, all []*contender) error {
	var errs []error
	for _, t := range all {
		first, err := preflight(c, t.client, &t.target)
		if c.Context.Err() != nil {
			discardAll(top, all)
			return err
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s", t.label, inTarget.Replace(err.Error())))
			quiet := t.sweepOptions
			quiet.json = false
			errs = append(errs, quiet.refused(c, t.out, t.client, &first))
			continue
		}
		for _, hint := range foresight(&first, t.plan.highest(), runtime.GOMAXPROCS(0), t.target.config.NewConnection) {
			fmt.Fprintf(c.App.ErrWriter, "hint: %s: %s\n", t.label, hint)
		}
		t.target.source = calibrate(t.target.source, first.PromptTokens.V)
		if err := fillCache(c, t.client, &t.target); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.label, err))
		}
	}
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	discardAll(top, all) // those without an account
	return failed(err)
}

// interleave runs the sweep under the budgets, which all targets share.
func (o *sweepOptions) interleave(c *cli.Context, all []*contender) error {
	limits := &budget{time: o.budget, tokens: o.tokenBudget, least: o.leastCharge()}
	ctx, stop := limits.start(c.Context)
	defer stop()
	health := sweep.NewHealth()
	defer health.Close()
	p := newProgress(c.App.ErrWriter, o)
	var turns []sweep.Resting
	for _, t := range all {
		local, err := t.newLocal(c, t.client, health, sweep.Tee(t.journal.take, t.memory.Take, limits.take, p.take))
		if err != nil {
			return err
		}
		defer local.Close()
		t.local, turns = local, append(turns, local)
	}
	var current atomic.Int32
	p.who = func() string { return all[current.Load()].label }
	stopProgress := p.start(ctx, func() sweep.Status { return statusOf(all, int(current.Load())) })
	outcomes, err := sweep.Interleave(ctx, o.plan.grid(), turns, func(i int) { current.Store(int32(i)) })
	for _, t := range all {
		t.local.Close()
	}
	stopProgress()
	for i, t := range all {
		t.run.Status, t.run.StopReason = ending(ctx, outcomes[i])
	}
	return err
}

// statusOf is the status of the target whose turn it is, with the chunks of all.
func statusOf(all []*contender, turn int) sweep.Status {
	now := all[turn].local.Status()
	for i, t := range all {
		if i != turn {
			now.Chunks += t.local.Status().Chunks
		}
	}
	return now
}

// compareTargets compares every other target with the first.
func compareTargets(all []*contender) report.Targets {
	var r report.Targets
	runs := make([]compare.Run, len(all))
	for i, t := range all {
		runs[i] = compare.Run{Curve: t.curve, Data: &t.data}
		r.Curves = append(r.Curves, t.curve)
	}
	for _, other := range runs[1:] {
		r.Comparisons = append(r.Comparisons, compare.Paired(runs[0], other, compare.Options{}))
	}
	return r
}

// writeTargets writes what stands beside the folders of the targets.
func (o output) writeTargets(r report.Targets) error {
	return o.saveAll([]rendered{
		{figureFile, func(b *bytes.Buffer) error {
			f, err := plots.Overlay(r.Curves, plots.AxisAuto)
			if err != nil {
				return err
			}
			return f.Write(b, "png")
		}},
		{comparisonJSONFile, func(b *bytes.Buffer) error { return report.TargetsJSON(b, r) }},
		{comparisonFile, func(b *bytes.Buffer) error { return report.TargetsMarkdown(b, r, figureFile) }},
		{pageFile, func(b *bytes.Buffer) error { return report.TargetsHTML(b, r) }},
	})
}

// targetsExit maps the outcomes to one exit code: that of the first target that has
// not what was asked for.
func targetsExit(ctx context.Context, all []*contender) error {
	for _, t := range all {
		err := sweepExit(ctx, t.data, t.curve)
		var e exitError
		if errors.As(err, &e) && e.err != nil {
			return exitError{e.code, fmt.Errorf("%s: %w", t.label, e.err)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// doubled are the levels without --levels for several targets: they need the same
// ones, so that none can choose its own.
func (p *levelPlan) doubled(c *cli.Context) {
	if !p.adaptive {
		return
	}
	if c.IsSet("precision") {
		fmt.Fprintln(c.App.ErrWriter, "hint: --precision has no effect beside --target: all targets are measured at the same levels")
	}
	p.adaptive, p.precision = false, 0
	if p.busy > 0 {
		p.levels = append(p.levels, p.busy)
		slices.Sort(p.levels)
		p.levels, p.busy = slices.Compact(p.levels), 0
	}
}

// shownTarget is a target as --dry-run shows it.
type shownTarget struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Model  string `json:"model"`
}

// shownTargets are the targets, without secrets.
func (o *sweepOptions) shownTargets() []shownTarget {
	list := []shownTarget{}
	for _, t := range o.targets {
		cl, err := client.New(t.config)
		if err != nil {
			continue // refused when the flags were read
		}
		list = append(list, shownTarget{t.name, cl.Endpoint(), t.config.Model})
		cl.Close()
	}
	return list
}

// targetLines are the same as text, a line for each.
func (o *sweepOptions) targetLines() string {
	var b strings.Builder
	head := "targets"
	for _, t := range o.shownTargets() {
		fmt.Fprintf(&b, "%-18s%s: %s, model %s\n", head, t.Name, t.Target, t.Model)
		head = ""
	}
	return b.String()
}
