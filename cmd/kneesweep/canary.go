package main

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"kneesweep/workload"
)

func canaryFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "canary",
		Usage: "ask the questions of `FILE` among the prompts, JSON lines of {\"prompt\":…} with what the answer must be (\"exact\", \"contains\", \"regex\" or \"json\":true), and say how many answers are right at each level"}
}

func canaryShareFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "canary-share", Value: "5%", Usage: "`SHARE` of the prompts that --canary replaces"}
}

// checkCanaries refuses flags that do not go with each other.
func checkCanaries(c *cli.Context) error {
	var errs []error
	if c.IsSet("canary-share") && !c.IsSet("canary") {
		errs = append(errs, errors.New("--canary-share: works with --canary, the file of questions"))
	}
	if c.IsSet("canary") && c.IsSet("replay") {
		errs = append(errs, errors.New("--canary and --replay: give one of them; a replay asks what its trace asked"))
	}
	if c.IsSet("canary") && c.IsSet("rates") {
		errs = append(errs, errors.New("--canary and --rates: give one of them; answers are compared between levels"))
	}
	return errors.Join(errs...)
}

// withCanaries puts those of --canary among the prompts.
func withCanaries(c *cli.Context, p workload.Prompts) (workload.Prompts, error) {
	if err := checkCanaries(c); err != nil || !c.IsSet("canary") {
		return p, err
	}
	share, err := parseShare("--canary-share", c.String("canary-share"))
	if err != nil {
		return nil, err
	}
	if share <= 0 || share > 0.5 {
		return nil, errors.New("--canary-share: " + c.String("canary-share") + ", need more than 0 and at most 50%")
	}
	var all *workload.Canaries
	path := c.String("canary")
	err = readInput(path, "give a file with one question a line, {\"prompt\":\"…\",\"contains\":\"…\"}", func(r io.Reader) (err error) {
		all, err = workload.ReadCanaries(r, path)
		return err
	})
	if err != nil {
		return nil, flagged("--canary", err)
	}
	all.Prompts, all.Share = p, share
	return all, nil
}
