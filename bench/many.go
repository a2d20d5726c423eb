package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Very many streams of a slow pace: what each costs in memory and CPU once all run.
const (
	slow     = 200 * time.Millisecond // between the tokens of a stream
	rampRate = 2000                   // streams started in a second
	settle   = 5 * time.Second        // after the last start
	window   = 30 * time.Second       // an answer and a start of each stream at least
	userHz   = 100                    // of /proc, on every Linux
)

// held is one run of one client with very many streams.
type held struct {
	perEvent float64 // µs of CPU within the window
	inFlight float64 // answers that the source was sending in the window, their mean share of N
	pace     float64 // tokens of those answers that were sent, of those that were due
	busy     float64 // share of its core that the client used in the window
	source   float64 // share of its core that the source used
	others   float64 // cores that other work took
	peak     int64   // bytes of resident memory, the most of the whole run
}

// many runs every client at every level for a window in which all streams run.
func (p *plan) many(w io.Writer) error {
	fmt.Fprintf(w, "%d tokens an answer, %v between the tokens of a stream, a window of %v after a ramp of %d streams a second.\n\n", tokens, slow, window, rampRate)
	fmt.Fprintln(w, "| client | N | in flight | pace kept by the source | CPU µs an event | of its core | source, of its core | resident MiB, peak | KiB a stream, from the level before | other work |\n|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range p.clients {
		var before held
		for i, n := range p.levels {
			h, err := p.hold(name, n)
			if err != nil {
				return fmt.Errorf("%s, %d streams: %w", name, n, err)
			}
			growth := "–"
			if i > 0 && n > p.levels[i-1] {
				growth = fmt.Sprintf("%.1f", float64(h.peak-before.peak)/1024/float64(n-p.levels[i-1]))
			}
			fmt.Fprintf(w, "| %s | %d | %.2f %% | %.1f %% | %.1f | %.0f %% | %.0f %% | %.0f | %s | %.0f %% |\n",
				name, n, 100*h.inFlight, 100*h.pace, h.perEvent, 100*h.busy, 100*h.source, float64(h.peak)/(1<<20), growth, 100*h.others)
			before = h
		}
	}
	return nil
}

// hold runs n streams and looks at the window. A client that fails a request ends, and
// so the run.
func (p *plan) hold(name string, n int) (h held, err error) {
	src, err := p.serve(slow, "spread")
	if err != nil {
		return h, err
	}
	defer func() {
		_, stopErr := src.stop()
		err = errors.Join(err, stopErr)
	}()
	ramp := time.Duration(n) * time.Second / rampRate
	lead := ramp + settle
	s := setting{streams: n, mode: "spread", ramp: ramp}
	cmd := p.command(name, s, src.port, (lead + window + time.Second).Seconds())
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return h, err
	}
	time.Sleep(lead)
	err = h.watch(src, cmd, n)
	if waitErr := cmd.Wait(); err != nil || waitErr != nil {
		return h, errors.Join(err, waitErr)
	}
	if name == wrk || name == reader {
		return h, nil
	}
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return h, err
	}
	h.peak = r.MaxRSS
	return h, nil
}

// watch measures from now until the end of the window.
func (h *held) watch(src *server, cmd *exec.Cmd, n int) error {
	from, err := src.now()
	cpu, cpuErr := used(cmd.Process.Pid)
	began, all := time.Now(), busy()
	time.Sleep(window)
	to, err2 := src.now()
	cpu2, cpuErr2 := used(cmd.Process.Pid)
	if err := errors.Join(err, err2, cpuErr, cpuErr2); err != nil {
		return err
	}
	wall, took := time.Since(began).Seconds(), cpu2-cpu
	if to.sent == from.sent {
		return errors.New("the source sent nothing")
	}
	h.perEvent = took / float64(to.sent-from.sent) * 1e6
	answered := to.answered - from.answered
	h.inFlight = answered / wall / float64(n)
	h.pace = float64(to.sent-from.sent) * slow.Seconds() * (tokens - 0.5) / tokens / answered
	h.source = (to.cpu - from.cpu) / wall
	h.busy = took / wall
	h.others = max(0, busy()-all-took-(to.cpu-from.cpu)) / wall
	return nil
}

// used returns the seconds of CPU that a process has used, its threads together.
func used(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // from the state on
	var user, system float64
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(f))
	}
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		return 0, err
	}
	return (user + system) / userHz, nil
}
