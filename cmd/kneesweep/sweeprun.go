package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/record/prom"
	"kneesweep/report"
	"kneesweep/sweep"
)

// runSweep measures and writes; what is said about the outcome is in the curve.
func runSweep(c *cli.Context, o sweepOptions) error {
	stop, err := o.prepare()
	if err != nil {
		return failed(err)
	}
	defer stop()
	cl, err := client.New(o.target.config)
	if err != nil {
		return usage(err)
	}
	defer cl.Close()
	out, unlock, err := o.openOutput()
	if err != nil {
		return failed(err)
	}
	defer unlock()
	view, err := startUI(o.ui, c.App.ErrWriter)
	if err != nil {
		out.discard()
		return failed(err)
	}
	defer view.close()
	first, err := preflight(c, cl, &o.target)
	switch {
	case c.Context.Err() != nil:
		out.discard()
		return err
	case err != nil && o.earlier != nil:
		return err // what was measured stays as it is
	case err != nil:
		return errors.Join(o.refused(c, out, cl, &first), err)
	}
	if !o.target.embedded { // its truth is known, and it shares our cores
		for _, hint := range foresight(&first, o.plan.highest(), runtime.GOMAXPROCS(0), o.target.config.NewConnection) {
			fmt.Fprintf(c.App.ErrWriter, "hint: %s\n", hint)
		}
	}
	o.target.source = calibrate(o.target.source, first.PromptTokens.V)
	if err := fillCache(c, cl, &o.target); err != nil {
		out.discard()
		return err
	}
	run := o.newRun(cl)
	if err := o.rejoin(&run); err != nil {
		return usage(err)
	}
	journal, err := out.startJournal(run)
	if err != nil {
		out.discard()
		return failed(err)
	}
	metrics := prom.New(run)
	remember(c.Context, metrics)
	view.serveMetrics(metrics.Handler())
	data, err := o.measure(c, cl, run, &first, sweep.Tee(journal.take, counted(metrics)), view)
	journal.sum(&data)
	err = errors.Join(err, journal.close(data.Run.Status, data.Run.StopReason))
	return o.conclude(c, out, data, metrics, view, err)
}

// conclude writes, shows, keeps and tells what was measured; err is what went wrong before.
func (o *sweepOptions) conclude(c *cli.Context, out output, data analysis.Data, metrics *prom.Metrics, view *ui, err error) error {
	curve := analysis.Analyze(data)
	view.finish(curve, out.dir)
	// What cannot be kept can still be shown.
	werr := errors.Join(err, out.finish(c, curve))
	perr := printCurve(c, curve, o.json)
	failure := failureOf(data, curve)
	o.keepRun(c, out.dir, curve, failure)
	o.tell(c, metrics, curve, failure, o.past(c, curve, failure))
	if err := errors.Join(werr, perr); err != nil {
		return failed(err)
	}
	return sweepExit(c.Context, data, curve)
}

// prepare sees to what this process needs, and starts the embedded endpoint if it is
// the target.
func (o *sweepOptions) prepare() (stop func(), err error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // a stream takes a fifth less memory for it, and little garbage is made (docs/bench.md)
	}
	perStream := 1
	if o.target.embedded {
		perStream = 2 // both ends are ours
	}
	if err := checkConnections(o.target.config.Connections, perStream); err != nil {
		return nil, err
	}
	if !o.target.embedded {
		return func() {}, nil
	}
	o.target.config.URL, stop, err = startEmbedded(embeddedConfig(o.target.config.Seed))
	return stop, err
}

// openOutput makes the folder of the sweep, or takes that of the one that goes on; unlock
// is to be called when it has ended.
func (o *sweepOptions) openOutput() (out output, unlock func(), err error) {
	if e := o.earlier; e != nil {
		unlock, err = e.lock()
		return output{dir: e.dir}, unlock, err
	}
	out, err = openOutput(o.out, o.target.config.Epoch)
	return out, func() {}, err
}

