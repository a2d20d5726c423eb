package journal_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/record/journal"
)

var errFull = errors.New("no space left on device")

// disk has room for so many bytes.
type disk struct {
	bytes.Buffer
	room int
}

func (d *disk) Write(b []byte) (int, error) {
	n := min(len(b), d.room-d.Len())
	_, _ = d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// TestFullDisk: a disk that fills up while a run is kept stops nothing. The error is
// told at the end, and what had found room is read.
func TestFullDisk(t *testing.T) {
	d := &disk{room: 1200}
	w := journal.NewWriter(d, load.Run{ID: "r"})
	for i := range 100 {
		w.Sample(&load.Sample{ID: int64(i), Sent: time.Duration(i), End: time.Duration(i + 5), OutputTokens: 1, TokenSource: load.SourceServer})
		w.Visit(&load.Visit{Index: i, Level: load.Level{Concurrency: 1, Windows: 1}})
	}
	if !errors.Is(w.Err(), errFull) {
		t.Errorf("while it runs: %v", w.Err())
	}
	if err := w.Close(load.StatusComplete, ""); !errors.Is(err, errFull) {
		t.Errorf("at the end: %v", err)
	}
	if d.Len() != d.room {
		t.Errorf("%d bytes of %d are used", d.Len(), d.room)
	}
	c, err := journal.Read(&d.Buffer)
	if err != nil || len(c.Samples) == 0 || len(c.Samples) == 100 || len(c.Missing) == 0 {
		t.Errorf("%v, %d requests, missing %q", err, len(c.Samples), c.Missing)
	}
}
