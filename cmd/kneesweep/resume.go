package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
	"kneesweep/record/journal"
	"kneesweep/sweep"
)

const (
	lockFile    = "resume.lock"
	beatsApart  = time.Second // of a journal that is being written
	brokenOff   = "journal-before-%d.jsonl"
	mostResumes = 1000
	askedApart  = 100_000 // prompts between those of two processes in one visit
)

func resumeFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "resume", Usage: "go on with the sweep in `FOLDER` that was interrupted, by the same flags but for --out"}
}

// earlier is what an interrupted sweep left.
type earlier struct {
	dir     string
	content journal.Content // without what belongs to a visit that did not end
	last    time.Duration   // the last moment of which it tells
}

// checkResume refuses what cannot be resumed.
func checkResume(c *cli.Context) error {
	if !c.IsSet("resume") {
		return nil
	}
	var errs []error
	for _, flag := range []string{"out", "target", "matrix", "rates", "replay", "dry-run"} {
		if c.IsSet(flag) {
			errs = append(errs, fmt.Errorf("--resume and --%s: give one of them; resumed are sweeps of one endpoint over numbers of streams, into their own folder", flag))
		}
	}
	if k := c.String("journal"); k != load.KeepChunks {
		errs = append(errs, fmt.Errorf("--resume and --journal %s: nothing can be added to figures; only what kept its chunks can be resumed", k))
	}
	return errors.Join(errs...)
}