// rejoin makes a run the one that goes on, if it is the same, and sets its journal aside.
func (o *sweepOptions) rejoin(run *load.Run) error {
	e := o.earlier
	if e == nil {
		return nil
	}
	if err := e.join(run, time.Since(o.target.config.Epoch)); err != nil {
		return err
	}
	if _, err := e.policy(o.plan.policy(func() float64 { return 0 }, nil)); err != nil {
		return err
	}
	return e.setAside()
}

// refused keeps the account of a sweep that the endpoint did not let begin, so
// that whoever scheduled it finds the reason where the figures should be.
func (o *sweepOptions) refused(c *cli.Context, out output, cl *client.Client, s *load.Sample) error {
	run := o.newRun(cl)
	run.Preflight = &load.Refusal{Cause: s.Cause, Error: s.Error}
	run.Status, run.StopReason = load.StatusStopped, fmt.Sprintf("the preflight failed (%s)", s.Cause)
	journal, err := out.startJournal(run)
	if err == nil {
		err = journal.close(run.Status, run.StopReason)
	}
	curve := analysis.Analyze(analysis.Data{Run: run})
	err = errors.Join(err, out.finish(c, curve))
	failure := failureOf(analysis.Data{}, curve)
	o.keepRun(c, out.dir, curve, failure)
	metrics := prom.New(run)
	remember(c.Context, metrics)
	o.tell(c, metrics, curve, failure, nil)
	if o.json {
		err = errors.Join(err, printCurve(c, curve, true))
	}
	return err
}

// newRun is the account of where the figures come from.
func (o *sweepOptions) newRun(cl *client.Client) load.Run {
	seed, request := o.target.config.Seed, o.target.source.Describe()
	request.Stream, request.Dialect = !o.target.config.NoStream, string(o.target.config.Dialect)
	request.Extra, request.Insecure = cl.Extra(), o.target.insecure
	if request.CacheMode == "" {
		request.CacheMode = load.CacheNatural
	}
	run := load.Run{
		ID: newRunID(o.target.config.Epoch), Started: o.target.config.Epoch.Round(0), Tool: "kneesweep " + version(),
		Target: cl.Endpoint(), Model: o.target.config.Model, Label: o.label, Seed: seed, DatasetHash: o.target.source.Hash(),
		Request: request, Settings: o.settings,
	}
	if o.target.embedded {
		run.Target = "embedded simulated endpoint"
		run.Truth = embeddedTruth(seed, request.InputTokensAsked, request.OutputTokensAsked)
	}
	return run
}

// measure runs the sweep under its budgets. First is the request of the preflight.
func (o *sweepOptions) measure(c *cli.Context, cl *client.Client, run load.Run, first *load.Sample, journal sweep.Sink, view *ui) (analysis.Data, error) {
	limits := &budget{time: o.budget, tokens: o.tokenBudget, least: o.leastCharge(), money: moneyBudget{limit: o.money, prices: o.settings.Prices}}
	ctx, stop := limits.start(c.Context)
	defer stop()
	health := sweep.NewHealth()
	defer health.Close()
	var mem sweep.Memory
	p := newProgress(c.App.ErrWriter, o)
	sink := sweep.Tee(journal, mem.Take, limits.take, p.take)
	if o.tui {
		p.whole = newTUI(c.App.ErrWriter, run)
		sink = sweep.Tee(sink, p.whole.take)
	}
	o.earlier.replay(sink)
	var outcome sweep.Outcome
	var err error
	switch {
	case o.settings.Replay:
		outcome, err = o.replay(ctx, c, cl, health, sink)
	case o.settings.Open():
		outcome, err = o.sweepRates(ctx, c, cl, first.E2E(), health, sink)
	default:
		outcome, err = o.sweepLevels(ctx, c, cl, run, health, &mem, p, limits, sink, view)
	}
	run.Status, run.StopReason = ending(ctx, outcome)
	return keep(run, &mem), err
}

