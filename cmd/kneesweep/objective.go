package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/analysis/slo"
	"kneesweep/load"
)

// sloFlag is the flag of the limits. They hold commas, which a string takes as
// they are.
func sloFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "slo", Usage: "`LIMITS` to hold, e.g. 'ttft_p95<=500ms,tpot_p95<=50ms,error_rate<=1%': " + slo.Figures}
}

// parseSLO returns the limits asked for in their canonical form.
func parseSLO(c *cli.Context) (string, error) {
	text := c.String("slo")
	if c.IsSet("slo") && strings.TrimSpace(text) == "" {
		return "", errors.New("--slo: no limits; write FIGURE<=VALUE, such as ttft_p95<=500ms")
	}
	limits, err := slo.Parse(text)
	if err != nil {
		return "", errors.New("--slo: " + strings.ReplaceAll(err.Error(), "\n", "\n--slo: "))
	}
	return limits.String(), nil
}

// sloExit is the error for a curve with limits that no level is shown to meet.
func sloExit(c analysis.Curve) error {
	if c.Run.Settings.SLO == "" {
		return nil
	}
	for _, s := range c.Steps {
		if s.Valid && s.SLO.V.Met == load.Some(true) {
			return nil
		}
	}
	return exitError{exitMissed, fmt.Errorf("no level is shown to meet the --slo %s", c.Run.Settings.SLO)}
}

// slosExit is [sloExit] for several curves, when limits were asked for.
func slosExit(c *cli.Context, curves []analysis.Curve) error {
	if !c.IsSet("slo") {
		return nil
	}
	for _, curve := range curves {
		if err := sloExit(curve); err != nil {
			return err
		}
	}
	return nil
}