// readEarlier reads what is in the folder of an interrupted sweep.
func readEarlier(dir string) (e *earlier, err error) {
	path := filepath.Join(dir, journalFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--resume: %s: %w; give the folder of a sweep", path, bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	e = &earlier{dir: dir}
	if e.content, err = journal.Read(f); err != nil {
		return nil, fmt.Errorf("--resume: %s: %w", path, err)
	}
	run := e.content.Run
	switch {
	case run.Status == load.StatusComplete || run.Status == load.StatusStopped:
		return nil, fmt.Errorf("--resume: the sweep in %s has ended (%s); nothing is left to do", dir, run.Status)
	case run.Settings.Journal != load.KeepChunks:
		return nil, fmt.Errorf("--resume: the sweep in %s kept no chunks (--journal), so its figures cannot be joined to others", dir)
	case run.Settings.Open() || len(e.content.Open) > 0:
		return nil, fmt.Errorf("--resume: %s is no sweep over numbers of streams", dir)
	case len(e.content.Missing) > 0 && time.Since(info.ModTime()) < 3*beatsApart:
		return nil, fmt.Errorf("--resume: the sweep in %s seems to go on: its journal was written a moment ago", dir)
	}
	e.drop()
	return e, nil
}

// drop takes away the visit that did not end, with its requests: it is made again.
func (e *earlier) drop() {
	c := &e.content
	n := slices.IndexFunc(c.Visits, func(v load.Visit) bool {
		return v.Ended == load.EndedRunning || v.Ended == load.EndedInterrupted
	})
	if n < 0 {
		n = len(c.Visits)
	}
	kept := c.Samples[:0]
	for _, s := range c.Samples {
		e.last = max(e.last, s.End)
		if s.Visit < n {
			kept = append(kept, s)
		}
	}
	for _, v := range c.Visits {
		e.last = max(e.last, v.Started)
	}
	c.Samples, c.Visits = kept, c.Visits[:n]
}

// after is what the sweep goes on from.
func (e *earlier) after() sweep.After {
	if e == nil {
		return sweep.After{}
	}
	a := sweep.After{Visits: e.content.Visits, Asked: askedApart * (1 + len(e.content.Run.Pauses))}
	for _, s := range e.content.Samples {
		a.Requests = max(a.Requests, s.ID)
	}
	return a
}

// resume makes the options those of the sweep that goes on, if one does.
func (o *sweepOptions) resume(c *cli.Context) error {
	if !c.IsSet("resume") {
		return nil
	}
	e, err := readEarlier(filepath.Clean(c.String("resume")))
	if err != nil {
		return usage(err)
	}
	o.earlier, o.out = e, e.dir
	now := time.Now()
	o.target.config.Epoch = now.Add(-now.Sub(e.content.Run.Started)) // counts on by the clock that does not jump
	measured := e.last
	for _, p := range e.content.Run.Pauses {
		measured -= p.To - p.From
	}
	if o.budget -= measured; o.budget <= 0 {
		return usagef("--resume: %v were measured, and --budget is no longer than that; give more", measured.Round(time.Second))
	}
	return nil
}

// lock keeps two processes from resuming one sweep.
func (e *earlier) lock() (unlock func(), err error) {
	path := filepath.Join(e.dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--resume: another process resumes the sweep in %s; if none does, remove %s", e.dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	return func() { _ = os.Remove(path) }, f.Close()
}

// join gives the run that begins now the name and the time of the one that it goes on
// with, unless it is another one.
func (e *earlier) join(run *load.Run, now time.Duration) error {
	old := e.content.Run
	run.ID, run.Started = old.ID, old.Started
	run.Pauses = append(slices.Clone(old.Pauses), load.Pause{From: e.last, To: max(e.last, now)})
	var errs []error
	for _, d := range otherFields(old, *run) {
		errs = append(errs, fmt.Errorf("--resume: the sweep in %s was another one: %s", e.dir, d))
	}
	return errors.Join(errs...)
}

// otherFields lists how the sweep that goes on would differ. What another process may
// have otherwise is left out.
func otherFields(old, now load.Run) (all []string) {
	for _, r := range []*load.Run{&old, &now} {
		r.Status, r.StopReason, r.Tool, r.Label, r.Pauses = "", "", "", "", nil
		r.Request.InputTokensGot = load.Opt[float64]{}
		r.Truth = nil
	}
	var a, b map[string]any
	for _, x := range []struct {
		run load.Run
		to  *map[string]any
	}{{old, &a}, {now, &b}} {
		if raw, err := json.Marshal(x.run); err == nil {
			_ = json.Unmarshal(raw, x.to)
		}
	}
	var walk func(name string, x, y any)
	walk = func(name string, x, y any) {
		m, ok := x.(map[string]any)
		n, also := y.(map[string]any)
		switch {
		case ok && also:
			keys := map[string]bool{}
			for k := range m {
				keys[k] = true
			}
			for k := range n {
				keys[k] = true
			}
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				walk(strings.TrimPrefix(name+"."+k, "."), m[k], n[k])
			}
		case !reflect.DeepEqual(x, y):
			all = append(all, fmt.Sprintf("%s was %v and is %v", name, x, y))
		}
	}
	walk("", a, b)
	return all
}

// setAside renames the journal of the earlier process, so that the whole sweep gets a new
// one and nothing is lost if that is cut as well.
func (e *earlier) setAside() error {
	for i := 1; i < mostResumes; i++ {
		path := filepath.Join(e.dir, fmt.Sprintf(brokenOff, i))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(filepath.Join(e.dir, journalFile), path)
		}
	}
	return errors.New("resumed too often")
}

// replay gives the sinks what the earlier process measured.
func (e *earlier) replay(sink sweep.Sink) {
	if e == nil {
		return
	}
	for i := range e.content.Visits {
		v := &e.content.Visits[i]
		for k := range e.content.Samples {
			if e.content.Samples[k].Visit == v.Index {
				sink(sweep.Event{Sample: &e.content.Samples[k]})
			}
		}
		sink(sweep.Event{Visit: v})
	}
	for i := range e.content.Server {
		sink(sweep.Event{Server: &e.content.Server[i]})
	}
}

// policy is p after the visits that were made.
func (e *earlier) policy(p sweep.Policy) (sweep.Policy, error) {
	if e == nil || len(e.content.Visits) == 0 {
		return p, nil
	}
	r, err := sweep.Resume(p, e.content.Visits)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w; the levels and how they are measured must be as they were", err)
	}
	return r, nil
}
