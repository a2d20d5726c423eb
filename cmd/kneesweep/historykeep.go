package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/record/history"
	"kneesweep/report"
)

func historyShow(c *cli.Context, db *history.DB) error {
	if c.NArg() != 1 {
		return usagef("history show needs the ID of one run, or latest; history list shows them")
	}
	document, err := db.Document(c.Context, c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		_, err := c.App.Writer.Write(document)
		return outputError(err)
	}
	curve, err := report.ReadCurve(bytes.NewReader(document))
	if err != nil {
		return err
	}
	return outputError(report.Table(c.App.Writer, curve))
}

func historyBaseline(c *cli.Context, db *history.DB) error {
	switch {
	case c.NArg() > 1:
		return usagef("history baseline takes one ID, got %d", c.NArg())
	case c.NArg() == 0 && c.Bool("clear"):
		return usagef("--clear: say of which run: history baseline ID --clear")
	case c.NArg() == 0:
		entries, err := db.Baselines(c.Context)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			fmt.Fprintln(c.App.ErrWriter, "no baselines")
			return nil
		}
		return outputError(listTable(c.App.Writer, entries))
	}
	mark, said := db.SetBaseline, "is the baseline of its series"
	if c.Bool("clear") {
		mark, said = db.ClearBaseline, "is no baseline"
	}
	id, err := mark(c.Context, c.Args().First())
	if err == nil {
		fmt.Fprintf(c.App.ErrWriter, "%s %s\n", id, said)
	}
	return err
}

// historyImport keeps every run that it can read, and fails when there is one that
// it cannot.
func historyImport(c *cli.Context, db *history.DB) error {
	if !c.Args().Present() {
		return usagef("history import needs a FILE: the folder of a run, a curve.json or a journal")
	}
	added := 0
	var errs []error
	for _, path := range c.Args().Slice() {
		fresh, err := importRun(c, db, path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		case fresh:
			added++
		default:
			fmt.Fprintf(c.App.ErrWriter, "%s: in the history already\n", path)
		}
	}
	fmt.Fprintf(c.App.ErrWriter, "%d of %d runs added to %s\n", added, c.NArg(), db.At())
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	return nil
}

func importRun(c *cli.Context, db *history.DB, path string) (added bool, err error) {
	s, err := readSource(path, c.App.ErrWriter, "", false)
	if err != nil {
		return false, err
	}
	if s.peer != nil || s.curve.Run.Settings.Passes == 0 && s.curve.Run.Started.IsZero() {
		return false, errors.New("no run of kneesweep; give its folder, its curve.json or its journal")
	}
	var data analysis.Data
	if s.data != nil {
		data = *s.data
	}
	document, err := report.MarshalCurve(s.curve)
	if err != nil {
		return false, err
	}
	return db.Put(c.Context, history.Record{Curve: s.curve, Document: document, Failure: failureOf(data, s.curve)})
}

// plainID is an ID that can be the name of a file.
var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func historyExport(c *cli.Context, db *history.DB) error {
	if !c.Args().Present() {
		return usagef("history export needs the ID of a run, or latest; history list shows them")
	}
	dir := c.String("o")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	for _, text := range c.Args().Slice() {
		id, err := db.Find(c.Context, text)
		if err != nil {
			return err
		}
		if !plainID.MatchString(id) {
			return fmt.Errorf("%.60q cannot be the name of a file; history show --json writes it to stdout", id)
		}
		document, err := db.Document(c.Context, id)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, id+".json")
		if err := writeWhole(path, document); err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "written to %s\n", path)
	}
	return nil
}

func historyPrune(c *cli.Context, db *history.DB) error {
	if err := noArguments(c); err != nil {
		return err
	}
	switch {
	case c.IsSet("journals"):
		return pruneJournals(c, db)
	case c.IsSet("to"):
		return usagef("--to: works with --journals, the folder whose journals are to be that small")
	case !c.IsSet("older"):
		return usagef("--older: needed, the age of what shall go, such as 90d")
	}
	before, err := ago("--older", c.String("older"))
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		n, err := db.Prune(c.Context, before)
		if err == nil {
			fmt.Fprintf(c.App.ErrWriter, "%d runs removed\n", n)
		}
		return err
	}
	entries, err := db.Prunable(c.Context, before)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%d runs from before %s would be removed\n", len(entries), before.UTC().Format(time.RFC3339))
	if len(entries) == 0 {
		return nil
	}
	return outputError(listTable(c.App.Writer, entries))
}
