package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// server is a running token source on the first core.
type server struct {
	port  string
	cmd   *exec.Cmd
	ask   io.WriteCloser
	lines *bufio.Reader
}

// counters is what the source says of itself; times in seconds.
type counters struct {
	sent     int64 // token events
	cpu      float64
	late     float64 // the mean
	answered float64 // the integral of the answers being sent over time
}

// serve starts a source that sends a token of each stream every so often.
func (p *plan) serve(every time.Duration, mode string) (*server, error) {
	s := &server{cmd: exec.Command("taskset", "-c", "0", p.source, strconv.Itoa(tokens), strconv.Itoa(int(every.Microseconds())), mode)}
	s.cmd.Stderr = os.Stderr
	var err error
	if s.ask, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	said, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.lines = bufio.NewReader(said)
	port, err := s.lines.ReadString('\n')
	if err != nil {
		_, stopErr := s.stop()
		return nil, errors.Join(fmt.Errorf("source: no port: %w", err), stopErr)
	}
	s.port = strings.TrimSpace(port)
	return s, nil
}

// now asks for the counters.
func (s *server) now() (counters, error) {
	if _, err := io.WriteString(s.ask, "\n"); err != nil {
		return counters{}, err
	}
	return s.read()
}

func (s *server) read() (c counters, err error) {
	_, err = fmt.Fscan(s.lines, &c.sent, &c.cpu, &c.late, new(float64), &c.answered)
	return c, err
}

// stop ends the source and returns its last counters.
func (s *server) stop() (counters, error) {
	s.ask.Close()
	c, err := s.read()
	return c, errors.Join(err, s.cmd.Wait())
}