// sweepLevels holds the levels one after the other, in a closed loop.
func (o *sweepOptions) sweepLevels(ctx context.Context, c *cli.Context, cl *client.Client, run load.Run, health *sweep.Health,
	mem *sweep.Memory, p *progress, limits *budget, sink sweep.Sink, view *ui) (sweep.Outcome, error) {
	local, err := o.newLocal(c, cl, health, sink)
	if err != nil {
		return sweep.Outcome{Status: load.StatusStopped, Reason: err.Error()}, err
	}
	stopProgress := p.start(c.Context, local.Status)
	stopView := view.follow(&liveRun{run, mem}, p.lines(local.Status))
	policy, err := o.earlier.policy(o.plan.policy(limits.spent, o.judged(run, mem)))
	outcome := sweep.Outcome{Status: load.StatusInterrupted, Reason: "interrupted"}
	if err == nil {
		outcome, err = sweep.Run(ctx, local, policy)
	}
	local.Close()
	stopProgress()
	stopView()
	if o.confirm && err == nil && outcome.Status == load.StatusComplete {
		err = o.openLoop(ctx, c, cl, keep(run, mem), sink)
		if ctx.Err() != nil {
			outcome.Status = load.StatusInterrupted
		}
	}
	return outcome, err
}

// newLocal drives the target as the flags say.
func (o *sweepOptions) newLocal(c *cli.Context, cl *client.Client, health *sweep.Health, sink sweep.Sink) (*sweep.Local, error) {
	return sweep.NewLocal(sweep.Config{
		Sender: cl, Source: o.target.source, Sink: sink,
		Epoch: o.target.config.Epoch, Warmup: o.settings.Warmup, Window: o.settings.Window,
		After: o.earlier.after(), Think: o.settings.Think, MaxErrorRate: o.settings.MaxErrorRate, Seed: o.target.config.Seed, Health: health, Probe: o.target.probe(c, cl.Endpoint()),
	})
}

// ending tells a budget that ended a sweep from a signal that did.
func ending(ctx context.Context, o sweep.Outcome) (load.Status, string) {
	cause := context.Cause(ctx)
	switch {
	case cause == nil || o.Status != load.StatusInterrupted:
		return o.Status, o.Reason
	case !errors.As(cause, new(interrupted)):
		return load.StatusStopped, cause.Error()
	}
	return o.Status, cause.Error()
}

// keep returns what a sweep left in memory.
func keep(run load.Run, mem *sweep.Memory) analysis.Data {
	return analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples, Server: mem.Server, Open: mem.Open}
}

// judged returns the levels so far as the limits of --slo see them; nil without limits.
func (o *sweepOptions) judged(run load.Run, mem *sweep.Memory) func() []load.Step {
	if o.settings.SLO == "" {
		return nil
	}
	return func() []load.Step {
		visits, samples := mem.Snapshot()
		return analysis.Summarize(analysis.Data{Run: run, Visits: visits, Samples: samples})
	}
}

// leastCharge is what an attempt costs of the token budget at least, whatever the
// server counts: the prompt as it was meant to be.
func (o *sweepOptions) leastCharge() int {
	return o.target.source.LeastPrompt()
}

func printCurve(c *cli.Context, curve analysis.Curve, asJSON bool) error {
	if asJSON {
		return report.CurveJSON(c.App.Writer, curve)
	}
	return report.Table(c.App.Writer, curve)
}

// sweepExit maps the outcome to the exit code.
func sweepExit(ctx context.Context, data analysis.Data, curve analysis.Curve) error {
	if code, ok := interruptCode(ctx); ok {
		return exitError{code, nil}
	}
	if why := analysis.Unusable(data, curve); why != "" {
		return exitError{exitNoCurve, errors.New(why)}
	}
	return sloExit(curve)
}
