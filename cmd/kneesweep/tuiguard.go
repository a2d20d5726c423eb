package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// guardCommandName is the command by which the program guards its own terminal.
const guardCommandName = "terminal-guard"

// restoreScreen leaves the alternate screen, shows the cursor and ends what else a
// full-screen program may have asked a terminal for.
const restoreScreen = "\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[=0;1u\x1b[>4m\x1b[0m\r\n"

// guardTerminal starts a process that gives the terminal back as it is now when this
// one dies without having called release: a panic in any goroutine, or a kill, runs
// nothing of ours.
func guardTerminal(terminal *os.File) (release func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	guard := exec.Command(self, guardCommandName) //nolint:noctx // it outlives whatever we do
	guard.Stderr = terminal
	line, err := guard.StdinPipe()
	if err != nil {
		return nil, err
	}
	ready, err := guard.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := guard.Start(); err != nil {
		return nil, fmt.Errorf("the guard of the terminal: %w", err)
	}
	release = func() {
		_, _ = line.Write([]byte{1})
		_ = line.Close()
		_ = guard.Wait()
	}
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		release()
		return nil, fmt.Errorf("the guard of the terminal: %w", err)
	}
	return release, nil
}

func guardCommand() *cli.Command {
	return &cli.Command{
		Name:   guardCommandName,
		Hidden: true,
		Action: func(c *cli.Context) error {
			signal.Ignore(guardIgnores...)
			before, err := term.GetState(int(os.Stderr.Fd()))
			if err != nil {
				return failed(err)
			}
			if _, err := c.App.Writer.Write([]byte{1}); err != nil {
				return failed(err)
			}
			if n, _ := os.Stdin.Read(make([]byte, 1)); n > 0 {
				return nil // released
			}
			err = term.Restore(int(os.Stderr.Fd()), before)
			_, _ = os.Stderr.WriteString(restoreScreen)
			return outputError(err)
		},
	}
}
