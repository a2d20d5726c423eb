package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Exit codes. Scripts rely on them.
const (
	exitFailed  = 1 // preflight failed, a file could not be read or written
	exitUsage   = 2
	exitMissed  = 3 // no level meets the --slo, a gate does not hold, or a run is worse than before
	exitNoCurve = 4 // no valid step, stopped by failures before four levels, or a gate or comparison that cannot be told

	exitSIGINT  = 130
	exitSIGTERM = 143
)

// exitError is an error with the exit code that it leads to.
type exitError struct {
	code int
	err  error // nil: what is to be said has been said
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func failed(err error) error { return exitError{exitFailed, err} }

// outputError is failed for an error of writing, and nil for none.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return failed(err)
}

func usage(err error) error { return exitError{exitUsage, err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string {
	if i.signal == syscall.SIGTERM {
		return "SIGTERM"
	}
	return "SIGINT (Ctrl-C)"
}

func (i interrupted) code() int {
	if i.signal == syscall.SIGTERM {
		return exitSIGTERM
	}
	return exitSIGINT
}

// interruptCode returns the exit code of an interrupted context.
func interruptCode(ctx context.Context) (int, bool) {
	var i interrupted
	if errors.As(context.Cause(ctx), &i) {
		return i.code(), true
	}
	return 0, false
}
