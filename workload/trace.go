package workload

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kneesweep/load"
)

// Arrival is one request of a trace.
type Arrival struct {
	At     time.Duration // since the first arrival of the trace; 0 without times
	Input  int           // tokens; 0 = not told
	Output int
	Took   load.Opt[time.Duration] // from arrival to the end of the answer
}

// Trace is recorded traffic: when requests came, how long they were, how long they
// took, or some of these.
type Trace struct {
	Arrivals []Arrival // in the order of their times

	name    string
	has     [fields]bool
	leftOut int
	bad     []error
}

// field is what a column of a trace holds.
type field int

const (
	fieldTime field = iota
	fieldInput
	fieldOutput
	fieldDuration
	fields
)

// columns are the names of columns that are known, in small letters and without
// spaces: those of Mooncake, BurstGPT, Azure, OpenAI's usage and access logs.
var columns = map[string]field{
	"timestamp": fieldTime, "time": fieldTime, "start": fieldTime, "starttime": fieldTime, "arrival": fieldTime, "arrivaltime": fieldTime,
	"input": fieldInput, "inputlength": fieldInput, "inputtokens": fieldInput, "prompttokens": fieldInput, "promptlength": fieldInput,
	"requesttokens": fieldInput, "contexttokens": fieldInput,
	"output": fieldOutput, "outputlength": fieldOutput, "outputtokens": fieldOutput, "completiontokens": fieldOutput,
	"responsetokens": fieldOutput, "generatedtokens": fieldOutput,
	"duration": fieldDuration, "elapsedtime": fieldDuration, "latency": fieldDuration, "e2e": fieldDuration, "requesttime": fieldDuration,
}

var fieldNames = [fields]string{"time", "input", "output", "duration"}

const wantedTrace = `name the columns in the first row: input,output, timestamp,input_length,output_length, or start,duration; or write JSON lines with these names`

// longest is the largest time or duration, in seconds; more does not fit.
const longest = 9e9

// column is where a field stands, and the unit of a time in seconds.
type column struct {
	name  string
	index int // of a cell
	unit  float64
	known bool
}

// ReadTrace reads a trace: a table with the names of its columns in the first row,
// separated by commas, semicolons or tabs, or JSON objects, one a line. Two unnamed
// columns are input and output. Errors are those of [ReadFile]. A trace holds about
// 60 bytes for each request.
//
// Times are seconds, or milliseconds where the name of the column ends in ms, where
// "timestamp" stands beside "input_length", as in Mooncake's traces, and where they
// are milliseconds since 1970; a date with a time of day is read too.
func ReadTrace(r io.Reader, name string, skipBad bool) (*Trace, error) {
	in := newRecords(r, name, skipBad)
	t := &Trace{name: filepath.Base(name)}
	p := traceParser{trace: t}
	err := in.each(p.take)
	switch {
	case err != nil:
		return nil, err
	case p.unusable != nil:
		return nil, fmt.Errorf("%s: line 1: %w", name, p.unusable)
	case len(p.at) == 0 && in.count > 0:
		return nil, in.refusal()
	case len(p.at) == 0:
		return nil, fmt.Errorf("%s: no request in the file; %s", name, wantedTrace)
	}
	first := slices.Min(p.at)
	for i := range t.Arrivals {
		t.Arrivals[i].At = time.Duration((p.at[i] - first) * float64(time.Second))
	}
	slices.SortStableFunc(t.Arrivals, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	t.leftOut, t.bad = in.count, in.bad
	return t, nil
}

// traceParser turns records into arrivals.
type traceParser struct {
	trace    *Trace
	columns  [fields]column
	comma    rune // of a table; 0 = JSON objects
	begun    bool
	unusable error     // what is wrong with the names: then no row can be read
	at       []float64 // seconds, of each arrival
}

func (p *traceParser) take(text []byte) error {
	if p.unusable != nil {
		return nil
	}
	if !p.begun {
		p.begun = true
		if text[0] != '{' {
			header, err := p.header(string(text))
			if p.unusable = err; header || err != nil {
				return nil
			}
		}
	}
	cell, err := p.cells(text)
	if err != nil {
		return err
	}
	return p.row(cell)
}

// header reads the names of a table's columns; false if it has none.
func (p *traceParser) header(line string) (ok bool, err error) {
	p.comma = ','
	if !strings.Contains(line, ",") {
		for _, comma := range "\t;" {
			if strings.ContainsRune(line, comma) {
				p.comma = comma
			}
		}
	}
	names, err := p.split(line)
	if err != nil {
		return false, err
	}
	var a, b float64
	if len(names) == 2 && number(names[0], &a) && number(names[1], &b) {
		names, ok = []string{"input", "output"}, false
	} else {
		ok = true
	}
	for i, name := range names {
		if err := p.name(i, name); err != nil {
			return false, err
		}
	}
	return ok, p.enough()
}

// split takes a row of a table apart.
func (p *traceParser) split(line string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.TrimLeadingSpace = p.comma, true
	row, err := r.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("column %d: %w", parse.Column, parse.Err)
	}
	return row, err
}

