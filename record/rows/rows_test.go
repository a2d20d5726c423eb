package rows

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

var update = flag.Bool("update", false, "write the list of columns in docs/export.md anew")

// run has a level that was measured, one that failed, one of another tool, a
// request that ended well, one that failed and one of a single token.
func run() Run {
	ms := time.Millisecond
	return Run{
		Run: load.Run{ID: "r1"},
		Steps: []load.Step{
			{Concurrency: 2, Valid: true, Measurements: []float64{90, 110}, Throughput: load.Some(load.Estimate{Value: 100, Lo: 90, Hi: math.NaN()}),
				TTFT: load.Dist{P50: 0.2, Count: 3}, Finished: 3, ErrorRate: load.Some(0.0)},
			{Concurrency: 4, InvalidReason: "all failed", Failed: 7, ErrorRate: load.Some(1.0)},
			{Concurrency: 8, Valid: true, Imported: true, Throughput: load.Some(load.Estimate{Value: 300, Lo: 300, Hi: 300})},
		},
		Visits: []load.Visit{{Index: 1, Level: load.Level{Concurrency: 2}}},
		Samples: []load.Sample{
			{ID: 1, Visit: 1, Sent: 100 * ms, End: 501 * ms, Chunks: []load.Chunk{{At: 300 * ms}, {At: 400 * ms, Tokens: 2}}, OutputTokens: 3, TokenSource: load.SourceServer,
				PromptTokens: load.Some(7), Status: 200},
			{ID: 2, Visit: 9, Sent: 600 * ms, End: 610 * ms, Cause: "http_500", Status: 500, Error: "=HYPERLINK(\"x\"), \"no\"\nmore"},
			{ID: 3, Visit: 1, Sent: 700 * ms, End: 720 * ms, Chunks: []load.Chunk{{At: 715 * ms}}, OutputTokens: 1, TokenSource: load.SourceEstimated},
		},
	}
}

// read is a table written as CSV and read again, by the names of its columns.
func read(t *testing.T, name string) []map[string]string {
	t.Helper()
	table, ok := Of(name, run())
	if !ok {
		t.Fatalf("no table %s", name)
	}
	var b bytes.Buffer
	if err := CSV(&b, table); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		all = append(all, row)
	}
	return all
}

// TestCSV holds cells of every table against what they should be, in their units;
// what is not defined is empty.
func TestCSV(t *testing.T) {
	for _, c := range []struct {
		table string
		row   int
		want  string // name=cell
	}{
		{"steps", 0, "run_id=r1 concurrency=2 valid=true windows=2 output_tokens_per_second=100 output_tokens_per_second_lo=90 output_tokens_per_second_hi= ttft_p50_ms=200 tpot_p50_ms= littles_law= finished=3 failed=0 error_rate=0 client_cpu="},
		{"steps", 1, "valid=false output_tokens_per_second= ttft_p50_ms= failed=7 error_rate=1"},
		{"steps", 2, "valid=true steady= output_tokens_per_second=300 started= finished= failed= requests_per_second= backoff_ms= retries="},
		{"requests", 0, "request_id=1 visit=1 concurrency=2 ok=true cause= sent_ms=100 end_ms=501 ttft_ms=200 tpot_ms=50 last_token_ms=300 e2e_ms=401 chunks=2 output_tokens=3 token_source=server prompt_tokens=7 cached_tokens= connect_ms= scheduled_ms= status=200"},
		{"requests", 1, "concurrency= ok=false cause=http_500 ttft_ms= tpot_ms= last_token_ms= output_tokens= e2e_ms=10 chunks=0"},
		{"requests", 2, "ttft_ms=15 tpot_ms= output_tokens=1 token_source=estimated status="},
		{"chunks", 0, "request_id=1 concurrency=2 chunk=0 at_ms=300 since_sent_ms=200 gap_ms= tokens="},
		{"chunks", 1, "chunk=1 at_ms=400 gap_ms=100 tokens=2"},
		{"chunks", 2, "request_id=3 chunk=0 gap_ms="},
	} {
		row := read(t, c.table)[c.row]
		for pair := range strings.FieldsSeq(c.want) {
			name, want, _ := strings.Cut(pair, "=")
			if got, ok := row[name]; !ok || got != want {
				t.Errorf("%s, row %d: %s = %q, want %q (known: %v)", c.table, c.row, name, got, want, ok)
			}
		}
	}
	if got := read(t, "requests")[1]["error"]; got != "'=HYPERLINK(\"x\"), \"no\"\nmore" {
		t.Errorf("text that looks like a formula is written as %q", got)
	}
}

func TestNoSuchTable(t *testing.T) {
	if _, ok := Of("prompts", run()); ok {
		t.Error("a table that nobody knows was made")
	}
}

// The columns, their kinds, units and meanings stand in docs/export.md.
func TestColumnsAreDocumented(t *testing.T) {
	const file, from, to = "../../docs/export.md", "<!-- columns -->\n", "<!-- end of columns -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), from)
	got, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the columns", file)
	}
	want := documented(t)
	if *update {
		if err := os.WriteFile(file, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s lists other columns than there are; go test ./record/rows -update writes them anew", file)
	}
}

func documented(t *testing.T) string {
	var b strings.Builder
	for _, name := range Names() {
		table, _ := Of(name, run())
		fmt.Fprintf(&b, "\n### `%s`\n\n| column | type | unit | meaning |\n|---|---|---|---|\n", name)
		seen := map[string]bool{}
		for _, c := range table.Columns {
			if c.About == "" || seen[c.Name] {
				t.Errorf("%s: the column %q has no meaning, or is there twice", name, c.Name)
			}
			seen[c.Name] = true
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Kind, c.Unit, c.About)
		}
	}
	b.WriteString("\n")
	return b.String()
}
