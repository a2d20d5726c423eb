package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/report"
)

func planCommand() *cli.Command {
	prices := slices.DeleteFunc(priceFlags(), func(f cli.Flag) bool { return f.Names()[0] == "duty-cycle" }) // a replica is paid around the clock
	return &cli.Command{
		Name:      "plan",
		Usage:     "how many replicas a rate of arrivals needs within an SLO, from a measured curve",
		ArgsUsage: "FILE…",
		Description: "FILE is a journal, a curve.json, the folder of a run, or result files of another tool that make one curve. What is asked and\n" +
			"how it is computed stands in docs/plan.md.\n\n" +
			"Exit codes: 0 a plan, 3 no number of replicas meets the limits, 4 the curve does not tell what a plan needs, 2 usage, 1 a\n" +
			"file cannot be read or written.",
		Flags: append(prices,
			&cli.Float64Flag{Name: "rate", DefaultText: "of --users", Usage: "`REQUESTS` that arrive per second"},
			&cli.Float64Flag{Name: "users", Usage: "instead of --rate: `N` users at once, each with the rate of --per-user"},
			&cli.StringFlag{Name: "per-user", Value: "1/min", Usage: "`RATE` of one user, as 2/min, 0.1/s or 30/h"},
			sloFlag(""),
			&cli.StringFlag{Name: "headroom", Value: "0", Usage: "`SHARE` by which the rate may grow, as 0.2 or 20%"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		),
		Action: runPlan,
	}
}

func runPlan(c *cli.Context) error {
	demand, err := parseDemand(c)
	if err != nil {
		return usage(err)
	}
	prices, err := parsePrices(c)
	switch {
	case err != nil:
		return usage(err)
	case c.NArg() == 0:
		return usagef("plan needs a FILE: the folder, journal or curve.json of a sweep")
	}
	sources, err := readSources(c.Args().Slice(), c.App.ErrWriter, "", false)
	switch {
	case err != nil:
		return err
	case len(sources) > 1:
		return usagef("plan works with one curve, and these files make %d", len(sources))
	}
	price(sources, prices)
	curve, name := sources[0].curve, sources[0].path
	if len(demand.Limits) == 0 {
		if demand.Limits, err = slo.Parse(curve.Run.Settings.SLO); err != nil || len(demand.Limits) == 0 {
			return usagef("--slo: needed, since %s has no limits of its own; for example --slo 'ttft_p95<=500ms'", name)
		}
	}
	p, err := plan.Make(curve, demand)
	switch {
	case errors.Is(err, plan.ErrUnmet):
		return exitError{exitMissed, fmt.Errorf("%s: %w", name, err)}
	case err != nil:
		return exitError{exitNoCurve, fmt.Errorf("%s: %w", name, err)}
	case c.Bool("json"):
		return outputError(report.PlanJSON(c.App.Writer, name, p))
	}
	return outputError(report.PlanText(c.App.Writer, name, p))
}

// parseDemand reads what is to be served.
func parseDemand(c *cli.Context) (d plan.Demand, err error) {
	if d.Rate, err = parseArrivals(c); err != nil {
		return d, err
	}
	text, err := parseSLO(c)
	if err != nil {
		return d, err
	}
	if d.Limits, err = slo.Parse(text); err != nil {
		return d, err
	}
	for _, l := range d.Limits {
		if l.Figure == slo.ITL {
			return d, fmt.Errorf("--slo: %s: gaps between tokens are not planned; limit tpot instead", l)
		}
	}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(c.String("headroom")), "%")
	d.Headroom, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if isPercent {
		d.Headroom /= 100
	}
	if err != nil || !(d.Headroom >= 0 && d.Headroom <= 100) {
		return d, fmt.Errorf("--headroom: %.40q is not a share of at least 0, such as 0.2 or 20%%", c.String("headroom"))
	}
	return d, nil
}

// parseArrivals is the rate in requests/s.
func parseArrivals(c *cli.Context) (float64, error) {
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	rate, users := c.Float64("rate"), c.Float64("users")
	switch {
	case c.IsSet("rate") && c.IsSet("users"):
		return 0, errors.New("--rate and --users: choose one")
	case c.IsSet("rate") && c.IsSet("per-user"):
		return 0, errors.New("--per-user: works with --users")
	case c.IsSet("rate") && !positive(rate):
		return 0, fmt.Errorf("--rate: %g, need a number of requests per second above 0", rate)
	case c.IsSet("rate"):
		return rate, nil
	case !c.IsSet("users"):
		return 0, errors.New("--rate: needed, the requests that arrive per second; or --users and --per-user")
	case !positive(users):
		return 0, fmt.Errorf("--users: %g, need a number above 0", users)
	}
	each, err := parseRate(c.String("per-user"))
	return users * each, err
}

// parseRate reads 2/min, 0.1/s or 30/h; it returns requests/s.
func parseRate(text string) (float64, error) {
	number, unit, found := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	seconds := map[string]float64{"s": 1, "min": 60, "m": 60, "h": 3600}[strings.TrimSpace(unit)]
	if err != nil || !found || seconds == 0 || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("--per-user: %.40q is not a rate such as 2/min, 0.1/s or 30/h", text)
	}
	return v / seconds, nil
}
