package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
)

func rateFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: category, Name: "rates", Usage: "in place of levels: `LIST` of rates in requests/s, written like --levels, fractions allowed; requests come whatever the answers do (open loop), at most --max-concurrency in flight"},
		&cli.StringFlag{Category: category, Name: "arrivals", Value: "poisson", Usage: "how requests come at --rates: constant, poisson, or gamma:`CV` with the coefficient of variation of the gaps"},
	}
}

// arrivalStream is the stream of the generator from which arrivals are drawn.
const arrivalStream = 0x617272 << 32

// arrivals is how requests come at a rate.
type arrivals struct {
	name string // in words
	cv   float64
}

// parseProcess reads --arrivals.
func parseProcess(s string) (arrivals, error) {
	kind, cv, given := strings.Cut(s, ":")
	switch {
	case s == "constant":
		return arrivals{"evenly spaced", 0}, nil
	case s == "poisson":
		return arrivals{"Poisson", 1}, nil
	case kind == "gamma" && given:
		v, err := strconv.ParseFloat(cv, 64)
		if err == nil {
			err = pace.Check(1, v)
		}
		if err != nil {
			return arrivals{}, fmt.Errorf("--arrivals: %.40q: the coefficient of variation must be a number above 0 and at most 100, such as gamma:2", s)
		}
		return arrivals{fmt.Sprintf("gamma gaps with a coefficient of variation of %g", v), v}, nil
	}
	return arrivals{}, fmt.Errorf("--arrivals: %.40q is unknown; give constant, poisson or gamma:CV such as gamma:2", s)
}

// process makes the arrivals of a phase: the same for the same seed, rate and pass.
func (a arrivals) process(seed uint64) func(rate float64, pass int) pace.Process {
	return func(rate float64, pass int) pace.Process {
		if a.cv == 0 {
			return &pace.Constant{Rate: rate}
		}
		stream := arrivalStream | uint64(pass)<<56 | uint64(rate/sweep.MinRate+0.5)
		return pace.NewGamma(rate, a.cv, rand.New(rand.NewPCG(seed, stream)))
	}
}

// closedOnly are flags of a closed loop, and why an open one has no use for them.
var closedOnly = []struct{ flag, why string }{
	{"levels", "rates are offered, whatever number is in flight; --max-concurrency bounds it"},
	{"precision", "the rates are given"},
	{"think", "arrivals wait for no answer"},
	{"requests", "a rate is measured for a time"},
	{"confirm", "a sweep over rates is an open loop already"},
	{"slo", "limits are held against levels"},
	{"metrics", "the server is asked beside levels"},
	{"turns", "requests of an open loop do not wait for those before"},
}

// openOptions are the flags of an open loop; the zero value says that there is none.
type openOptions struct {
	rates    []float64 // requests/s, ascending; empty = a closed loop
	arrivals arrivals
	streams  int
	replay   *replayed // nil unless a trace is replayed
}

// newOpenOptions reads the flags.
func newOpenOptions(c *cli.Context) (o openOptions, err error) {
	if c.IsSet("replay") {
		o.streams = c.Int("max-concurrency")
		o.replay, err = newReplay(c)
		return o, err
	}
	if c.IsSet("replay-speed") {
		return o, errors.New("--replay-speed: works with --replay FILE")
	}
	if !c.IsSet("rates") {
		if c.IsSet("arrivals") {
			err = errors.New("--arrivals: works with --rates, for example --rates 1,2,4,8")
		}
		return o, err
	}
	errs := []error{refuseClosed(c, "rates")}
	if o.rates, err = sweep.ParseRates(c.String("rates")); err != nil {
		errs = append(errs, err)
	}
	if o.arrivals, err = parseProcess(c.String("arrivals")); err != nil {
		errs = append(errs, err)
	}
	o.streams = c.Int("max-concurrency")
	return o, errors.Join(errs...)
}

// refuseClosed refuses flags that have no use beside an open loop.
func refuseClosed(c *cli.Context, beside string) error {
	var errs []error
	for _, f := range closedOnly {
		if c.IsSet(f.flag) && (f.flag != "metrics" || c.String(f.flag) != metricsOff) {
			errs = append(errs, fmt.Errorf("--%s and --%s: give one of them; %s", beside, f.flag, f.why))
		}
	}
	if c.String("journal") == load.KeepNone {
		errs = append(errs, fmt.Errorf("--journal: none keeps nothing to compute --%s from; give requests or chunks", beside))
	}
	return errors.Join(errs...)
}

// openPlan is the plan of levels of an open loop, which has none: the cap of its streams
// stands for the highest.
func openPlan(c *cli.Context) (p levelPlan, err error) {
	streams := c.Int("max-concurrency")
	if streams < 1 || streams > sweep.MaxConcurrency {
		return p, fmt.Errorf("--max-concurrency: %d, need 1 to %d", streams, sweep.MaxConcurrency)
	}
	return levelPlan{levels: []int{streams}, measurements: c.Int("measurements"), passes: c.Int("passes"), seed: c.Uint64("seed")}, nil
}

// sweepRates offers the rates one after the other.
func (o *sweepOptions) sweepRates(ctx context.Context, c *cli.Context, cl *client.Client, answer time.Duration, health *sweep.Health, sink sweep.Sink) (sweep.Outcome, error) {
	r := o.open.plan(o.settings, o.target.config.Seed)
	r.Open.Sender, r.Open.Source, r.Open.Sink, r.Open.Epoch = cl, o.target.source, sink, o.target.config.Epoch
	r.Open.Sleep = sweep.Punctual
	r.Answer, r.Health = answer, health
	if !o.quiet {
		phases := len(r.Plan())
		r.Began = func(p load.OpenPhase, until time.Duration) {
			fmt.Fprintf(c.App.ErrWriter, "%s requests/s, pass %d, %d of %d: %v\n", plots.Number(p.Rate), p.Pass+1, p.Index+1, phases, until.Round(100*time.Millisecond))
		}
	}
	return r.Run(ctx)
}

// plan is the sweep over the rates, without what it needs to run.
func (o openOptions) plan(s load.Settings, seed uint64) *sweep.Rates {
	return &sweep.Rates{
		Open: sweep.Open{Streams: o.streams}, Offered: o.rates, Process: o.arrivals.process(seed),
		Measurements: s.Measurements, Passes: s.Passes, Window: s.Window, Warmup: s.Warmup, MaxErrorRate: s.MaxErrorRate, Seed: seed,
	}
}

// planned counts phases and windows.
func (o openOptions) planned(s load.Settings, seed uint64) (phases, windows load.Opt[int]) {
	plan := o.plan(s, seed).Plan()
	sum := 0
	for _, l := range plan {
		sum += l.Windows
	}
	return load.Some(len(plan)), load.Some(sum)
}
