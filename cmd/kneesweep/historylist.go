package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/record/history"
)

// Schemas of what the commands print as JSON.
const (
	historySchema = "kneesweep/history/v1"
	trendSchema   = "kneesweep/trend/v1"
)

// entryJSON is a run of a list. Fields are added, never renamed.
type entryJSON struct {
	ID          string           `json:"id"`
	Started     time.Time        `json:"started"`
	Target      string           `json:"target"`
	Model       string           `json:"model"`
	Label       string           `json:"label"`
	Shape       string           `json:"shape"`
	Status      string           `json:"status"`
	Failure     load.Opt[string] `json:"failure"` // why there is no curve
	Verdict     string           `json:"verdict"`
	Knee        *boundsJSON      `json:"knee"`
	Plateau     *boundsJSON      `json:"plateau_tokens_per_second"`
	Recommended load.Opt[int]    `json:"recommended"`
	Baseline    bool             `json:"baseline"`
}

// boundsJSON is a value with its interval; an unknown bound is null.
type boundsJSON struct {
	Value float64           `json:"value"`
	Lo    load.Opt[float64] `json:"lo"`
	Hi    load.Opt[float64] `json:"hi"`
}

func boundsOf(e load.Opt[load.Estimate]) *boundsJSON {
	if !e.OK {
		return nil
	}
	known := func(x float64) load.Opt[float64] { return load.Opt[float64]{V: x, OK: !math.IsNaN(x)} }
	return &boundsJSON{e.V.Value, known(e.V.Lo), known(e.V.Hi)}
}

func entriesJSON(entries []history.Entry) []entryJSON {
	all := make([]entryJSON, 0, len(entries))
	for _, e := range entries {
		all = append(all, entryJSON{
			ID: e.ID, Started: e.Started, Target: e.Target, Model: e.Model, Label: e.Label, Shape: e.Shape, Status: e.Status,
			Failure: load.Opt[string]{V: e.Failure, OK: e.Failure != ""}, Verdict: e.Verdict,
			Knee: boundsOf(e.Knee), Plateau: boundsOf(e.Plateau), Recommended: e.Recommended, Baseline: e.Baseline,
		})
	}
	return all
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return outputError(e.Encode(v))
}

// printRuns prints runs as one JSON document.
func printRuns(w io.Writer, schema string, entries []history.Entry) error {
	return printJSON(w, struct {
		Schema string      `json:"schema"`
		Runs   []entryJSON `json:"runs"`
	}{schema, entriesJSON(entries)})
}

func historyList(c *cli.Context, db *history.DB) error {
	f, err := newFilter(c)
	if err != nil {
		return err
	}
	entries, err := db.List(c.Context, f)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printRuns(c.App.Writer, historySchema, entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(c.App.ErrWriter, "no runs")
		return nil
	}
	return outputError(listTable(c.App.Writer, entries))
}

// listTable prints runs, a line each; an asterisk marks a baseline.
func listTable(w io.Writer, entries []history.Entry) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "run\tstarted (UTC)\ttarget\tmodel\tlabel\tknee\tplateau tok/s\tallow\tresult")
	for _, e := range entries {
		result, mark, allow := e.Verdict, "", "-"
		switch {
		case e.Failure != "":
			result = "failed: " + e.Failure
		case e.Status != string(load.StatusComplete):
			result += ", " + e.Status
		}
		if e.Baseline {
			mark = " *"
		}
		if e.Recommended.OK {
			allow = strconv.Itoa(e.Recommended.V)
		}
		fmt.Fprintf(tab, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, mark, e.Started.Format("2006-01-02 15:04"), e.Target, e.Model, e.Label,
			shownBounds(e.Knee), shownBounds(e.Plateau), allow, result)
	}
	return tab.Flush()
}

// shownBounds is a value with its interval, or a dash.
func shownBounds(e load.Opt[load.Estimate]) string {
	switch {
	case !e.OK:
		return "-"
	case math.IsNaN(e.V.Lo) || math.IsNaN(e.V.Hi):
		return strconv.FormatFloat(e.V.Value, 'f', 1, 64)
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f]", e.V.Value, e.V.Lo, e.V.Hi)
}

func historyTrend(c *cli.Context, db *history.DB) error {
	f, err := newFilter(c)
	if err != nil {
		return err
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(c.String("o"))), ".")
	if c.IsSet("o") && !slices.Contains(plots.Formats(), format) {
		return usagef("-o: %q must end in one of .%s", c.String("o"), strings.Join(plots.Formats(), ", ."))
	}
	entries, err := db.Series(c.Context, f)
	if err != nil {
		return err
	}
	seen, err := watch(c.Context, db, entries)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			Schema string      `json:"schema"`
			Runs   []entryJSON `json:"runs"`
			Events []eventJSON `json:"events"`
		}{trendSchema, entriesJSON(entries), seen.events()})
	}
	if len(entries) == 0 {
		fmt.Fprintln(c.App.ErrWriter, "no runs with a curve")
		return nil
	}
	if c.IsSet("o") {
		figure, err := trendFigure(entries, seen)
		if err != nil {
			return err
		}
		return outputError(writeFigure(c.String("o"), format, figure, c.App.ErrWriter))
	}
	return outputError(trendTable(c.App.Writer, entries, seen))
}

// trendFigure draws one series.
func trendFigure(entries []history.Entry, seen judged) (*plots.Figure, error) {
	change := seen.changes()
	points := make([]plots.TrendPoint, 0, len(entries))
	for _, e := range entries {
		points = append(points, plots.TrendPoint{At: e.Started, Knee: e.Knee, Plateau: e.Plateau, Baseline: e.Baseline, Change: change[e.ID]})
	}
	last := entries[len(entries)-1]
	return plots.Trend(last.Model+" · "+last.Target, points)
}

// trendTable prints one series, each run beside the baseline, or beside the first
// run where there is none.
func trendTable(w io.Writer, entries []history.Entry, seen judged) error {
	last := entries[len(entries)-1]
	base, name := entries[0], "first"
	for _, e := range entries {
		if e.Baseline {
			base, name = e, "baseline"
		}
	}
	fmt.Fprintf(w, "%s, %s: %s\n", last.Target, last.Model, last.Shape)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "run\tstarted (UTC)\tknee\tplateau tok/s\tagainst %s\n", name)
	for _, e := range entries {
		change := "-"
		switch {
		case e.ID == base.ID:
			change = name
		case e.Plateau.OK && base.Plateau.OK && base.Plateau.V.Value > 0:
			change = fmt.Sprintf("%+.1f %%", 100*(e.Plateau.V.Value/base.Plateau.V.Value-1))
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", e.ID, e.Started.Format("2006-01-02 15:04"), shownBounds(e.Knee), shownBounds(e.Plateau), change)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, seen.sentence())
	return err
}
