package parquet

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"kneesweep/load"
	"kneesweep/record/rows"
)

// many is a run of more chunks than one batch holds, with a request that failed.
func many() rows.Run {
	r := rows.Run{
		Run:   load.Run{ID: "r1", Tool: "kneesweep test", Target: "http://x", Model: "m"},
		Steps: []load.Step{{Concurrency: 2, Valid: true, Throughput: load.Some(load.Estimate{Value: 100, Lo: 90, Hi: 110})}, {Concurrency: 4}},
	}
	for id := range 30 {
		s := load.Sample{ID: int64(id + 1), Sent: time.Duration(id) * time.Second, TokenSource: load.SourceServer, OutputTokens: 100}
		for k := range 100 {
			s.Chunks = append(s.Chunks, load.Chunk{At: s.Sent + time.Duration(k+1)*1500*time.Microsecond, Tokens: int32(k % 2)})
		}
		s.End = s.Sent + 200*time.Millisecond
		r.Samples = append(r.Samples, s)
	}
	r.Samples = append(r.Samples, load.Sample{ID: 31, Cause: "http_500", Error: "=no, \"quoted\"\n"})
	return r
}

// TestRoundTrip writes every table and wants the values back, with their types and
// nulls, in the order of the columns.
func TestRoundTrip(t *testing.T) {
	kinds := map[rows.Kind]parquet.Kind{rows.Bool: parquet.Boolean, rows.Int: parquet.Int64, rows.Float: parquet.Double, rows.Text: parquet.ByteArray}
	for _, name := range rows.Names() {
		t.Run(name, func(t *testing.T) {
			table, _ := rows.Of(name, many())
			var b bytes.Buffer
			if err := Write(&b, table, many().Run); err != nil {
				t.Fatal(err)
			}
			file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range map[string]string{"schema": "kneesweep/" + name + "/v1", "run_id": "r1", "target": "http://x", "model": "m"} {
				if got, _ := file.Lookup(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			for i, c := range file.Root().Columns() {
				want := table.Columns[i]
				if c.Name() != want.Name || c.Type().Kind() != kinds[want.Kind] || !c.Optional() {
					t.Errorf("column %d is %s %v, optional %v; want %s %v", i, c.Name(), c.Type(), c.Optional(), want.Name, want.Kind)
				}
				if l := c.Type().LogicalType(); want.Kind == rows.Text && (l == nil || l.String() != "STRING") {
					t.Errorf("column %s is not text", want.Name)
				}
			}
			got := readAll(t, file)
			n := 0
			for row := range table.Rows {
				for i, v := range row {
					if back := value(got[n][i], table.Columns[i].Kind); back != v {
						t.Fatalf("row %d: %s is %v, want %v", n, table.Columns[i].Name, back, v)
					}
				}
				n++
			}
			if n != len(got) || n < 2 {
				t.Errorf("%d rows came back of %d", len(got), n)
			}
		})
	}
}

func readAll(t *testing.T, file *parquet.File) []parquet.Row {
	t.Helper()
	var all []parquet.Row
	r := parquet.NewReader(file)
	defer r.Close()
	buffer := make([]parquet.Row, 100)
	for {
		n, err := r.ReadRows(buffer)
		for _, row := range buffer[:n] {
			all = append(all, row.Clone())
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func value(v parquet.Value, kind rows.Kind) any {
	switch {
	case v.IsNull():
		return nil
	case kind == rows.Bool:
		return v.Boolean()
	case kind == rows.Int:
		return v.Int64()
	case kind == rows.Float:
		return v.Double()
	}
	return string(v.ByteArray())
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestNoRoom(t *testing.T) {
	table, _ := rows.Of("chunks", many())
	if err := Write(full{}, table, load.Run{}); err == nil {
		t.Error("a table without room for it was written")
	}
}
