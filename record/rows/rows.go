// Package rows says what a run holds as flat tables, for spreadsheets and data
// frames: a row for each level, for each request, or for each chunk of a stream.
//
//	load.Step ─▶ Steps ────┐
//	load.Sample ─▶ Requests ├─ Table ─▶ CSV, or record/parquet
//	            ─▶ Chunks ──┘
//
// A column has one name, one kind and one unit in every format; docs/export.md
// lists them, and a test compares. What is not defined is nil: null, or an empty
// cell, never 0. Times are milliseconds, instants count from the epoch of the run,
// rates are tokens/s or requests/s, shares fractions.
//
// Tables may be read from any goroutine while nobody changes the run.
package rows

import (
	"iter"
	"math"
	"time"

	"kneesweep/load"
)

// Kind is the type of the values of a column.
type Kind string

// The kinds. In Parquet they are BOOLEAN, INT64, DOUBLE and STRING.
const (
	Bool  Kind = "bool"
	Int   Kind = "int64"
	Float Kind = "double"
	Text  Kind = "string"
)

// Column is one column of a table.
type Column struct {
	Name  string
	Kind  Kind
	Unit  string // empty for what has none
	About string
}

// Table is rows below columns.
type Table struct {
	Name    string // steps, requests or chunks
	Columns []Column
	// Rows has a value for each column: bool, int64, float64, string by its kind, or
	// nil. The slice is only valid until the next row.
	Rows iter.Seq[[]any]
}

// Run is what the tables are made of.
type Run struct {
	Run     load.Run
	Steps   []load.Step
	Visits  []load.Visit
	Samples []load.Sample // nil if the file held no single requests
}

// Names are the names of the tables.
func Names() []string { return []string{"steps", "requests", "chunks"} }

// Of is the table of that name; false if there is none.
func Of(name string, r Run) (Table, bool) {
	switch name {
	case "steps":
		return table(name, stepColumns(r.Run), steps(r)), true
	case "requests":
		return table(name, requestColumns(r), requests(r)), true
	case "chunks":
		return table(name, chunkColumns(r), chunks(r)), true
	}
	return Table{}, false
}

// column is a column with its value for one row.
type column[T any] struct {
	Column
	value func(T) any
}

func table[T any](name string, columns []column[T], all iter.Seq[T]) Table {
	t := Table{Name: name}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	t.Rows = func(yield func([]any) bool) {
		row := make([]any, len(columns))
		for v := range all {
			for i, c := range columns {
				row[i] = c.value(v)
			}
			if !yield(row) {
				return
			}
		}
	}
	return t
}

// The kinds of columns, with nil for what is not defined.

func boolean[T any](name, about string, v func(T) load.Opt[bool]) column[T] {
	return column[T]{Column{name, Bool, "", about}, func(x T) any {
		if o := v(x); o.OK {
			return o.V
		}
		return nil
	}}
}

func integer[T any](name, unit, about string, v func(T) load.Opt[int]) column[T] {
	return column[T]{Column{name, Int, unit, about}, func(x T) any {
		if o := v(x); o.OK {
			return int64(o.V)
		}
		return nil
	}}
}

func float[T any](name, unit, about string, v func(T) load.Opt[float64]) column[T] {
	return column[T]{Column{name, Float, unit, about}, func(x T) any {
		if o := v(x); o.OK && !math.IsNaN(o.V) && !math.IsInf(o.V, 0) {
			return o.V
		}
		return nil
	}}
}

func text[T any, S ~string](name, about string, v func(T) S) column[T] {
	return column[T]{Column{name, Text, "", about}, func(x T) any {
		if s := v(x); s != "" {
			return string(s)
		}
		return nil
	}}
}

// count is a number that is always defined.
func count(n int) load.Opt[int] { return load.Some(n) }

// millis is a duration in milliseconds.
func millis(d time.Duration) load.Opt[float64] {
	return load.Some(float64(d) / float64(time.Millisecond))
}

func millisOpt(d load.Opt[time.Duration]) load.Opt[float64] {
	if !d.OK {
		return load.Opt[float64]{}
	}
	return millis(d.V)
}

// scaled is a number of seconds in milliseconds.
func scaled(seconds load.Opt[float64]) load.Opt[float64] {
	seconds.V *= 1e3
	return seconds
}
