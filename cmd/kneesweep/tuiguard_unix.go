//go:build unix

package main

import (
	"os"
	"syscall"
)

// guardIgnores are the signals that the guard of the terminal shares with the program
// it guards, and those that keep a process in the background from its terminal.
var guardIgnores = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGTSTP}
