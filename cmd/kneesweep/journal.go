package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"kneesweep/analysis"
	"kneesweep/analysis/slo"
	"kneesweep/load"
	"kneesweep/record/journal"
)

// inMemory is the size of a journal in bytes up to which its requests are held in
// memory, where they take four times as much.
const inMemory = 64 << 20

// readLargeJournal is [analyzeJournal] for one whose requests stay in its file.
func readLargeJournal(f *os.File, size int64, path string, stderr io.Writer, limits string) (source, error) {
	debug.SetGCPercent(20) // a level at a time is in memory; its garbage need not be as large again
	content, kept, err := journal.Index(f, size)
	if err != nil {
		return source{}, err
	}
	s, err := analyzeJournal(content, kept, path, stderr, limits)
	return s, errors.Join(err, kept.Err())
}

// analyzeJournal analyses a journal and says what is missing from it.
func analyzeJournal(content journal.Content, kept *journal.Stored, path string, stderr io.Writer, limits string) (source, error) {
	for _, m := range content.Missing {
		fmt.Fprintf(stderr, "%s: %s\n", path, m)
	}
	other := limits != "" && limits != content.Run.Settings.SLO
	if limits != "" {
		content.Run.Settings.SLO = limits
	} else if _, err := slo.Parse(content.Run.Settings.SLO); err != nil {
		return source{}, fmt.Errorf("the limits of the run: %w", err)
	}
	data := analysis.Data{Run: content.Run, Visits: content.Visits, Samples: content.Samples, Server: content.Server, Open: content.Open, Summary: content.Summary}
	if kept != nil {
		data.Stored = kept
	}
	if other && data.Summary != nil {
		if err := analysis.Restate(&data); err != nil {
			return source{}, fmt.Errorf("--slo: %w", err)
		}
	}
	s := source{curve: analysis.Analyze(data), data: &data}
	if content.Run.Settings.Journal == load.KeepNone {
		s.data = nil
	}
	return s, nil
}
