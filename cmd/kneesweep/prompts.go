package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"kneesweep/workload"
)

// newPrompts reads what is asked from the flags: a file, or lengths.
func newPrompts(c *cli.Context, embedded bool) (workload.Prompts, error) {
	output := defaultOutput
	switch {
	case c.IsSet("output-tokens"):
		output = c.Int("output-tokens")
	case embedded:
		output = embeddedOutput
	}
	if !c.IsSet("prompts") {
		s := workload.Synthetic{InputTokens: defaultInput, OutputTokens: output, Seed: c.Uint64("seed")}
		if c.IsSet("input-tokens") {
			s.InputTokens = c.Int("input-tokens")
		}
		return s, s.Validate()
	}
	if c.IsSet("input-tokens") {
		return nil, errors.New("--prompts and --input-tokens: give one of them; prompts from a file have their own lengths")
	}
	f, err := readPrompts(c.String("prompts"), c.Uint64("seed"))
	if err != nil {
		return nil, fmt.Errorf("--prompts: %w", err)
	}
	f.OutputTokens = output
	return f, f.Validate()
}

// readPrompts reads a file of prompts. Errors name it.
func readPrompts(path string, seed uint64) (*workload.File, error) {
	const want = "give a file with one prompt a line, {\"prompt\":\"…\"}"
	info, err := os.Stat(path)
	switch {
	case path == "":
		return nil, errors.New("the name is empty; " + want)
	case err != nil:
		return nil, fmt.Errorf("%s: %w; %s", path, bare(err), want)
	case info.IsDir():
		return nil, fmt.Errorf("%s: a folder; %s", path, want)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	defer f.Close()
	return workload.ReadFile(f, path, seed)
}

// calibrate corrects the length of synthetic prompts by what the server counted
// in one; those of a file stay as they are.
func calibrate(p workload.Prompts, got int) workload.Prompts {
	if s, ok := p.(workload.Synthetic); ok {
		return s.Calibrate(got)
	}
	return p
}
