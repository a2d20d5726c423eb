// Package parquet writes the tables of package record/rows as Parquet files, which
// DuckDB, pandas and the like read.
package parquet

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"kneesweep/load"
	"kneesweep/record/rows"
)

// batch is how many rows are handed over at a time, group how many a row group
// holds: readers skip and share out whole groups.
const (
	batch = 1024
	group = 128 * 1024
)

// Write writes a table: every column is optional, undefined values are null, pages
// are compressed with Zstandard. The metadata of the file name its schema, as
// kneesweep/steps/v1, the run, its target and its model. The error is that of w.
func Write(w io.Writer, t rows.Table, run load.Run) error {
	schema := parquet.SchemaOf(reflect.New(rowType(t)).Interface())
	out := parquet.NewWriter(w, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(group), parquet.CreatedBy(run.Tool, "", ""),
		parquet.KeyValueMetadata("schema", "kneesweep/"+t.Name+"/v1"), parquet.KeyValueMetadata("run_id", run.ID),
		parquet.KeyValueMetadata("target", run.Target), parquet.KeyValueMetadata("model", run.Model))
	buffer := make([]parquet.Row, 0, batch)
	flush := func() error {
		if _, err := out.WriteRows(buffer); err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
		buffer = buffer[:0]
		return nil
	}
	for row := range t.Rows {
		values := make(parquet.Row, len(row))
		for i, v := range row {
			if v == nil {
				values[i] = parquet.NullValue().Level(0, 0, i)
				continue
			}
			values[i] = parquet.ValueOf(v).Level(0, 1, i)
		}
		if buffer = append(buffer, values); len(buffer) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// rowType is a struct with a field for each column: the one form of a schema that
// keeps the order of columns.
func rowType(t rows.Table) reflect.Type {
	types := map[rows.Kind]reflect.Type{
		rows.Bool: reflect.TypeFor[bool](), rows.Int: reflect.TypeFor[int64](), rows.Float: reflect.TypeFor[float64](), rows.Text: reflect.TypeFor[string](),
	}
	encodings := map[rows.Kind]string{rows.Int: ",delta", rows.Text: ",dict"} // many equal texts, numbers that count up
	fields := make([]reflect.StructField, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = reflect.StructField{
			Name: "C_" + strings.ToUpper(c.Name), Type: types[c.Kind],
			Tag: reflect.StructTag(fmt.Sprintf(`parquet:"%s,optional%s"`, c.Name, encodings[c.Kind])),
		}
	}
	return reflect.StructOf(fields)
}