// name notes a column, if its name is known.
func (p *traceParser) name(index int, name string) error {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" _-.()[]", r) })
	unit := 0.0
	if n := len(words) - 1; n > 0 {
		switch words[n] {
		case "ms":
			unit = 1e-3
		case "s", "sec", "seconds":
			unit = 1
		}
		if unit > 0 {
			words = words[:n]
		}
	}
	f, ok := columns[strings.Join(words, "")]
	if !ok {
		return nil
	}
	if p.columns[f].known {
		return fmt.Errorf("%.40q and %.40q both name the %s; remove one of them", p.columns[f].name, name, fieldNames[f])
	}
	p.columns[f] = column{name, index, unit, true}
	return nil
}

// enough checks that the columns are of use, and completes their units.
func (p *traceParser) enough() error {
	c := &p.columns
	if !c[fieldInput].known && !c[fieldOutput].known && !(c[fieldTime].known && c[fieldDuration].known) {
		return errors.New("no column that is known; " + wantedTrace)
	}
	mooncake := strings.EqualFold(c[fieldTime].name, "timestamp") && strings.EqualFold(c[fieldInput].name, "input_length")
	if c[fieldTime].unit == 0 {
		c[fieldTime].unit = 1
		if mooncake {
			c[fieldTime].unit = 1e-3
		}
	}
	if c[fieldDuration].unit == 0 {
		c[fieldDuration].unit = 1
	}
	for f := range c {
		p.trace.has[f] = c[f].known
	}
	return nil
}

// cells returns how to find the text of a column in a record.
func (p *traceParser) cells(text []byte) (func(column) (string, bool), error) {
	if p.comma != 0 {
		row, err := p.split(string(text))
		if err != nil {
			return nil, err
		}
		return func(c column) (string, bool) {
			if c.index >= len(row) {
				return "", false
			}
			return strings.TrimSpace(row[c.index]), true
		}, nil
	}
	object, err := object(text, wantedTrace)
	if err != nil {
		return nil, err
	}
	if p.columns == ([fields]column{}) {
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range object {
				if !yield(name) {
					return
				}
			}
		}) {
			if err := p.name(0, name); err != nil {
				return nil, err
			}
		}
		if err := p.enough(); err != nil {
			p.columns = [fields]column{}
			return nil, err
		}
	}
	return func(c column) (string, bool) {
		raw, ok := object[c.name]
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s, ok
		}
		return string(raw), ok
	}, nil
}

// row reads an arrival.
func (p *traceParser) row(cell func(column) (string, bool)) error {
	var a Arrival
	at := 0.0
	for f, c := range p.columns {
		if !c.known {
			continue
		}
		text, ok := cell(c)
		if !ok {
			return fmt.Errorf("no %q; write it as in the first row", c.name)
		}
		var err error
		switch field(f) {
		case fieldTime:
			at, err = parseTime(text, c.unit)
		case fieldInput:
			a.Input, err = parseTokens(text)
		case fieldOutput:
			a.Output, err = parseTokens(text)
		case fieldDuration:
			var v float64
			if !number(text, &v) || v < 0 || v*c.unit > longest {
				err = fmt.Errorf("%.40q is not a duration; write a number of seconds, or of ms with a name such as duration_ms", text)
			}
			a.Took = load.Some(time.Duration(v * c.unit * float64(time.Second)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	p.at = append(p.at, at)
	p.trace.Arrivals = append(p.trace.Arrivals, a)
	return nil
}

// parseTokens reads a number of tokens.
func parseTokens(text string) (int, error) {
	var v float64
	if !number(text, &v) || v != math.Trunc(v) || v < 1 || v > maxLength {
		return 0, fmt.Errorf("%.40q is not a number of tokens; write a whole number of 1 to %d, or remove the row", text, maxLength)
	}
	return int(v), nil
}

// dates are how a time of day may be written.
var dates = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"}

// sinceEpochMS is the number from which on a time is taken for milliseconds since
// 1970: as seconds it would lie in the year 5138.
const sinceEpochMS = 1e11

// parseTime reads a time in seconds.
func parseTime(text string, unit float64) (float64, error) {
	var v float64
	if number(text, &v) {
		if unit == 1 && v >= sinceEpochMS {
			unit = 1e-3
		}
		if v *= unit; v >= 0 && v <= longest {
			return v, nil
		}
	}
	for _, layout := range dates {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Unix()) + float64(t.Nanosecond())/1e9, nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a time; write seconds, or a date and time such as 2026-11-30 18:15:46.5", text)
}

// BadLines returns how many lines were left out, and the first of them as errors
// that name file and line.
func (t *Trace) BadLines() (n int, first []error) { return t.leftOut, t.bad }

// Inputs returns the lengths of the prompts.
func (t *Trace) Inputs() (*Rows, error) {
	return t.rows(fieldInput, func(a Arrival) int { return a.Input })
}

// Outputs returns the lengths of the answers.
func (t *Trace) Outputs() (*Rows, error) {
	return t.rows(fieldOutput, func(a Arrival) int { return a.Output })
}

func (t *Trace) rows(f field, length func(Arrival) int) (*Rows, error) {
	if !t.has[f] {
		return nil, fmt.Errorf("%s: no column with the length of the %s; %s", t.name, fieldNames[f], wantedTrace)
	}
	lengths := make([]int, len(t.Arrivals))
	for i, a := range t.Arrivals {
		lengths[i] = length(a)
	}
	return newRows(t.name, lengths), nil
}
