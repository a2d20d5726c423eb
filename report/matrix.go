package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// MatrixSchema is that of [MatrixJSON].
const MatrixSchema = "kneesweep/matrix/v1"

// Matrix is the index of sweeps with every combination of some settings.
type Matrix struct {
	Axes     []MatrixAxis
	Settings []MatrixSetting // those that all cells have in common, without secrets
	Cells    []MatrixCell
}

// MatrixAxis is a setting with its values.
type MatrixAxis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// MatrixSetting is a setting that is not a default.
type MatrixSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MatrixCell is one combination.
type MatrixCell struct {
	Folder string
	Values []string // by axis
	Text   string
	Curve  *analysis.Curve // nil = not swept
}

type matrixJSON struct {
	Schema   string           `json:"schema"`
	Axes     []MatrixAxis     `json:"axes"`
	Settings []MatrixSetting  `json:"settings"`
	Cells    []matrixCellJSON `json:"cells"`
}

type matrixCellJSON struct {
	Folder      string           `json:"folder"`
	Values      []string         `json:"values"`
	Status      load.Opt[string] `json:"status"`
	StopReason  load.Opt[string] `json:"stop_reason"`
	Verdict     load.Opt[string] `json:"verdict"`
	Knee        *intervalJSON    `json:"knee"`
	Plateau     number           `json:"plateau_tokens_per_second"`
	Recommended load.Opt[int]    `json:"recommended"`
	CachedShare number           `json:"cached_share"`
}

// MatrixJSON writes the index as one strict JSON document of [MatrixSchema]. Its
// errors are those of w.
func MatrixJSON(w io.Writer, m Matrix) error {
	j := matrixJSON{Schema: MatrixSchema, Axes: list(m.Axes), Settings: list(m.Settings), Cells: []matrixCellJSON{}}
	for _, x := range m.Cells {
		cell := matrixCellJSON{Folder: x.Folder, Values: x.Values}
		if c := x.Curve; c != nil {
			cell.Status, cell.StopReason, cell.Verdict = text(string(c.Run.Status)), text(c.Run.StopReason), text(string(c.Knee.Verdict))
			cell.Knee, cell.Plateau, cell.Recommended = intervalOrNull(c.Knee.Concurrency), finiteOpt(c.Knee.Plateau), c.Recommended.Concurrency
			cell.CachedShare = finiteOpt(cachedShare(*c))
		}
		j.Cells = append(j.Cells, cell)
	}
	b, err := document(j)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// ReadMatrix reads axes and settings of an index again. Its errors are those of r, or
// say that it is none.
func ReadMatrix(r io.Reader) (Matrix, error) {
	var j matrixJSON
	if err := json.NewDecoder(r).Decode(&j); err != nil || j.Schema != MatrixSchema {
		return Matrix{}, fmt.Errorf("not the index of a matrix (%s)", MatrixSchema)
	}
	return Matrix{Axes: j.Axes, Settings: j.Settings}, nil
}

// cachedShare is the mean share of cached prompt tokens over the valid levels;
// undefined when no server tells.
func cachedShare(c analysis.Curve) load.Opt[float64] {
	sum, n := 0.0, 0
	for _, s := range c.Steps {
		if s.Valid && s.CachedShare.OK {
			sum += s.CachedShare.V
			n++
		}
	}
	if n == 0 {
		return load.Opt[float64]{}
	}
	return load.Some(sum / float64(n))
}

// matrixGrid are the columns of the table of cells, and its rows.
func matrixGrid(m Matrix) (columns []heading, rows [][]string) {
	for _, a := range m.Axes {
		columns = append(columns, heading{"", "", a.Name})
	}
	columns = append(columns, heading{"", "", "knee"}, heading{"", "95 %", "interval"}, heading{"plateau", "", "tok/s"},
		heading{"streams", "to", "allow"}, heading{"", "", "status"})
	for _, x := range m.Cells {
		row := append([]string{""}, x.Values...)
		if x.Curve == nil {
			row = append(row, plots.Missing, plots.Missing, plots.Missing, plots.Missing, "not swept")
		} else {
			row = append(row, figuresOf(*x.Curve)...)
			row = append(row, string(x.Curve.Run.Status))
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// MatrixTable writes a row per cell for a terminal. Its errors are those of w.
func MatrixTable(w io.Writer, m Matrix) error {
	columns, rows := matrixGrid(m)
	b := bufio.NewWriter(w)
	writeGrid(b, append(headingRows(columns), rows...))
	return b.Flush()
}
