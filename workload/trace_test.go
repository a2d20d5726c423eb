package workload_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/workload"
)

func trace(t *testing.T, content string) *workload.Trace {
	t.Helper()
	tr, err := workload.ReadTrace(strings.NewReader(content), "dir/t.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Every format that is known gives the same requests.
func TestTraceFormats(t *testing.T) {
	want := []workload.Arrival{{At: 0, Input: 10, Output: 1}, {At: 500 * time.Millisecond, Input: 20, Output: 2}, {At: 2 * time.Second, Input: 30, Output: 3}}
	for name, content := range map[string]string{
		"Mooncake":          `{"timestamp": 1000, "input_length": 10, "output_length": 1, "hash_ids": [0, 1]}` + "\n" + `{"timestamp": 1500, "input_length": 20, "output_length": 2}` + "\n" + `{"timestamp": 3000, "input_length": 30, "output_length": 3}`,
		"BurstGPT":          "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,10,1,11,\"Conversation, log\"\n5.5,GPT-4,20,2,22,API log\n7,GPT-4,30,3,33,API log\n",
		"Azure":             "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.5000000,10,1\n2023-11-16 18:15:47.0000000,20,2\n2023-11-16 18:15:48.5000000,30,3\n",
		"not sorted":        "time_s,input,output\n9,30,3\n7,10,1\n7.5,20,2\n",
		"since 1970, in ms": "time;prompt_tokens;completion_tokens\r\n1700000000000;10;1\r\n1700000000500;20;2\r\n1700000002000;30;3\r\n",
		"ms":                "\ufeff\narrival_time_ms\tinput tokens\toutput tokens\n0\t10\t1\n500\t20\t2\n\n2000\t30\t3\n",
		"a list":            `[{"start":"2026-11-30T10:00:00Z","input":10,"output":1},` + "\n" + `{"start":"2026-11-30T11:00:00.5+01:00","input":"20","output":2},{"start":"2026-11-30T10:00:02Z","input":30,"output":3}]`,
	} {
		if got := trace(t, content).Arrivals; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	got := trace(t, "10,1\n20,2\n").Arrivals
	if len(got) != 2 || got[0].Input != 10 || got[1].Output != 2 {
		t.Errorf("without names: %v", got)
	}
	if got := trace(t, "start,duration_ms\n3,40\n").Arrivals; got[0].Took != load.Some(40*time.Millisecond) {
		t.Errorf("an access log: %v", got)
	}
}

func TestTraceNeedsColumns(t *testing.T) {
	tr := trace(t, "input\n5\n")
	if _, err := tr.Outputs(); err == nil || !strings.Contains(err.Error(), "no column with the length of the output") {
		t.Error(err)
	}
	if _, ok := tr.InFlight(); ok {
		t.Error("a crowd without times")
	}
	if _, ok := tr.EstimatedInFlight(1, 1); ok {
		t.Error("an estimated crowd without times")
	}
}

// TestInFlight counts requests against what can be counted by hand.
func TestInFlight(t *testing.T) {
	// In flight: 1 in [0, 2), 2 in [2, 4), 1 in [4, 6), none until 9, 1 in [9, 10), and
	// again in [10, 20) as a stream that sends at once.
	c, ok := trace(t, "start,duration\n0,4\n2,4\n9,1\n10,10\n15,0\n").InFlight()
	if want := (workload.Crowd{Mean: (2 + 4 + 2 + 1 + 10) / 20.0, P50: 1, P95: 2, Max: 2, Span: 20 * time.Second}); !ok || c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	// Nineteen twentieths of the time one, the rest two.
	c, _ = trace(t, "start,duration\n0,20\n5,1\n").InFlight()
	if c.P95 != 1 || c.Max != 2 {
		t.Errorf("%+v", c)
	}
	c, ok = trace(t, "timestamp,input_length,output_length\n0,9,10\n100,9,30\n").EstimatedInFlight(20*time.Millisecond, 10*time.Millisecond)
	if !ok || c.P95 != 1 || c.Span != 420*time.Millisecond || c.Max != 2 || math.Abs(c.Mean-440.0/420) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

// TestBadLinesAreLeftOut asks for it, and is told.
func TestBadLinesAreLeftOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("input,output\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d,%d\n", 5+i, i%2)
	}
	_, err := workload.ReadTrace(strings.NewReader(b.String()), "t.csv", false)
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[0], "t.csv: line 2: output: \"0\"") || lines[10] != "t.csv: 5 more bad lines; --skip-bad-lines leaves them out" {
		t.Errorf("%d lines: %v", len(lines), err)
	}
	tr, err := workload.ReadTrace(strings.NewReader(b.String()), "t.csv", true)
	if err != nil {
		t.Fatal(err)
	}
	if n, first := tr.BadLines(); n != 15 || len(first) != 10 || len(tr.Arrivals) != 15 {
		t.Errorf("%d left out, %d told, %d kept", n, len(first), len(tr.Arrivals))
	}
}

// FuzzReadTrace: any file is refused in lines that name it, or read.
func FuzzReadTrace(f *testing.F) {
	for _, s := range []string{
		"", "1,2", "input,output\n5,6\n", "start,duration\n0,1e300\n", `{"timestamp":1,"input_length":2}`, "a;b\n", "input\n\"5", "[", `[{"input":5}]`, "time,duration\n1e12,5\n0,1\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, skip := range []bool{false, true} {
			tr, err := workload.ReadTrace(strings.NewReader(content), "t", skip)
			if err != nil {
				for line := range strings.Lines(err.Error()) {
					if !strings.HasPrefix(line, "t: ") || len(line) > 700 {
						t.Errorf("%q", line)
					}
				}
				continue
			}
			last := time.Duration(0)
			for _, a := range tr.Arrivals {
				if a.At < last || a.Took.V < 0 || a.Input < 0 || a.Output < 0 {
					t.Errorf("%+v after %v", a, last)
				}
				last = a.At
			}
			if c, ok := tr.InFlight(); ok && !(c.P50 <= c.P95 && c.P95 <= c.Max && c.Max <= len(tr.Arrivals) && c.Mean <= float64(c.Max)+1e-6) {
				t.Errorf("%+v", c)
			}
		}
	})
}
