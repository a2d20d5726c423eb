package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/record/history"
)

// stillWarm is the age below which a journal may still be written, or its sweep resumed.
const stillWarm = time.Hour

// sizeUnits are those of --to, the longer names first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

// parseSize reads a size such as 10GB.
func parseSize(flag, text string) (int64, error) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(strings.TrimSpace(text), u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && x >= 0 && x*u.bytes < math.MaxInt64 {
			return int64(x * u.bytes), nil
		}
	}
	return 0, usagef("%s: %.40q is no size; write 10GB or 500MB", flag, text)
}

// keptJournal is a journal below the folder that is pruned.
type keptJournal struct {
	path string
	run  string // ID
	at   time.Time
	size int64
}

// pruneJournals removes journals of a folder and those below it, the oldest first. The
// rest of their runs stays, and so do all journals of baselines, of what may still run or be
// resumed, and of what has no curve.json beside it.
func pruneJournals(c *cli.Context, db *history.DB) error {
	var before time.Time
	most := int64(math.MaxInt64)
	var err error
	if !c.IsSet("older") && !c.IsSet("to") {
		return usagef("--journals: give --older 90d, or --to 10GB, or both")
	}
	if c.IsSet("older") {
		if before, err = ago("--older", c.String("older")); err != nil {
			return err
		}
	}
	if c.IsSet("to") {
		if most, err = parseSize("--to", c.String("to")); err != nil {
			return err
		}
	}
	all, err := findJournals(c.String("journals"))
	if err != nil {
		return usage(fmt.Errorf("--journals: %w", err))
	}
	baselines, err := db.Baselines(c.Context)
	if err != nil {
		return err
	}
	stays := func(j keptJournal) bool {
		return time.Since(j.at) < stillWarm || slices.ContainsFunc(baselines, func(e history.Entry) bool { return e.ID == j.run })
	}
	total := int64(0)
	for _, j := range all {
		total += j.size
	}
	removed, freed := 0, int64(0)
	var errs []error
	for _, j := range all {
		if stays(j) || !j.at.Before(before) && total <= most {
			continue
		}
		if c.Bool("dry-run") {
			fmt.Fprintln(c.App.Writer, j.path)
		} else if err := os.Remove(j.path); err != nil {
			errs = append(errs, err)
			continue
		}
		removed, freed, total = removed+1, freed+j.size, total-j.size
	}
	verb := "removed"
	if c.Bool("dry-run") {
		verb = "would be removed"
	}
	fmt.Fprintf(c.App.ErrWriter, "%d of %d journals %s, %.1f MB; %.1f MB stay\n", removed, len(all), verb, float64(freed)/1e6, float64(total)/1e6)
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	return nil
}

// findJournals are the journals of runs that have ended, the oldest first.
func findJournals(dir string) (all []keptJournal, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		if err != nil || d.IsDir() || name != journalFile && !(strings.HasPrefix(name, "journal-before-") && strings.HasSuffix(name, ".jsonl")) {
			return err
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), curveFile)); err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		run, ok := journalOf(path)
		if ok && info.Mode().IsRegular() {
			all = append(all, keptJournal{path, run, info.ModTime(), info.Size()})
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b keptJournal) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	return all, err
}

// journalOf returns the ID of the run of a journal; false = it is no journal.
func journalOf(path string) (run string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, err := bufio.NewReader(f).ReadBytes('\n')
	var line struct {
		Run *struct {
			Schema string `json:"schema"`
			ID     string
		} `json:"run"`
	}
	if err != nil || json.Unmarshal(head, &line) != nil || line.Run == nil || line.Run.Schema == "" {
		return "", false
	}
	return line.Run.ID, true
}
