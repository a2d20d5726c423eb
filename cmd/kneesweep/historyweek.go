package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/regress"
	"kneesweep/analysis/stat"
	"kneesweep/plots"
	"kneesweep/record/history"
)

// weekFigures are what can be shown by the time of the week.
var weekFigures = map[string]string{
	"plateau": "Plateau, output tokens/s", "knee": "Knee, parallel streams", "rate": "Output tokens/s at N = %d", "ttft": "Median time to first token at N = %d, ms",
}

func weekFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "figure", Value: "plateau", Usage: "plateau, knee, or at one level (--at) rate or ttft"},
		&cli.IntFlag{Name: "at", Usage: "the level of `N` streams"},
		&cli.StringFlag{Name: "tz", Value: "UTC", Usage: "time `ZONE` of the hours, such as Europe/Berlin"},
		&cli.StringFlag{Name: "o", Value: "week.png", Usage: "the chart: `FILE`.png, .svg or .pdf"},
	}
}

// historyWeek draws a figure of one series by hour and weekday.
func historyWeek(c *cli.Context, db *history.DB) error {
	f, err := newFilter(c)
	if err != nil {
		return err
	}
	figure, out := c.String("figure"), c.String("o")
	title, known := weekFigures[figure]
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), ".")
	zone, zerr := time.LoadLocation(c.String("tz"))
	atLevel := figure == "rate" || figure == "ttft"
	switch {
	case !known:
		return usagef("--figure: %q, need plateau, knee, rate or ttft", figure)
	case atLevel && c.Int("at") < 1:
		return usagef("--at: --figure %s is that of one level; say which", figure)
	case !atLevel && c.IsSet("at"):
		return usagef("--at: works with --figure rate or ttft; %s is that of the whole curve", figure)
	case !slices.Contains(plots.Formats(), format):
		return usagef("-o: %q must end in one of .%s", out, strings.Join(plots.Formats(), ", ."))
	case zerr != nil || c.String("tz") == "":
		return usagef("--tz: %q is no time zone, write Europe/Berlin", c.String("tz"))
	case atLevel:
		title = fmt.Sprintf(title, c.Int("at"))
	}
	entries, err := db.Series(c.Context, f)
	if err != nil {
		return err
	}
	nights, err := nightsOf(c.Context, db, entries)
	if err != nil {
		return err
	}
	week, runs := weekOf(nights, zone, weekValue(figure, c.Int("at")))
	if runs == 0 {
		return exitError{exitNoCurve, fmt.Errorf("none of %d runs has that figure", len(entries))}
	}
	last := entries[len(entries)-1]
	picture, err := plots.WeekMap(title, fmt.Sprintf("%s · %s · %d runs · hours of %s", last.Model, last.Target, runs, zone), week)
	if err != nil {
		return err
	}
	return outputError(writeFigure(out, format, picture, c.App.ErrWriter))
}

// weekValue takes a figure from a night.
func weekValue(figure string, level int) func(regress.Night) (float64, bool) {
	return func(n regress.Night) (float64, bool) {
		switch figure {
		case "knee":
			return n.Knee.V, n.Knee.OK
		case "rate":
			return n.Levels[level].Rate, n.Levels[level].Rate > 0
		case "ttft":
			return 1e3 * n.Levels[level].TTFT, n.Levels[level].TTFT > 0
		}
		return n.Plateau.V, n.Plateau.OK
	}
}

// weekOf are the medians by weekday and hour of a zone, and of how many runs they are.
func weekOf(nights []regress.Night, zone *time.Location, value func(regress.Night) (float64, bool)) (week plots.Week, runs int) {
	var hours [7][24][]float64
	for _, n := range nights {
		if x, ok := value(n); ok {
			at := n.At.In(zone)
			day := (int(at.Weekday()) + 6) % 7 // Monday first
			hours[day][at.Hour()] = append(hours[day][at.Hour()], x)
		}
	}
	for day := range hours {
		for hour, values := range hours[day] {
			if runs += len(values); len(values) > 0 {
				week[day][hour] = plots.WeekCell{Runs: len(values), Value: stat.Median(values)}
			}
		}
	}
	return week, runs
}

// startsSchema is that of the starts of jobs as JSON.
const startsSchema = "kneesweep/starts/v1"

// startJSON is what became of one time at which a job was due.
type startJSON struct {
	Job     string    `json:"job"`
	Due     time.Time `json:"due"`
	Host    string    `json:"host"`
	Outcome string    `json:"outcome"` // running, done, failed, missed, skipped
	Note    string    `json:"note"`
}

// historyStarts shows what became of the starts of nightly jobs, the newest first.
func historyStarts(c *cli.Context, db *history.DB) error {
	if err := noArguments(c); err != nil {
		return err
	}
	limit := c.Int("limit")
	if limit < 1 {
		return usagef("--limit: %d, need at least 1", limit)
	}
	starts, err := db.Starts(c.Context, limit)
	if err != nil {
		return err
	}
	list := []startJSON{}
	for _, s := range starts {
		if only := c.String("outcome"); only == "" || only == s.Outcome {
			list = append(list, startJSON{s.Job, s.Due, s.Host, s.Outcome, s.Note})
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			Schema string      `json:"schema"`
			Starts []startJSON `json:"starts"`
		}{startsSchema, list})
	}
	if len(list) == 0 {
		fmt.Fprintln(c.App.ErrWriter, "no starts")
		return nil
	}
	tab := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "due (UTC)\tjob\toutcome\thost\twhy")
	for _, s := range list {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", s.Due.UTC().Format("2006-01-02 15:04"), s.Job, s.Outcome, s.Host, strings.ReplaceAll(s.Note, "\n", " "))
	}
	return outputError(tab.Flush())
}
