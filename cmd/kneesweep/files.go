package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/record/peers"
	"kneesweep/record/table"
	"kneesweep/report"
)

// source is a file that was read.
type source struct {
	path  string
	curve analysis.Curve
	data  *analysis.Data // its single requests; nil if it has none
	peer  *peers.File    // of another tool: read, and not yet joined to a curve
}

// readCurves reads every file and holds it against limits, which are those of the
// run when empty. Errors name the file and are exitFailed.
func readCurves(files []string, stderr io.Writer, limits string) ([]analysis.Curve, error) {
	sources, err := readSources(files, stderr, limits, limits != "")
	if err != nil {
		return nil, err
	}
	return curvesOf(sources), nil
}

// readSources is [readCurves] with the single requests of journals, which are
// preferred in the folder of a run if requests are wanted.
func readSources(files []string, stderr io.Writer, limits string, requests bool) ([]source, error) {
	sources := make([]source, 0, len(files))
	for _, path := range files {
		s, err := readSource(path, stderr, limits, requests)
		if err != nil {
			return nil, failed(fmt.Errorf("%s: %w", path, err))
		}
		s.path = path
		sources = append(sources, s)
	}
	sources, err := joinPeers(sources, limits)
	if err != nil {
		return nil, failed(err)
	}
	for i := range sources {
		if limits != "" && sources[i].curve.Rates != nil {
			return nil, failed(fmt.Errorf("%s: --slo: limits are held against levels, and this run offered rates; its latencies stand in the table", sources[i].path))
		}
		tame(&sources[i].curve)
	}
	return sources, nil
}

func curvesOf(sources []source) []analysis.Curve {
	curves := make([]analysis.Curve, len(sources))
	for i, s := range sources {
		curves[i] = s.curve
	}
	return curves
}

// readSource reads a journal, a curve.json, a CSV, a result file of another tool,
// or the folder of a run, which it tells apart by their content.
func readSource(path string, stderr io.Writer, limits string, requests bool) (source, error) {
	path, err := runFile(path, requests)
	if err != nil {
		return source{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return source{}, bare(err)
	}
	r := bufio.NewReaderSize(f, 4096)
	head, _ := r.Peek(512)
	if journal.Looks(head) {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > inMemory {
			return readLargeJournal(f, info.Size(), path, stderr, limits) // its file stays open, to be read as far as it is needed
		}
	}
	defer f.Close()
	if journal.Looks(head) {
		content, err := journal.Read(r)
		if err != nil {
			return source{}, err
		}
		return analyzeJournal(content, nil, path, stderr, limits)
	}
	data, err := readBounded(f, r)
	if err != nil {
		return source{}, err
	}
	if peer, known, err := peers.Read(path, data); known {
		return source{peer: &peer}, err
	}
	return readSummary(path, data, limits)
}

// readBounded reads a file whole, through r, up to the limit for such files.
func readBounded(f *os.File, r io.Reader) ([]byte, error) {
	tooLarge := fmt.Errorf("larger than %d MiB; save the result without its single requests", peers.Limit>>20)
	if info, err := f.Stat(); err == nil && info.Size() > peers.Limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(r, peers.Limit+1))
	if err != nil {
		return nil, bare(err)
	}
	if len(data) > peers.Limit { // a pipe, which has no size
		return nil, tooLarge
	}
	return data, nil
}

// readSummary reads a curve.json or a CSV.
func readSummary(path string, data []byte, limits string) (source, error) {
	text := bytes.TrimLeft(data, " \t\r\n\ufeff")
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		c, err := report.ReadCurve(bytes.NewReader(data))
		if err == nil && limits != "" && limits != c.Run.Settings.SLO {
			return source{}, fmt.Errorf("--slo: a curve has no single requests to hold against other limits than its own; give the run's %s or its folder", journalFile)
		}
		return source{curve: c}, err
	case bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0:
		return source{}, errors.New("not text (or in UTF-16: save it as UTF-8); want a journal, a curve.json, a CSV or a result file of another tool")
	case bytes.HasPrefix(text, []byte("[")):
		return source{}, errors.New("a JSON list of nothing known; want a journal, one curve.json, a CSV or a result file of another tool")
	}
	steps, err := table.Read(bytes.NewReader(data))
	if err != nil {
		return source{}, err
	}
	run := load.Run{ID: filepath.Base(path), Tool: "kneesweep " + version(), Target: filepath.Base(path), Status: load.StatusComplete, Seed: 1}
	run.Settings.SLO = limits
	return source{curve: analysis.Build(run, steps)}, nil
}

// runFile finds what to read in the folder of a run: its curve, or the journal
// when the run died before there was a curve, or when single requests are needed.
// Other paths stay.
func runFile(path string, requests bool) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", bare(err)
	}
	if !info.IsDir() {
		return path, nil
	}
	names := []string{curveFile, journalFile}
	if requests {
		slices.Reverse(names)
	}
	for _, name := range names {
		p := filepath.Join(path, name)
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("a folder without %s and %s", curveFile, journalFile)
}

// bare strips the operation and the path from an error of the file system; the
// path is said already.
func bare(err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return perr.Err
	}
	return err
}
