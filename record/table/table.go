// Package table reads throughput-against-concurrency tables in CSV, as people
// keep them in spreadsheets.
package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// The columns, by name in the first row, in any order.
const (
	colConcurrency = "concurrency"
	colThroughput  = "output_tokens_per_second"
	colTTFT        = "ttft_ms"
	colITL         = "itl_ms"
)

// byteOrderMark is what Excel puts before UTF-8.
const byteOrderMark = "\ufeff"

// level is the rows of one concurrency.
type level struct {
	windows   []float64
	failed    int       // rows without a throughput
	ttft, itl []float64 // seconds
}

// Read reads a CSV with the columns concurrency and output_tokens_per_second,
// and optionally ttft_ms and itl_ms; others are ignored. Rows of the same
// concurrency are its windows. A throughput that is empty, NaN, Inf or 0 is a
// failed measurement; a level of only such rows is a step that is not valid.
// Columns may also be separated by semicolons or tabs, as spreadsheets write them.
// Rows of empty cells, as they leave them at the end, are skipped. Errors name the
// line and say what to write.
func Read(r io.Reader) ([]load.Step, error) {
	br := bufio.NewReader(r)
	if head, _ := br.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = br.Discard(len(byteOrderMark))
	}
	c := csv.NewReader(br)
	c.Comma = separator(br)
	c.TrimLeadingSpace = c.Comma != '\t' // or it would swallow empty cells
	c.Comment = '#'
	c.FieldsPerRecord = -1
	columns, top, err := header(c)
	if err != nil {
		return nil, err
	}
	levels := map[int]*level{}
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unquoted(err)
		}
		if blank(row) {
			continue
		}
		line, _ := c.FieldPos(0)
		if err := add(levels, row, columns); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(levels) == 0 {
		return nil, fmt.Errorf("line %d: no rows below the column names; write one for each measurement", top)
	}
	return steps(levels), nil
}

// separator is what separates the column names, the first line that is no comment.
func separator(br *bufio.Reader) rune {
	head, _ := br.Peek(br.Size())
	for line := range strings.Lines(string(head)) {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		for _, s := range ",;\t" {
			if strings.ContainsRune(line, s) {
				return s
			}
		}
		break
	}
	return ','
}

// unquoted says where quotes are wrong, as other errors do.
func unquoted(err error) error {
	var quote *csv.ParseError
	if !errors.As(err, &quote) {
		return err
	}
	// The row begins at StartLine; a quote that is never closed is noticed at the end.
	return fmt.Errorf("line %d: a quote is not closed, or stands inside a cell; write the cell without quotes", quote.StartLine)
}

// header finds the columns, and the line that names them.
func header(c *csv.Reader) (columns map[string]int, line int, err error) {
	row, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("the file is empty; a table begins with %s,%s", colConcurrency, colThroughput)
	}
	if err != nil {
		return nil, 0, unquoted(err)
	}
	line, _ = c.FieldPos(0)
	columns = map[string]int{}
	for i, name := range row {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := columns[name]; twice && name != "" {
			return nil, 0, fmt.Errorf("line %d: column %.40q is there twice; rename or remove one", line, name)
		}
		columns[name] = i
	}
	for _, name := range []string{colConcurrency, colThroughput} {
		if _, ok := columns[name]; !ok {
			return nil, 0, fmt.Errorf("line %d: no column %q; name the columns in the first row: a table needs %s,%s and may have %s,%s",
				line, name, colConcurrency, colThroughput, colTTFT, colITL)
		}
	}
	return columns, line, nil
}

// blank reports whether a row says nothing.
func blank(row []string) bool {
	return !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

func add(levels map[int]*level, row []string, columns map[string]int) error {
	cell := func(name string) string {
		i, ok := columns[name]
		if !ok || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	text := cell(colConcurrency)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("%s: %.40q is not a whole number of at least 1; write how many streams were open, or remove the row", colConcurrency, text)
	}
	l := levels[n]
	if l == nil {
		l = &level{}
		levels[n] = l
	}
	x, ok, err := number(colThroughput, cell(colThroughput))
	if err != nil {
		return err
	}
	if last := slices.Max(slices.Collect(maps.Values(columns))); last+1 < len(row) && !blank(row[last+1:]) {
		return fmt.Errorf("%d cells in a table of %d columns; write decimals with a point, and remove what no column names", len(row), last+1)
	}
	if ok {
		l.windows = append(l.windows, x)
	} else {
		l.failed++
	}
	if l.ttft, err = appendSeconds(l.ttft, colTTFT, cell(colTTFT)); err != nil {
		return err
	}
	l.itl, err = appendSeconds(l.itl, colITL, cell(colITL))
	return err
}

// appendSeconds appends a cell of milliseconds, if there is a figure in it.
func appendSeconds(list []float64, name, text string) ([]float64, error) {
	ms, ok, err := number(name, text)
	if ok {
		list = append(list, ms/1000)
	}
	return list, err
}

// number reads a cell; ok is false when it is missing or a failure.
func number(name, text string) (v float64, ok bool, err error) {
	if text == "" {
		return 0, false, nil
	}
	v, err = strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) {
		mend := "write digits"
		if strings.Contains(text, ",") {
			mend = "write it with a decimal point, and with nothing between thousands"
		}
		return 0, false, fmt.Errorf("%s: %.40q is not a number; %s, or leave the cell empty", name, text, mend)
	}
	if v < 0 && !math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("%s: %.40q is negative; correct it, or leave the cell empty", name, text)
	}
	return v, v > 0 && !math.IsInf(v, 0), nil // NaN is not above 0
}

func steps(levels map[int]*level) []load.Step {
	out := make([]load.Step, 0, len(levels))
	for n, l := range levels {
		s := load.Step{Concurrency: n, Valid: len(l.windows) > 0, Steady: true, Imported: true, Measurements: l.windows}
		s.TTFT, s.ITL = middle(l.ttft), middle(l.itl)
		if !s.Valid {
			s.InvalidReason = "no tokens"
		} else {
			s.Throughput = load.Some(stat.MedianEstimate(l.windows))
			if l.failed > 0 {
				s.Warnings = append(s.Warnings, load.Warnf(load.WarnFewSamples,
					"%d of %d rows have no throughput and count as failed measurements", l.failed, l.failed+len(l.windows)))
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b load.Step) int { return a.Concurrency - b.Concurrency })
	return out
}

// middle is all that a table of summaries can say of a distribution: the median
// of the figures given. What it cannot say is NaN.
func middle(v []float64) load.Dist {
	if len(v) == 0 {
		return load.Dist{}
	}
	nan := math.NaN()
	return load.Dist{P50: stat.Median(v), P90: nan, P95: nan, P99: nan, Mean: nan, Count: len(v)}
}
