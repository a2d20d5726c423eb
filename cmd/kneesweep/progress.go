package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"kneesweep/plots"
	"kneesweep/sweep"
)

// progress says on stderr how a sweep goes: one line that is rewritten on a
// terminal, plain lines now and then elsewhere.
type progress struct {
	w       io.Writer
	quiet   bool
	verbose bool
	tty     bool
	who     func() string // whose turn it is, of several endpoints; nil = there is one
	visits  int           // planned; 0 = the sweep chooses as it goes
	width   int           // of the line that is shown
	whole   *tui          // takes the whole terminal instead; nil = one line
}

func newProgress(w io.Writer, o *sweepOptions) *progress {
	f, ok := w.(*os.File)
	p := &progress{w: w, quiet: o.quiet, verbose: o.verbose, tty: ok && term.IsTerminal(int(f.Fd()))}
	if grid := o.plan.grid(); !o.plan.adaptive {
		p.visits = len(grid.Plan())
	}
	return p
}

// take is a sink: with -v every failure is said as it happens.
func (p *progress) take(e sweep.Event) {
	if s := e.Sample; p.verbose && s != nil && s.Failed() && s.Cause != "canceled" {
		p.clear()
		fmt.Fprintf(p.w, "request %d failed: %s %s\n", s.ID, s.Cause, s.Error)
	}
}

// start shows the status until the returned function is called.
func (p *progress) start(ctx context.Context, status func() sweep.Status) (stop func()) {
	switch {
	case p.quiet:
		return func() {}
	case p.whole != nil:
		return p.whole.start(ctx, p.lines(status))
	}
	every := 5 * time.Second
	if p.tty {
		every = 250 * time.Millisecond
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(every)
		defer t.Stop()
		line := p.lines(status)
		for {
			select {
			case <-quit:
				p.clear()
				return
			case <-t.C:
			}
			p.show(line())
		}
	}()
	return func() { close(quit); <-done }
}

// lines returns a function that describes the status since it was called last.
func (p *progress) lines(status func() sweep.Status) func() string {
	first := status()
	last := first
	return func() string {
		now := status()
		line := p.line(first.At, last, now)
		last = now
		return line
	}
}

// line describes a status; the rate is that since the last one.
func (p *progress) line(began time.Duration, last, now sweep.Status) string {
	phase := fmt.Sprintf("window %d of %d", min(now.Window+1, now.Level.Windows), now.Level.Windows)
	if now.Warming {
		phase = "warming up"
	}
	rate := plots.Missing
	if dt := (now.At - last.At).Seconds(); dt > 0 {
		rate = plots.Number(float64(now.Chunks-last.Chunks) / dt)
	}
	ttft := plots.Missing
	if now.TTFT > 0 {
		ttft = plots.Number(1000*now.TTFT.Seconds()) + " ms"
	}
	eta := ""
	if done := float64(now.Visit); done >= 1 && done < float64(p.visits) {
		rest := float64(now.At-began) / done * (float64(p.visits) - done)
		eta = " | ETA " + time.Duration(rest).Round(time.Second).String()
	}
	who := ""
	if p.who != nil {
		who = p.who() + ": "
	}
	return fmt.Sprintf("%s%d parallel, %s, %s | %s tok/s | TTFT p50 %s | %d failed%s",
		who, now.Level.Concurrency, p.aim(now), phase, rate, ttft, now.Failed, eta)
}

// aim says what the visit is for.
func (p *progress) aim(now sweep.Status) string {
	switch {
	case now.Level.Scout:
		return "looking for the knee"
	case now.Level.Again:
		return "measured again"
	case p.visits == 0:
		return fmt.Sprintf("around the knee, pass %d", now.Level.Pass)
	}
	return fmt.Sprintf("pass %d", now.Level.Pass+1)
}

func (p *progress) show(line string) {
	if !p.tty {
		fmt.Fprintln(p.w, line)
		return
	}
	pad := strings.Repeat(" ", max(0, p.width-len(line)))
	fmt.Fprintf(p.w, "\r%s%s", line, pad)
	p.width = len(line)
}

func (p *progress) clear() {
	if p.tty && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
