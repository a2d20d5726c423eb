package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/claims"
	"kneesweep/config"
	"kneesweep/report"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "hold published figures against measured runs, and against each other",
		ArgsUsage: "FILE.yaml RESULT[@gpus=K]…",
		Description: "FILE.yaml holds the claims with their conditions (docs/claims.md). A RESULT is a journal, a curve.json, a CSV, a result file\n" +
			"of another tool or the folder of a run; it was measured on one GPU (or on those of its --price-hour) unless @gpus=K follows its name.\n\n" +
			"Exit codes: 0 none is refuted and one at least confirmed, 3 one is refuted, 4 none could be compared, 2 usage or a file of\n" +
			"claims that is wrong, 1 a result cannot be read, or nothing written.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown, for a ticket"},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() == 0:
				return usagef("claims needs a FILE.yaml of claims, and a RESULT to hold them against")
			case c.Bool("json") && c.Bool("markdown"):
				return usagef("--json and --markdown: choose one")
			}
			file, err := readClaims(c.Args().First())
			if err != nil {
				return err
			}
			runs, err := claimRuns(c.Args().Tail(), c.App.ErrWriter)
			if err != nil {
				return err
			}
			result := claims.Check(file, runs)
			write := report.ClaimsText
			switch {
			case c.Bool("json"):
				write = report.ClaimsJSON
			case c.Bool("markdown"):
				write = report.ClaimsMarkdown
			}
			if err := write(c.App.Writer, result); err != nil {
				return failed(err)
			}
			switch {
			case result.Count(claims.Refuted) > 0:
				return exitError{exitMissed, nil}
			case result.Count(claims.Confirmed) == 0:
				return exitError{exitNoCurve, nil}
			}
			return nil
		},
	}
}

// readClaims reads a file of claims. One that is not there cannot be read; one that
// is wrong is a wrong use.
func readClaims(path string) (claims.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return claims.File{}, failed(fmt.Errorf("%s: %w; give a YAML file of claims", path, bare(err)))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err != nil {
		return claims.File{}, failed(fmt.Errorf("%s: %w; give a YAML file of claims", path, bare(err)))
	}
	file, err := config.ParseClaims(path, data)
	if err != nil {
		return file, usage(err)
	}
	return file, nil
}

// onGPUs is the end of a RESULT that says on how many GPUs it was measured.
var onGPUs = regexp.MustCompile(`^(.+)@gpus=(.*)$`)

// claimRuns reads the results, each a run of its own.
func claimRuns(args []string, stderr io.Writer) ([]claims.Run, error) {
	type asked struct {
		path string
		gpus int
	}
	var all []asked
	for _, arg := range args {
		a := asked{arg, 0}
		if m := onGPUs.FindStringSubmatch(arg); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil || n < 1 {
				return nil, usagef("%s: @gpus=%.20s is not a whole number of at least 1", m[1], m[2])
			}
			a = asked{m[1], n}
		}
		all = append(all, a)
	}
	var runs []claims.Run
	for _, a := range all {
		sources, err := readSources([]string{a.path}, stderr, "", true)
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			n := a.gpus
			if n == 0 {
				n = max(1, s.curve.Run.Settings.Prices.GPUs)
			}
			runs = append(runs, claims.Run{Name: a.path, GPUs: n, Curve: s.curve, Data: s.data})
		}
	}
	return runs, nil
}
