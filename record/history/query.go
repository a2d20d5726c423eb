package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"kneesweep/load"
)

// Entry is a run as lists and trends show it.
type Entry struct {
	ID          string
	Started     time.Time // UTC
	Target      string
	Model       string
	Shape       string
	Label       string
	Status      string
	Failure     string // why there is no curve; empty = there is one
	Verdict     string
	Knee        load.Opt[load.Estimate] // streams
	Plateau     load.Opt[load.Estimate] // tokens/s; the bounds are NaN where they are not known
	Recommended load.Opt[int]
	Baseline    bool
}

// Filter chooses runs; its zero value chooses all.
type Filter struct {
	Target, Model, Label string
	Shape                string
	Since                time.Time
	Curves               bool // only runs that have a curve
	Limit                int  // the newest so many; 0 = all
}

const columns = `id, started, target, model, shape, label, status, failure, verdict,
	knee, knee_lo, knee_hi, plateau, plateau_lo, plateau_hi, recommended, baseline`

// where is the condition of a filter with its values.
func (f Filter) where() (string, []any) {
	var terms []string
	var values []any
	add := func(use bool, term string, value any) {
		if use {
			values = append(values, value)
			terms = append(terms, fmt.Sprintf(term, len(values)))
		}
	}
	add(f.Target != "", "target = $%d", f.Target)
	add(f.Model != "", "model = $%d", f.Model)
	add(f.Shape != "", "shape = $%d", f.Shape)
	add(f.Label != "", "id IN (SELECT run_id FROM labels WHERE label = $%d)", f.Label)
	add(!f.Since.IsZero(), "started >= $%d", f.Since.UnixMicro())
	add(f.Curves, "failure = $%d", "")
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), values
}

// List returns the runs of a filter, the newest first.
func (d *DB) List(ctx context.Context, f Filter) ([]Entry, error) {
	condition, values := f.where()
	query := "SELECT " + columns + " FROM runs" + condition + " ORDER BY started DESC, id DESC"
	if f.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	entries, err := d.entries(ctx, query, values...)
	return entries, d.at.fault(err)
}

func (d *DB) entries(ctx context.Context, query string, values ...any) (entries []Entry, err error) {
	rows, err := d.sql.QueryContext(ctx, query, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

func scan(rows *sql.Rows) (e Entry, err error) {
	var started int64
	var knee, plateau [3]sql.NullFloat64
	var recommended sql.NullInt64
	err = rows.Scan(&e.ID, &started, &e.Target, &e.Model, &e.Shape, &e.Label, &e.Status, &e.Failure, &e.Verdict,
		&knee[0], &knee[1], &knee[2], &plateau[0], &plateau[1], &plateau[2], &recommended, &e.Baseline)
	e.Started = time.UnixMicro(started).UTC()
	e.Knee, e.Plateau = estimate(knee), estimate(plateau)
	if recommended.Valid {
		e.Recommended = load.Some(int(recommended.Int64))
	}
	return e, err
}

func estimate(x [3]sql.NullFloat64) (e load.Opt[load.Estimate]) {
	if !x[0].Valid {
		return e
	}
	bound := func(b sql.NullFloat64) float64 {
		if !b.Valid {
			return math.NaN()
		}
		return b.Float64
	}
	return load.Some(load.Estimate{Value: x[0].Float64, Lo: bound(x[1]), Hi: bound(x[2])})
}

// Series returns the runs with a curve of one target, model and shape, the oldest
// first: what a trend may join. f chooses among all runs, and the newest that it
// chooses says which series is meant. It is empty when there is none.
func (d *DB) Series(ctx context.Context, f Filter) ([]Entry, error) {
	newest := f
	newest.Curves, newest.Limit = true, 1
	last, err := d.List(ctx, newest)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	f.Target, f.Model, f.Shape, f.Curves = last[0].Target, last[0].Model, last[0].Shape, true
	entries, err := d.List(ctx, f)
	for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
		entries[i], entries[j] = entries[j], entries[i]
	}
	return entries, err
}

var (
	errUnknown   = errors.New("no such run")
	errAmbiguous = errors.New("several runs have an ID that begins so; give more of it")
)

// IsUnknown reports whether an error says that there is no such run, or that
// several could be meant.
func IsUnknown(err error) bool { return errors.Is(err, errUnknown) || errors.Is(err, errAmbiguous) }

// Find returns the full ID of the run whose ID is or begins with text; "latest" is
// the newest run.
func (d *DB) Find(ctx context.Context, text string) (string, error) {
	query, values := "SELECT id FROM runs WHERE id = $1 OR substr(id, 1, $2) = $1 ORDER BY id = $1 DESC, id LIMIT 2", []any{text, len([]rune(text))}
	if text == "latest" {
		query, values = "SELECT id FROM runs ORDER BY started DESC, id DESC LIMIT 1", nil
	}
	rows, err := d.sql.QueryContext(ctx, query, values...)
	if err != nil {
		return "", d.at.fault(err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", d.at.fault(err)
		}
		found = append(found, id)
	}
	switch err := rows.Err(); {
	case err != nil:
		return "", d.at.fault(err)
	case len(found) == 0 || text == "":
		return "", d.at.fault(fmt.Errorf("%.60q: %w", text, errUnknown))
	case len(found) > 1 && found[0] != text:
		return "", d.at.fault(fmt.Errorf("%.60q: %w", text, errAmbiguous))
	}
	return found[0], nil
}

// Document returns the curve.json of the run that Find finds.
func (d *DB) Document(ctx context.Context, text string) ([]byte, error) {
	id, err := d.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	var document string
	err = d.sql.QueryRowContext(ctx, "SELECT document FROM documents WHERE run_id = $1", id).Scan(&document)
	return []byte(document), d.at.fault(err)
}
