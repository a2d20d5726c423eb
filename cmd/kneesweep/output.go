package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/record/journal"
	"kneesweep/report"
	"kneesweep/sweep"
)

// The files of a run.
const (
	journalFile = "journal.jsonl"
	curveFile   = "curve.json"
	figureFile  = "curve.png"
	reportFile  = "report.md"
	pageFile    = "report.html"
)

var runFiles = []string{journalFile, curveFile, figureFile, reportFile, pageFile}

// output is the folder of a run.
type output struct {
	dir  string
	made []string // the folders that we made: dir and those above it, the upper first
}

// openOutput makes the folder and refuses one that holds a run already.
func openOutput(dir string, now time.Time) (output, error) { return openFolder(dir, now, runFiles) }

// openFolder is openOutput for a folder that is to hold files of these names.
func openFolder(dir string, now time.Time, files []string) (output, error) {
	if dir == "" {
		dir = now.Format("kneesweep-20060102-150405")
	}
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return output{}, fmt.Errorf("--out: %s is a file; give a folder", dir)
	}
	o := output{dir: dir}
	if err := o.make(); err != nil {
		o.discard()
		return output{}, fmt.Errorf("--out: %w", err)
	}
	o.clear()
	for _, name := range files {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return output{}, fmt.Errorf("--out: %s exists already; choose another folder", path)
		}
	}
	if err := o.probe(); err != nil {
		o.discard()
		return output{}, fmt.Errorf("--out: %w", err)
	}
	return o, nil
}

// make makes the folder and notes what was not there before.
func (o *output) make() error {
	var missing []string
	for d := o.dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		if os.Mkdir(d, 0o755) == nil {
			o.made = append(o.made, d)
		}
	}
	return os.MkdirAll(o.dir, 0o755) // says what is wrong, if anything is
}

// clear takes away what a sweep left that its preflight ended: nothing was
// measured, and the next try may well ask for the same folder.
func (o output) clear() {
	f, err := os.Open(filepath.Join(o.dir, curveFile))
	if err != nil {
		return
	}
	c, err := report.ReadCurve(f)
	if f.Close(); err != nil || c.Run.Preflight == nil || len(c.Steps) > 0 {
		return
	}
	for _, name := range runFiles {
		_ = os.Remove(filepath.Join(o.dir, name)) // what stays is refused by name
	}
}

// probe finds a folder that cannot be written to, or a full disk, before the
// sweep and not after it.
func (o output) probe() error {
	f, err := os.CreateTemp(o.dir, ".probe")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 1<<20)) // about what a small run takes
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// discard removes the folders that we made again, as far as nothing is in them.
func (o output) discard() {
	for _, d := range slices.Backward(o.made) {
		if os.Remove(d) != nil {
			return
		}
	}
}

// finish writes the result and says where it is.
func (o output) finish(c *cli.Context, curve analysis.Curve) error {
	err := o.write(curve)
	if err == nil {
		fmt.Fprintf(c.App.ErrWriter, "written to %s\n", o.dir)
	}
	return err
}

// write writes curve, figure and reports. It writes all that it can.
func (o output) write(c analysis.Curve) error {
	files := []rendered{{curveFile, func(b *bytes.Buffer) error { return report.CurveJSON(b, c) }}}
	figure := ""
	if c.Run.Preflight == nil { // else there is nothing to draw
		figure = figureFile
		files = append(files, rendered{figureFile, func(b *bytes.Buffer) error {
			f, err := plots.Capacity(c)
			if err != nil {
				return err
			}
			if err := f.Write(b, "png"); err != nil {
				return err
			}
			return nameRun(b, c.Run)
		}})
	}
	return o.saveAll(append(files,
		rendered{reportFile, func(b *bytes.Buffer) error { return report.Markdown(b, c, figure) }},
		rendered{pageFile, func(b *bytes.Buffer) error { return report.HTML(b, c, nil) }}))
}

// rendered is a file and what writes it.
type rendered struct {
	name   string
	render func(*bytes.Buffer) error
}

// saveAll writes all files that it can.
func (o output) saveAll(files []rendered) error {
	var errs []error
	for _, f := range files {
		var b bytes.Buffer
		err := f.render(&b)
		if err == nil {
			err = writeWhole(filepath.Join(o.dir, f.name), b.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	return errors.Join(errs...)
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(path string, b []byte) error {
	// os.CreateTemp would make a file that only its owner can read, whatever the umask.
	part := path + "." + rand.Text() + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// journalSink writes the journal of a running sweep.
type journalSink struct {
	file *os.File
	w    *journal.Writer
}

func (o output) startJournal(run load.Run) (*journalSink, error) {
	f, err := os.OpenFile(filepath.Join(o.dir, journalFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	w := journal.NewWriter(f, run)
	if err := w.Err(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &journalSink{f, w}, nil
}

// sum writes what the run came to, where the journal keeps no chunks to compute it
// from again.
func (j *journalSink) sum(d *analysis.Data) {
	if d.Run.Settings.Journal != load.KeepChunks {
		d.Summary = analysis.Sum(*d)
		j.w.Summary(d.Summary)
	}
}

func (j *journalSink) take(e sweep.Event) {
	switch {
	case e.Sample != nil:
		j.w.Sample(e.Sample)
	case e.Visit != nil:
		j.w.Visit(e.Visit)
	case e.Beat != nil:
		j.w.Beat(e.Beat)
	case e.Open != nil:
		j.w.Open(e.Open)
	case e.Server != nil:
		j.w.Server(e.Server)
	}
}

func (j *journalSink) close(status load.Status, reason string) error {
	return errors.Join(j.w.Close(status, reason), j.file.Close())
}

// newRunID is the time of the run and some randomness.
func newRunID(t time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return t.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}
