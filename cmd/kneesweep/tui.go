package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"kneesweep/load"
	"kneesweep/sweep"
)

const frameEvery = 250 * time.Millisecond

func tuiFlag(category string) cli.Flag {
	return &cli.BoolFlag{Category: category, Name: "tui", Usage: "show the sweep on the whole terminal: curve, TTFT, failures"}
}

// checkTUI reports what keeps the whole terminal from being used.
func checkTUI(c *cli.Context) error {
	if !c.Bool("tui") {
		return nil
	}
	f, ok := c.App.ErrWriter.(*os.File)
	switch {
	case c.Bool("quiet") || c.Bool("v"):
		return errors.New("--tui: leaves no room for --quiet or -v; choose one")
	case !ok || !term.IsTerminal(int(f.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())):
		return errors.New("--tui: needs a terminal for input and for stderr; leave it out here")
	}
	return nil
}

// tui shows a sweep on the whole terminal, in place of [progress].
type tui struct {
	terminal *os.File
	heading  string

	mu     sync.Mutex
	screen screen
	visit  int // that the times to first token are of
	rates  map[int][]float64
}

func newTUI(terminal io.Writer, run load.Run) *tui {
	f, _ := terminal.(*os.File) // checkTUI has seen to it
	return &tui{terminal: f, heading: firstLine(run), visit: -1, rates: map[int][]float64{}, screen: screen{failures: map[string]int{}}}
}

func firstLine(r load.Run) string {
	s := "kneesweep"
	for _, part := range []string{r.Label, r.Model, r.Target} {
		if part != "" {
			s += " · " + part
		}
	}
	return s
}

// take is a sink.
func (t *tui) take(e sweep.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := e.Visit; v != nil {
		if v.Index != t.visit {
			t.visit, t.screen.ttft = v.Index, nil
		}
		if v.Ended != load.EndedRunning && len(v.Live.Rates) > 0 {
			t.rates[v.Level.Concurrency] = append(t.rates[v.Level.Concurrency], v.Live.Rates...)
			t.screen.points = pointsOf(t.rates)
		}
	}
	if s := e.Sample; s != nil {
		switch ttft := s.TTFT(); {
		case s.Cause == load.CauseCanceled:
		case s.Failed():
			t.screen.failures[string(s.Cause)]++
		case s.Visit == t.visit && ttft.OK:
			t.screen.ttft = append(t.screen.ttft, ttft.V)
		}
	}
}

// start shows the sweep until the returned function is called, or ctx ends. The
// terminal is as before then, and also when the process dies meanwhile.
func (t *tui) start(ctx context.Context, status func() string) (stop func()) {
	release, err := guardTerminal(t.terminal)
	if err != nil {
		fmt.Fprintf(t.terminal, "--tui: %v\n", err)
		return func() {}
	}
	p := tea.NewProgram(model{heading: t.heading, snapshot: func() screen { return t.snapshot(status()) }},
		tea.WithContext(ctx), tea.WithInput(os.Stdin), tea.WithOutput(t.terminal), tea.WithoutSignalHandler())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := p.Run(); err != nil && ctx.Err() == nil {
			fmt.Fprintf(t.terminal, "--tui: %v; the sweep goes on\n", err)
		}
	}()
	return func() {
		p.Quit()
		<-done
		release()
	}
}

// snapshot is what is to be shown now.
func (t *tui) snapshot(status string) screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.screen
	s.status = status
	s.ttft = append([]time.Duration(nil), s.ttft...)
	s.failures = map[string]int{}
	for cause, n := range t.screen.failures {
		s.failures[cause] = n
	}
	return s
}

// model is the program of the terminal.
type model struct {
	heading       string
	snapshot      func() screen
	screen        screen
	width, height int
}

type frame time.Time

func nextFrame() tea.Cmd { return tea.Tick(frameEvery, func(t time.Time) tea.Msg { return frame(t) }) }

// Init is a part of tea.Model.
func (m model) Init() tea.Cmd { return nextFrame() }

// Update is a part of tea.Model. The keys of an interrupt interrupt the process, as they would
// outside of this view.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case frame:
		m.screen = m.snapshot()
		return m, nextFrame()
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(os.Interrupt)
			}
			return m, tea.Quit
		}
	}
	return m, nil
}

// View is a part of tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.screen.draw(m.heading, m.width, m.height))
	v.AltScreen = true
	return v
}
