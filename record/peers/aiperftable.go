package peers

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// aiperfTable reads the CSV that AIPerf and GenAI-Perf export beside their JSON:
// one table of the distributions and one of single values, with the unit behind
// each name. The level is not in it; the name of its folder tells it.
var aiperfTable = tool{
	name: "AIPerf / GenAI-Perf", read: readAIPerfTable, doubts: aiperfDoubts,
	again: "give the profile_export JSON beside it, or keep the CSV in its folder, whose name ends in -concurrencyN",
}

// metricName is a name with its unit, as in "Request Latency (ms)".
var metricName = regexp.MustCompile(`^(.*?)\s*(?:\(([^()]*)\))?$`)

func readAIPerfTable(f *File, path string, data []byte) error {
	rows, err := metricRows(data)
	if err != nil {
		return err
	}
	var j aiperfDoc
	to := map[string]*metric{
		"output token throughput": &j.Throughput, "output token throughput per user": &j.PerUser, "request throughput": &j.Requests,
		"request latency": &j.Latency, "time to first token": &j.TTFT, "inter token latency": &j.ITL, "inter chunk latency": &j.ICL,
		"output sequence length": &j.OutputLength, "input sequence length": &j.InputLength, "num output token": &j.OutputLength,
		"num input token": &j.InputLength, "request count": &j.RequestCount, "error request count": &j.Errors, "benchmark duration": &j.Duration,
	}
	for _, row := range rows {
		if x := to[row.name]; x != nil {
			*x = row.metric
		}
	}
	if !j.Throughput.Avg.OK {
		return errors.New("no row \"Output Token Throughput\": the endpoint answered without tokens, or the file was cut; run it against a chat or completions endpoint")
	}
	m, err := j.figures()
	if err != nil {
		return err
	}
	if m.streams = streamsInFolder(path); m.streams < 1 {
		return f.tool.noLevel("concurrency in the table, and none in the name of its folder")
	}
	m.doubts = append(m.doubts, levelOfFolder)
	f.runs = append(f.runs, m)
	return nil
}

// metricRow is a row of the table.
type metricRow struct {
	name string // lower case, without the unit
	metric
}

// metricRows reads the tables of metrics; those of GPUs, which come after them, are passed over.
func metricRows(data []byte) ([]metricRow, error) {
	c := csv.NewReader(bytes.NewReader(data))
	c.FieldsPerRecord = -1
	var rows []metricRow
	var columns []string
	for {
		cells, err := c.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("line %d: a quote is not closed, or stands inside a cell; copy the file again", bad.StartLine)
		case err != nil:
			return nil, err
		case cells[0] == "Metric" && len(cells) > 1 && cells[1] != "GPU":
			columns = cells
			continue
		case cells[0] == "Metric" || cells[0] == "Endpoint":
			columns = nil
			continue
		}
		parts := metricName.FindStringSubmatch(strings.TrimSpace(cells[0]))
		row := metricRow{name: strings.ToLower(parts[1]), metric: metric{Unit: parts[2]}}
		for i := 1; i < min(len(cells), len(columns)); i++ {
			row.set(columns[i], numberOf(cells[i]))
		}
		if columns != nil {
			rows = append(rows, row)
		}
	}
}

// set takes the cell of a column.
func (x *metric) set(column string, n number) {
	switch strings.ToLower(strings.TrimSpace(column)) {
	case "avg", "value":
		x.Avg = n
	case "p50":
		x.P50 = n
	case "p90":
		x.P90 = n
	case "p95":
		x.P95 = n
	case "p99":
		x.P99 = n
	}
}
