package peers

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"kneesweep/load"
)

// batchedBench reads what llama-batched-bench prints: its table, or its JSON
// Lines. A row is a batch of B sequences that are prefilled together and then
// decoded together; N is B, and throughput is S_TG. There are no requests in it,
// so no TTFT and nothing that could fail.
var batchedBench = tool{
	name: "llama-batched-bench", read: readBatched, doubts: batchedDoubts,
	again: "run llama-batched-bench with -npl 1,2,4,8,16 and give what it prints",
}

// batchedRow is one line of its JSON Lines, and one row of its table.
type batchedRow struct {
	Prompt number `json:"pp"`
	Output number `json:"tg"`
	Batch  number `json:"pl"`
	Decode number `json:"t_tg"`     // s, of all steps
	Total  number `json:"t"`        // s, with the prompts
	Speed  number `json:"speed_tg"` // tokens/s of all sequences
}

func readBatched(f *File, _ string, data []byte) error {
	var columns []string
	number := 0
	for text := range bytes.Lines(data) {
		number++
		text = bytes.TrimSpace(text)
		var row batchedRow
		switch {
		case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"speed_tg"`)):
			docs, err := documents(text)
			if err != nil || len(docs) != 1 {
				return fmt.Errorf("line %d: not one JSON object; copy the file again", number)
			}
			if err := (document{docs[0].raw, number}).decode(&row); err != nil {
				return err
			}
		case bytes.HasPrefix(text, []byte("|")):
			cells := strings.Split(strings.TrimRight(string(text), `\ `), "|")
			if batchedHeader(text) {
				columns = cells
				continue
			}
			if columns == nil || strings.Trim(string(text), "|-: ") == "" {
				continue
			}
			row = batchedCells(columns, cells)
		default:
			continue // what llama.cpp logs
		}
		m, err := row.run()
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		f.runs = append(f.runs, m)
	}
	if len(f.runs) == 0 {
		return errors.New("no rows; " + f.tool.again)
	}
	return nil
}

// batchedHeader reports whether the names of the columns are in a text.
func batchedHeader(text []byte) bool {
	i := bytes.Index(text, []byte("S_TG t/s"))
	if i < 0 {
		return false
	}
	line := text[1+bytes.LastIndexByte(text[:i], '\n') : i]
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("|"))
}

func batchedCells(columns, cells []string) (row batchedRow) {
	for i := range min(len(columns), len(cells)) {
		n := numberOf(cells[i])
		switch strings.TrimSpace(columns[i]) {
		case "PP":
			row.Prompt = n
		case "TG":
			row.Output = n
		case "B":
			row.Batch = n
		case "T_TG s":
			row.Decode = n
		case "S_TG t/s":
			row.Speed = n
		case "T s":
			row.Total = n
		}
	}
	return row
}

func (r batchedRow) run() (measured, error) {
	n, out := r.Batch.streams(), r.Output.count()
	if n < 1 {
		return measured{}, errors.New("no number of sequences (B, pl); copy the line again")
	}
	m := measured{streams: n, throughput: r.Speed.positive(), seconds: r.Total.positive(), span: spanDecode}
	m.shape.InputTokensAsked, m.shape.OutputTokensAsked = r.Prompt.count().V, out.V
	if d := r.Decode.positive(); d.OK && out.V > 0 {
		step := d.V / float64(out.V) // all sequences take every step together
		nan := math.NaN()
		m.tpot = load.Dist{P50: step, P90: nan, P95: nan, P99: nan, Mean: step, Count: n}
	}
	if t := r.Total.positive(); t.OK && out.V > 0 {
		m.doubts = append(m.doubts, fmt.Sprintf("throughput leaves out the time of the prompts; with it these are %.4g output tokens/s", float64(n)*float64(out.V)/t.V))
	}
	return m, nil
}

func batchedDoubts([]measured) []string {
	return []string{
		"throughput is too high for a server: llama-batched-bench decodes one batch whose prompts were processed before, and a server does both at once",
		"there is no TTFT and no queue in it: all sequences begin and end together, so the curve shows the model and not the service",
	}
}
