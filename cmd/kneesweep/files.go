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

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/record/table"
	"kneesweep/report"
)

// readCurves reads every file. Errors name the file and are exitFailed.
func readCurves(files []string, stderr io.Writer) ([]analysis.Curve, error) {
	curves := make([]analysis.Curve, 0, len(files))
	for _, path := range files {
		c, err := readCurve(path, stderr)
		if err != nil {
			return nil, failed(fmt.Errorf("%s: %w", path, err))
		}
		tame(&c)
		curves = append(curves, c)
	}
	return curves, nil
}

// readCurve reads a journal, a curve.json, a CSV, or the folder of a run, which
// it tells apart by their content.
func readCurve(path string, stderr io.Writer) (analysis.Curve, error) {
	path, err := runFile(path)
	if err != nil {
		return analysis.Curve{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return analysis.Curve{}, bare(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 4096)
	head, _ := r.Peek(512)
	switch {
	case journal.Looks(head):
		content, err := journal.Read(r)
		if err != nil {
			return analysis.Curve{}, err
		}
		for _, m := range content.Missing {
			fmt.Fprintf(stderr, "%s: %s\n", path, m)
		}
		return analysis.Analyze(analysis.Data{Run: content.Run, Visits: content.Visits, Samples: content.Samples}), nil
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")):
		return report.ReadCurve(r)
	case bytes.IndexByte(head, 0) >= 0:
		return analysis.Curve{}, errors.New("not text (or in UTF-16: save it as UTF-8); want a journal, a curve.json or a CSV")
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")):
		return analysis.Curve{}, errors.New("a JSON list; want a journal, one curve.json or a CSV")
	}
	steps, err := table.Read(r)
	if err != nil {
		return analysis.Curve{}, err
	}
	run := load.Run{ID: filepath.Base(path), Tool: "kneesweep " + version(), Target: filepath.Base(path), Status: load.StatusComplete, Seed: 1}
	return analysis.Build(run, steps), nil
}

// runFile finds what to read in the folder of a run: its curve, or the journal
// when the run died before there was a curve. Other paths stay.
func runFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", bare(err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range []string{curveFile, journalFile} {
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
