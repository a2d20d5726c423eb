package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/workload"
)

// newPrompts reads what is asked from the flags: a file, or lengths, and what that is
// to do to a prefix cache.
func newPrompts(c *cli.Context, embedded bool) (workload.Prompts, error) {
	p, err := givenPrompts(c, embedded)
	if err != nil {
		return nil, errors.Join(err, checkCache(c), checkCanaries(c))
	}
	if p, err = forCache(c, p); err != nil {
		return nil, err
	}
	return withCanaries(c, p)
}

// givenPrompts are a file, or made to lengths.
func givenPrompts(c *cli.Context, embedded bool) (workload.Prompts, error) {
	if c.IsSet("prompts") {
		return filePrompts(c, defaultAnswer(embedded))
	}
	if c.IsSet("replay") {
		return replayPrompts(c, defaultAnswer(embedded))
	}
	return syntheticPrompts(c, defaultAnswer(embedded))
}

// defaultAnswer is the longest answer when nothing else is said.
func defaultAnswer(embedded bool) int {
	if embedded {
		return embeddedOutput
	}
	return defaultOutput
}

// ownLengths are flags that make no sense for prompts of a file.
var ownLengths = []struct{ flag, why string }{
	{"input-tokens", "prompts from a file have their own lengths"},
	{"shared-prefix", "prompts from a file are asked as they are"},
	{"turns", "prompts from a file are asked as they are"},
}

// filePrompts are those of --prompts.
func filePrompts(c *cli.Context, output int) (workload.Prompts, error) {
	var errs []error
	for _, own := range ownLengths {
		if c.IsSet(own.flag) {
			errs = append(errs, fmt.Errorf("--prompts and --%s: give one of them; %s", own.flag, own.why))
		}
	}
	if c.IsSet("output-tokens") {
		length, err := parseLength(c, "output-tokens", output)
		switch fixed, ok := length.(workload.Fixed); {
		case err != nil:
			errs = append(errs, err)
		case !ok:
			errs = append(errs, errors.New("--output-tokens: with --prompts give one number, for the prompts without a limit of their own"))
		default:
			output = int(fixed)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var f *workload.File
	path := c.String("prompts")
	err := readInput(path, "give a file with one prompt a line, {\"prompt\":\"…\"}", func(r io.Reader) (err error) {
		f, err = workload.ReadFile(r, path, c.Uint64("seed"), c.Bool("skip-bad-lines"))
		return err
	})
	if err != nil {
		return nil, flagged("--prompts", err)
	}
	sayLeftOut(c, f)
	f.OutputTokens = output
	return f, f.Validate()
}

// syntheticPrompts are made of words, with the lengths of the flags.
func syntheticPrompts(c *cli.Context, output int) (workload.Prompts, error) {
	in, inErr := parseLength(c, "input-tokens", defaultInput)
	out, outErr := parseLength(c, "output-tokens", output)
	hit, hitErr := parseShare("--prefix-hit", c.String("prefix-hit"))
	s := workload.Synthetic{
		Input: in, Output: out, Turns: c.Int("turns"), Seed: c.Uint64("seed"),
		Prefix: workload.Prefix{Tokens: c.Int("shared-prefix")},
	}
	errs := []error{inErr, outErr, hitErr}
	if c.IsSet("trace") {
		in, out, err := traceLengths(c)
		errs = append(errs, err)
		if in != nil {
			s.Input = in
		}
		if out != nil {
			s.Output = out
		}
	}
	if s.Prefix.Tokens != 0 {
		s.Prefix.Hit = hit
	}
	if c.IsSet("shared-prefix") && s.Prefix.Tokens < 1 {
		errs = append(errs, fmt.Errorf("--shared-prefix: %d, need at least 1", s.Prefix.Tokens))
	}
	if c.IsSet("prefix-hit") && !c.IsSet("shared-prefix") {
		errs = append(errs, errors.New("--prefix-hit: works with --shared-prefix, the length of what is shared"))
	}
	if s.Turns < 1 {
		errs = append(errs, fmt.Errorf("--turns: %d, need at least 1", s.Turns))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, s.Validate()
}

// parseLength reads a flag that is a length.
func parseLength(c *cli.Context, flag string, otherwise int) (workload.Length, error) {
	if !c.IsSet(flag) {
		return workload.Fixed(otherwise), nil
	}
	path, ok := strings.CutPrefix(c.String(flag), "file:")
	if !ok {
		length, err := workload.ParseLength(c.String(flag))
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		return length, nil
	}
	trace, err := readTrace(c, path)
	if err != nil {
		return nil, flagged("--"+flag, err)
	}
	lengths := trace.Inputs
	if flag == "output-tokens" {
		lengths = trace.Outputs
	}
	rows, err := lengths()
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return rows, nil
}

// sayLeftOut says what --skip-bad-lines has left out of a file.
func sayLeftOut(c *cli.Context, file interface{ BadLines() (int, []error) }) {
	if n, first := file.BadLines(); n > 0 {
		fmt.Fprintf(c.App.ErrWriter, "hint: --skip-bad-lines leaves out %d, the first of them is %v\n", n, first[0])
	}
}

// flagged names the flag on every line of an error.
func flagged(flag string, err error) error {
	return errors.New(flag + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+flag+": "))
}

// A file of this size and more stays in memory for the whole run. Then the collector
// must not wait until as much again is garbage, as it does by default.
const (
	largeFile        = 64 << 20 // bytes
	largeFileGarbage = 20       // percent
)

// readInput opens a file and reads it. Errors name it.
func readInput(path, want string, read func(io.Reader) error) error {
	info, err := os.Stat(path)
	switch {
	case path == "":
		return errors.New("the name is empty; " + want)
	case err != nil:
		return fmt.Errorf("%s: %w; %s", path, bare(err), want)
	case info.IsDir():
		return fmt.Errorf("%s: a folder; %s", path, want)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	defer f.Close()
	if info.Size() >= largeFile {
		debug.SetGCPercent(largeFileGarbage)
	}
	return read(f)
}

// calibrate corrects the length of synthetic prompts by what the server counted
// in one; those of a file stay as they are.
func calibrate(p workload.Prompts, got int) workload.Prompts {
	return onSynthetic(p, func(s workload.Synthetic) workload.Synthetic { return s.Calibrate(got) })
}

// onSynthetic changes synthetic prompts, wherever they are wrapped.
func onSynthetic(p workload.Prompts, change func(workload.Synthetic) workload.Synthetic) workload.Prompts {
	switch s := p.(type) {
	case workload.Synthetic:
		return change(s)
	case workload.Replay:
		s.Synthetic = change(s.Synthetic)
		return s
	case workload.Cold:
		s.Prompts = onSynthetic(s.Prompts, change)
		return s
	case workload.Warm:
		s.Prompts = onSynthetic(s.Prompts, change)
		return s
	case *workload.Canaries:
		with := *s
		with.Prompts = onSynthetic(s.Prompts, change)
		return &with
	}
	return p
}
