package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/analysis/cost"
	"kneesweep/load"
	"kneesweep/plots"
)

// The prices of tokens, and of GPUs.
var (
	tokenPrices = []string{"price-in", "price-cached", "price-out"}
	gpuPrices   = []string{"price-hour", "gpus", "duty-cycle"}
)

// priceFlags are the flags of what the endpoint costs.
func priceFlags() []cli.Flag {
	const money = "Cost (in any one currency):"
	return []cli.Flag{
		&cli.Float64Flag{Category: money, Name: "price-in", DefaultText: "none", Usage: "`MONEY` per million prompt tokens"},
		&cli.Float64Flag{Category: money, Name: "price-cached", DefaultText: "that of --price-in", Usage: "`MONEY` per million prompt tokens that the server's cache served"},
		&cli.Float64Flag{Category: money, Name: "price-out", DefaultText: "none", Usage: "`MONEY` per million output tokens"},
		&cli.Float64Flag{Category: money, Name: "price-hour", DefaultText: "none", Usage: "instead of prices of tokens: `MONEY` per hour of one GPU"},
		&cli.IntFlag{Category: money, Name: "gpus", Value: 1, Usage: "GPUs of the endpoint, for --price-hour"},
		&cli.StringFlag{Category: money, Name: "duty-cycle", Value: "1", Usage: "`SHARE` of the paid time in which the endpoint is as busy as measured, for --price-hour"},
	}
}

// parsePrices reads the price flags; the zero Prices say that none was given.
func parsePrices(c *cli.Context) (load.Prices, error) {
	var errs []error
	for _, name := range append(tokenPrices, "price-hour") {
		if v := c.Float64(name); c.IsSet(name) && (!(v >= 0) || math.IsInf(v, 0)) {
			errs = append(errs, fmt.Errorf("--%s: %g is no price; give a number of at least 0", name, v))
		}
	}
	byToken := anySet(c, tokenPrices...)
	hour := c.Float64("price-hour")
	switch {
	case len(errs) > 0:
	case byToken && anySet(c, gpuPrices...):
		errs = append(errs, errors.New("--price-hour and --price-in, --price-cached, --price-out: an endpoint is paid by the hour or by its tokens, not both; --gpus and --duty-cycle belong to --price-hour"))
	case c.IsSet("price-cached") && !c.IsSet("price-in"):
		errs = append(errs, errors.New("--price-cached: give --price-in as well, for the prompt tokens that no cache served"))
	case c.IsSet("gpus") && !c.IsSet("price-hour"):
		errs = append(errs, errors.New("--gpus: works with --price-hour"))
	case c.IsSet("duty-cycle") && !c.IsSet("price-hour"):
		errs = append(errs, errors.New("--duty-cycle: works with --price-hour"))
	case c.Int("gpus") < 1:
		errs = append(errs, fmt.Errorf("--gpus: %d, need at least 1", c.Int("gpus")))
	}
	if err := errors.Join(errs...); err != nil {
		return load.Prices{}, err
	}
	p := load.Prices{Input: c.Float64("price-in"), Cached: c.Float64("price-in"), Output: c.Float64("price-out")}
	if c.IsSet("price-cached") {
		p.Cached = c.Float64("price-cached")
	}
	if c.IsSet("price-hour") {
		duty, err := parseDuty(cmp.Or(c.String("duty-cycle"), "1"))
		if err != nil {
			return p, err
		}
		p = load.Prices{Hour: hour, GPUs: c.Int("gpus"), Duty: duty}
	}
	if (byToken || c.IsSet("price-hour")) && p.Input+p.Cached+p.Output+p.Hour == 0 {
		return p, errors.New("--price-in, --price-out, --price-hour: all are 0; what is free has no cost to show")
	}
	return p, nil
}

// parseDuty reads a share above 0 and at most 1.
func parseDuty(text string) (float64, error) {
	share, err := parseShare("--duty-cycle", text)
	if err != nil || share == 0 {
		return 0, fmt.Errorf("--duty-cycle: %.40q is not a share above 0 and at most 1, such as 0.4 or 40%%", text)
	}
	return share, nil
}

func anySet(c *cli.Context, names ...string) bool {
	for _, name := range names {
		if c.IsSet(name) {
			return true
		}
	}
	return false
}

// price gives curves other prices, if there are some.
func price(sources []source, p load.Prices) {
	for i := range sources {
		if p != (load.Prices{}) {
			sources[i].curve = analysis.Priced(sources[i].curve, p)
		}
	}
}

// checkMoney reports a --money-budget that cannot be.
func (o *sweepOptions) checkMoney(c *cli.Context) error {
	switch m := c.Float64("money-budget"); {
	case !c.IsSet("money-budget"):
		return nil
	case !(m > 0) || math.IsInf(m, 0):
		return fmt.Errorf("--money-budget: %g, need an amount above 0", m)
	case o.settings.Prices == load.Prices{}:
		return errors.New("--money-budget: no price is known; give --price-in and --price-out, or --price-hour")
	default:
		o.money = m
		return nil
	}
}

// costAtMost is what the sweep costs at most: its tokens or its time, and no more
// than the budget and what is in flight when that ends.
func (o *sweepOptions) costAtMost(tokens int) load.Opt[float64] {
	p, shape := o.settings.Prices, o.target.source.Describe()
	most := cost.AtMost(tokens, shape.InputTokensAsked, shape.OutputTokensAsked, o.budget.Seconds(), p)
	if o.money == 0 || !most.OK {
		return most
	}
	flight := load.Some(0.0)
	if p.Hour == 0 {
		_, longest := o.target.source.Lengths()
		flight = cost.AtMost(o.plan.highest()*longest, shape.InputTokensAsked, shape.OutputTokensAsked, 0, p)
	}
	return load.Some(min(most.V, o.money+flight.V))
}

// moneyText says what --dry-run knows of the cost.
func moneyText(most load.Opt[float64]) string {
	if !most.OK {
		return "not known: no price was given"
	}
	return "$" + plots.Number(most.V) + " (in the currency of the prices)"
}

func drawCost(sources []source, o plotOptions) (*plots.Figure, error) {
	for _, s := range sources {
		if s.curve.Account == nil {
			return nil, usagef("--figure: cost needs prices, and %s has none; give --price-in and --price-out, or --price-hour", s.path)
		}
	}
	if err := o.need(sources, "no figures that its prices need", func(s load.Step) bool { return s.Cost.OK }); err != nil {
		return nil, err
	}
	fig, err := plots.Cost(curvesOf(sources), o.x)
	return fig, outputError(err)
}
