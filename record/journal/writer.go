package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"kneesweep/load"
)

// flushEvery bounds what a crash loses.
const flushEvery = time.Second

// Writer appends to a journal. Its methods are safe for concurrent use. The
// first error sticks: later calls do nothing and Close returns it.
type Writer struct {
	keep string
	mu   sync.Mutex
	buf  *bufio.Writer
	enc  *json.Encoder
	err  error
	stop chan struct{}
	done chan struct{}
}

// NewWriter opens a journal on w with the account of the run, whose
// Settings.Journal says what it keeps of the requests; what is written reaches w
// within a second. Close must be called; it does not close w.
func NewWriter(w io.Writer, run load.Run) *Writer {
	j := &Writer{keep: run.Settings.Journal, buf: bufio.NewWriterSize(w, 1<<16), stop: make(chan struct{}), done: make(chan struct{})}
	j.enc = json.NewEncoder(j.buf)
	j.enc.SetEscapeHTML(false)
	j.put(line{Run: &runLine{Schema, run}})
	j.flush()
	go j.flushing()
	return j
}

// Sample appends a request, as far as it is kept.
func (j *Writer) Sample(s *load.Sample) {
	if j.keep != load.KeepNone {
		j.put(line{Sample: newSampleLine(s, j.keep)})
	}
}

// Summary appends what the run came to. A journal that keeps every chunk needs
// none.
func (j *Writer) Summary(s *load.Summary) { j.put(line{Sum: s}) }

// Visit appends the state of a visit; the last one with an index counts.
func (j *Writer) Visit(v *load.Visit) {
	j.put(line{Visit: v})
	j.flush()
}

// Beat appends a sign of life.
func (j *Writer) Beat(b *load.Beat) { j.put(line{Beat: b}) }

// Server appends what the server said of itself.
func (j *Writer) Server(s *load.Server) { j.put(line{Server: s}) }

// Open appends the account of an open loop, after its samples.
func (j *Writer) Open(p *load.OpenPhase) { j.put(line{Open: p}) }

// Err returns the first error.
func (j *Writer) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close appends how the run ended, flushes, and returns the first error.
func (j *Writer) Close(status load.Status, reason string) error {
	close(j.stop)
	<-j.done
	j.put(line{End: &endLine{status, reason}})
	j.flush()
	return j.Err()
}

func (j *Writer) put(l line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if err := j.enc.Encode(l); err != nil {
		j.err = fmt.Errorf("journal: %w", err)
	}
}

func (j *Writer) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if err := j.buf.Flush(); err != nil {
		j.err = fmt.Errorf("journal: %w", err)
	}
}

func (j *Writer) flushing() {
	defer close(j.done)
	t := time.NewTicker(flushEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			j.flush()
		case <-j.stop:
			return
		}
	}
}
