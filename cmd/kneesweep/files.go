package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
		curves = append(curves, c)
	}
	return curves, nil
}

// readCurve reads a journal, a curve.json, a CSV, or the folder of a run, which
// it tells apart by their content.
func readCurve(path string, stderr io.Writer) (analysis.Curve, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, curveFile)
	}
	f, err := os.Open(path)
	if err != nil {
		var perr *os.PathError
		if errors.As(err, &perr) {
			err = perr.Err
		}
		return analysis.Curve{}, err
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
	}
	steps, err := table.Read(r)
	if err != nil {
		return analysis.Curve{}, err
	}
	run := load.Run{ID: filepath.Base(path), Tool: "kneesweep " + version(), Target: filepath.Base(path), Status: load.StatusComplete, Seed: 1}
	return analysis.Build(run, steps), nil
}
