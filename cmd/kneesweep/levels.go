package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
	"kneesweep/sweep"
)

// levelPlan is which levels a sweep visits: those asked for, or those that it
// chooses by itself.
type levelPlan struct {
	levels    []int // ascending; without --levels those that are scouted at most
	adaptive  bool
	precision float64
	busy      int // p95 of what a trace had in flight, a level of its own; 0 = not known

	measurements, passes, requests int
	seed                           uint64
}

// newLevelPlan reads the flags; its error names one.
func newLevelPlan(c *cli.Context) (p levelPlan, err error) {
	if c.IsSet("rates") || c.IsSet("replay") {
		return openPlan(c)
	}
	p = levelPlan{
		adaptive: !c.IsSet("levels"), measurements: c.Int("measurements"), passes: c.Int("passes"),
		requests: c.Int("requests"), seed: c.Uint64("seed"),
	}
	if !p.adaptive {
		for _, name := range []string{"precision", "max-concurrency"} {
			if c.IsSet(name) {
				fmt.Fprintf(c.App.ErrWriter, "hint: --%s has no effect beside --levels\n", name)
			}
		}
		if p.levels, err = sweep.ParseLevels(c.String("levels")); err == nil {
			err = p.addBusy(c)
		}
		return p, err
	}
	highest := c.Int("max-concurrency")
	if highest < 1 || highest > sweep.MaxConcurrency {
		return p, fmt.Errorf("--max-concurrency: %d, need 1 to %d", highest, sweep.MaxConcurrency)
	}
	if p.levels, err = sweep.ParseLevels(fmt.Sprintf("1:%d:x2", highest)); err != nil {
		return p, err
	}
	if p.levels[len(p.levels)-1] < highest {
		p.levels = append(p.levels, highest)
	}
	if p.precision, err = parseShare("--precision", c.String("precision")); err == nil && p.precision == 0 {
		err = fmt.Errorf("--precision: 0 cannot be reached; give a share such as 0.10 or 10%%")
	}
	if err == nil {
		err = p.addBusy(c)
	}
	return p, err
}

func (p *levelPlan) grid() sweep.Grid {
	return sweep.Grid{Levels: p.levels, Measurements: p.measurements, Passes: p.passes, Requests: p.requests, Seed: p.seed}
}

// highest is the highest level that may be visited.
func (p *levelPlan) highest() int { return max(p.busy, p.levels[len(p.levels)-1]) }

// policy chooses the levels. spent tells it how much of the budgets is used up,
// judged what the levels are by the limits of --slo; without limits it is nil.
func (p *levelPlan) policy(spent func() float64, judged func() []load.Step) sweep.Policy {
	var chosen sweep.Policy = p.grid()
	if p.adaptive {
		chosen = &sweep.Adaptive{
			Max: p.levels[len(p.levels)-1], Measurements: p.measurements, Passes: p.passes, Requests: p.requests,
			Precision: p.precision, Seed: p.seed, Spent: spent,
		}
	}
	if p.adaptive && p.busy > 0 {
		chosen = &sweep.Also{Policy: chosen, Level: p.busy, Measurements: p.measurements, Passes: p.passes, Requests: p.requests}
	}
	chosen = &sweep.Remeasure{Policy: chosen, Measurements: p.measurements, Requests: p.requests, Seed: p.seed}
	if p.adaptive && judged != nil {
		chosen = &sweep.Limits{Policy: chosen, Max: p.highest(), Measurements: p.measurements, Requests: p.requests, Steps: judged}
	}
	return chosen
}

// parseShare reads 0.05 or 5%.
func parseShare(flag, s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return 0, fmt.Errorf("%s: %q is not a share such as 0.05 or 5%%", flag, s)
	}
	return v, nil
}
