package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	tokens   = 128 // of an answer
	interval = 20 * time.Millisecond
	reader   = "C epoll (floor)"
	wrk      = "wrk"
	product  = "kneesweep"
)

// order is the order of the tables.
var order = []string{reader, wrk, product, "net/http + encoding/json", "go-openai", "openai-go"}

// plan is what to measure.
type plan struct {
	levels  []int
	rounds  int
	seconds float64
	tries   int // of a run that other work disturbs; the quietest counts
	clients []string

	dir          string // of the built programs
	source, read string
	self         string
}

// choose picks the clients that take part.
func (p *plan) choose(only string) error {
	for _, name := range order {
		if only != "" && !strings.Contains(","+only+",", ","+name+",") {
			continue
		}
		if _, err := exec.LookPath("wrk"); name == wrk && err != nil {
			fmt.Fprintln(os.Stderr, "bench: wrk is not installed and left out")
			continue
		}
		p.clients = append(p.clients, name)
	}
	if len(p.clients) == 0 {
		return fmt.Errorf("-only: no such client (known: %s)", strings.Join(order, ", "))
	}
	return nil
}

// build compiles the programs in C.
func (p *plan) build() (err error) {
	if p.self, err = os.Executable(); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	p.source, p.read = filepath.Join(p.dir, "source"), filepath.Join(p.dir, "reader")
	for name, to := range map[string]string{"source.c": p.source, "reader.c": p.read} {
		if out, err := exec.Command("gcc", "-O2", "-Wall", "-o", to, name).CombinedOutput(); err != nil {
			return fmt.Errorf("gcc %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

func (p *plan) clean() { os.RemoveAll(p.dir) }

// setting is one cell of the tables.
type setting struct {
	streams int
	mode    string // spread or burst
	flood   bool   // no interval: as fast as the sockets take it
	stamps  bool
	ramp    time.Duration // over which the streams of a client in Go start
}

// outcome is one run of one client.
type outcome struct {
	result
	sent       int64   // token events that the source sent
	cpu        float64 // seconds of the client's process
	wall       float64
	sourceBusy float64 // share of its core that the source used
	sourceLate float64 // seconds, the mean
	others     float64 // cores that other work took
}

// perEvent is CPU per event in µs.
func (o outcome) perEvent() float64 { return o.cpu / float64(o.sent) * 1e6 }

// saturated reports whether the client's core, or the source's, was the limit.
func (o outcome) saturated() bool { return o.cpu > 0.93*o.wall || o.sourceBusy > 0.93 }

// once runs one client against a fresh source.
func (p *plan) once(name string, s setting) (o outcome, err error) {
	every := interval
	if s.flood {
		every = 0
	}
	src, err := p.serve(every, s.mode)
	if err != nil {
		return o, err
	}
	err = p.client(name, s, src.port, &o)
	last, stopErr := src.stop()
	o.sent, o.sourceLate = last.sent, last.late
	o.sourceBusy = last.cpu / o.wall
	return o, errors.Join(err, stopErr)
}

// command is a client's process on the second core.
func (p *plan) command(name string, s setting, port string, lasts float64) *exec.Cmd {
	seconds := strconv.FormatFloat(lasts, 'f', -1, 64)
	n := strconv.Itoa(s.streams)
	args := []string{"-c", "1"}
	switch name {
	case wrk:
		whole := strconv.Itoa(max(1, int(lasts+0.5)))
		args = append(args, "wrk", "-t1", "-c"+n, "-d"+whole+"s", "--timeout", "60s", "http://127.0.0.1:"+port+"/")
	case reader:
		args = append(args, p.read, port, n, seconds)
		if s.stamps {
			args = append(args, "stamps")
		}
	default:
		args = append(args, p.self, "-client", name, "-base", "http://127.0.0.1:"+port, "-streams", n, "-seconds", seconds,
			"-ramp", s.ramp.String(), "-stamps="+strconv.FormatBool(s.stamps))
	}
	cmd := exec.Command("taskset", args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// client runs the client's process and reads what it cost and what it says.
func (p *plan) client(name string, s setting, port string, o *outcome) error {
	cmd := p.command(name, s, port, p.seconds)
	began := time.Now()
	out, err := cmd.Output()
	o.wall = time.Since(began).Seconds()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	o.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	switch name {
	case wrk:
		o.P50, o.P99 = -1, -1
	case reader:
		var p50, p99 float64
		if _, err := fmt.Fscan(bytes.NewReader(out), &o.Events, &o.Coalesced, &p50, &p99); err != nil {
			return err
		}
		o.P50, o.P99 = p50/1e3, p99/1e3
		if !s.stamps {
			o.P50, o.P99 = -1, -1
		}
	default:
		return json.Unmarshal(out, &o.result)
	}
	return nil
}
