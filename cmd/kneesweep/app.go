package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := newApp(stdout, stderr)
	args, err := permute(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	if err == nil {
		return 0
	}
	var e exitError
	if !errors.As(err, &e) {
		e = exitError{exitUsage, err} // what urfave/cli itself refuses
	}
	if e.err != nil {
		for line := range strings.Lines(e.err.Error()) {
			fmt.Fprintf(stderr, "kneesweep: %s\n", strings.TrimRight(line, "\n"))
		}
		if e.code == exitUsage {
			fmt.Fprintln(stderr, "kneesweep: see kneesweep --help, or --help after a command")
		}
	}
	return e.code
}

func newApp(stdout, stderr io.Writer) *cli.App {
	refuse := func(c *cli.Context, err error, _ bool) error { return usage(flagError(c, err)) }
	app := &cli.App{
		Name:           "kneesweep",
		Usage:          "how many parallel streams should this LLM endpoint get, and how do we know?",
		Version:        version(),
		Writer:         stdout,
		ErrWriter:      stderr,
		OnUsageError:   refuse,
		ExitErrHandler: func(*cli.Context, error) {}, // run decides
		// A repeatable flag is repeated: the value of a header may hold commas.
		DisableSliceFlagSeparator: true,
		Commands: []*cli.Command{
			sweepCommand(), pingCommand(), analyzeCommand(), plotCommand(), compareCommand(), checkCommand(), claimsCommand(), planCommand(), exportCommand(),
			simCommand(), ceilingCommand(), historyCommand(), nightlyCommand(), sourceCommand(), guardCommand(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("no such command: %q (there are sweep, ping, analyze, plot, compare, check, claims, plan, export, sim, ceiling, history, nightly)", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = refuse
		cmd.HideHelpCommand = true
		for _, sub := range cmd.Subcommands {
			sub.OnUsageError = refuse
		}
	}
	return app
}

// version is what the build says about itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return info.Main.Version
	}
	return strings.TrimPrefix(info.Main.Version+" "+revision+dirty, " ")
}

// noArguments refuses positional arguments. Beside --header they may be the rest
// of a value that lacks its quotes, and secret: then they are not shown.
func noArguments(c *cli.Context) error {
	switch {
	case !c.Args().Present():
		return nil
	case c.IsSet("header"):
		return usagef("--header: %s takes no arguments, got %d; quote a value with spaces: --header 'Name: value'", c.Command.Name, c.NArg())
	}
	return usagef("%s takes no arguments, got %q", c.Command.Name, c.Args().First())
}
