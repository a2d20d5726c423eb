// Package peers reads the result files of other load generators, so that their
// measurements can be analysed as ours are. A file is known by its content. What
// becomes of which field, and which way the tools' ways of counting pull a
// figure, is said in docs/peers.md.
//
// Figures are taken by their definition and not by their name: what vLLM and
// SGLang call ITL are gaps between chunks, what GuideLLM and AIPerf call so is
// TPOT. A figure that a file does not hold is undefined, never 0.
package peers

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"time"

	"kneesweep/load"
)

// Limit is the size in bytes up to which files are read.
const Limit = 256 << 20

// File is what one result file holds.
type File struct {
	name  string // base of its path
	dir   string // base of its folder
	tool  *tool
	sum   [sha256.Size]byte
	model string // of all its runs; empty = not said, or said by each run
	runs  []measured
	left  []string // what was left out, in words
}

// tool is a load generator whose files are read.
type tool struct {
	name string
	read func(f *File, path string, data []byte) error
	// doubts are its ways of counting that pull the figures of every level, each
	// with the direction.
	doubts func(runs []measured) []string
	again  string // how to measure so that a level is held
}

// measured is one run of a tool at one level. Times are seconds, rates tokens/s
// and requests/s.
type measured struct {
	streams int // N, as it was asked for
	started time.Time

	model, target string
	shape         load.RequestShape

	throughput load.Opt[float64] // output tokens/s
	requests   load.Opt[float64]
	seconds    load.Opt[float64] // length of the run
	busy       load.Opt[float64] // mean number of requests in flight
	span       span

	finished, failed load.Opt[int]
	failures         map[string]int

	prompt, output       load.Opt[float64] // mean tokens per request
	ttft, tpot, icl, e2e load.Dist
	decode               load.Dist

	serverTokens bool     // known to be counted by the server
	doubts       []string // that concern this run only
}

// span says what the length of a run holds besides the level.
type span int

const (
	spanWhole     span = iota // ramp-up and drain: a fixed number of requests, divided by the whole time
	spanCompleted             // ramp-up; tokens of requests that were still running at the end are lost
	spanCut                   // ramp-up; tokens of requests that were still running at the end count
	spanDecode                // nothing: all sequences decode from the first to the last step
)

// Read reads the result file of another tool; known is false when data is none.
// Of path the base names the file, and folders are asked for the level only
// where the format does not hold it. Errors say what is wrong, where, and what to
// do, in one line without the path. data is not changed.
func Read(path string, data []byte) (f File, known bool, err error) {
	text := repaired(bytes.TrimPrefix(data, []byte("\ufeff")))
	t := recognise(text)
	if t == nil {
		return File{}, false, nil
	}
	f = File{name: filepath.Base(path), dir: filepath.Base(filepath.Dir(path)), tool: t, sum: sha256.Sum256(data)}
	if err := t.read(&f, path, text); err != nil {
		return File{}, true, fmt.Errorf("%s: %w", t.name, err)
	}
	return f, true, nil
}

// openLoop is the error for a file of arrivals at a rate.
func (t *tool) openLoop(field, value string) error {
	return fmt.Errorf("%s is %s: arrivals at a rate (open loop) hold no number of streams, so the file has no level; %s", field, value, t.again)
}

// noLevel is the error for a file that does not say how many streams there were.
func (t *tool) noLevel(field string) error {
	return fmt.Errorf("no %s: the number of streams was not held, or is not written; %s", field, t.again)
}
