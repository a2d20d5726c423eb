package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with what was written to it so far.
type terminal struct {
	t             *testing.T
	master, slave *os.File
	written       chan string
	seen          string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, slave: slave, written: make(chan string, 1000)}
	x.resize(80, 30)
	go func() {
		defer close(x.written)
		b := make([]byte, 4096)
		for {
			k, err := master.Read(b)
			if err != nil {
				return
			}
			x.written <- string(b[:k])
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return x
}

func (x *terminal) resize(columns, rows uint16) {
	x.t.Helper()
	if err := unix.IoctlSetWinsize(int(x.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		x.t.Fatal(err)
	}
}

// wait waits until text is written after what was waited for before.
func (x *terminal) wait(text string) {
	x.t.Helper()
	for !strings.Contains(x.seen, text) {
		select {
		case s, ok := <-x.written:
			if !ok {
				x.t.Fatalf("the terminal closed before %q was written: %q", text, x.seen)
			}
			x.seen += s
		case <-time.After(time.Minute):
			x.t.Fatalf("%q was not written: %q", text, x.seen)
		}
	}
	_, x.seen, _ = strings.Cut(x.seen, text)
}

// state is how the terminal treats what is typed.
func (x *terminal) state() unix.Termios {
	x.t.Helper()
	s, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return *s
}

const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
)

// TestTUI sweeps on a whole terminal, which changes its size, and ends it by Ctrl-C
// and by a crash: SIGQUIT ends a Go program as a panic does, without any of its
// deferred calls. The terminal is as before each time.
func TestTUI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*terminal, *os.Process) error
		code int
	}{
		{"Ctrl-C", func(x *terminal, _ *os.Process) error { _, err := x.master.WriteString("\x03"); return err }, exitSIGINT},
		{"SIGTERM", func(_ *terminal, p *os.Process) error { return p.Signal(syscall.SIGTERM) }, exitSIGTERM},
		{"crash", func(_ *terminal, p *os.Process) error { return p.Signal(syscall.SIGQUIT) }, 2},
		{"kill", func(_ *terminal, p *os.Process) error { return p.Kill() }, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t)
			before := x.state()
			dir := filepath.Join(t.TempDir(), "run")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "sweep", "--tui", "--levels", "1,2,4,8", "--window", "200ms", "--measurements", "100", "--max-error-rate", "1", "--out", dir)
			cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			x.wait(enterScreen)
			x.wait("parallel, ")
			if x.state().Lflag == before.Lflag {
				t.Error("the terminal still echoes what is typed")
			}
			x.resize(60, 12)
			x.wait("Ctrl-C ends") // at its new place
			if err := c.end(x, cmd.Process); err != nil {
				t.Fatal(err)
			}
			x.wait(leaveScreen)
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("%v, want exit code %d", err, c.code)
			}
			if after := x.state(); after != before {
				t.Errorf("the terminal is left as %+v, it was %+v", after, before)
			}
			if c.code == exitSIGINT && !strings.Contains(read(t, filepath.Join(dir, curveFile)), `"interrupted"`) {
				t.Error("curve.json does not say that the sweep was interrupted")
			}
		})
	}
}

// Without a terminal the flag is refused.
func TestTUINeedsATerminal(t *testing.T) {
	t.Parallel()
	if r := command(quick("--tui", "--out", filepath.Join(t.TempDir(), "run"))...); r.code != exitUsage || !strings.Contains(r.err, "--tui: ") {
		t.Errorf("exit %d, want %d: %s", r.code, exitUsage, r.err)
	}
}
