package table_test

import (
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/record/table"
)

const head = "concurrency,output_tokens_per_second\n"

func read(t *testing.T, text string) []load.Step {
	t.Helper()
	steps, err := table.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return steps
}

// The same two levels, however the file is written.
func TestSpellings(t *testing.T) {
	want := read(t, head+"1,10\n2,20\n")
	if len(want) != 2 || want[0].Concurrency != 1 || !slices.Equal(want[1].Measurements, []float64{20}) || !want[0].Valid {
		t.Fatalf("got %+v", want)
	}
	for name, text := range map[string]string{
		"byte order mark":          "\ufeff" + head + "1,10\n2,20\n",
		"mark before quotes":       "\ufeff\"concurrency\",\"output_tokens_per_second\"\n\"1\",\"10\"\n2,20\n",
		"mark before a comment":    "\ufeff# measured on Monday\n" + head + "1,10\n2,20\n",
		"CRLF":                     "concurrency,output_tokens_per_second\r\n1,10\r\n2,20\r\n",
		"no last line end":         head + "1,10\n2,20",
		"unsorted":                 head + "2,20\n1,10\n",
		"other order and columns":  "note,output_tokens_per_second,gpu,concurrency\nx,10,a,1\ny,20,b,2\n",
		"capitals and blanks":      " Concurrency , Output_Tokens_Per_Second \n 1 , 10 \n 2,\t20\n",
		"comments and empty lines": "# a\n" + head + "\n# b\n1,10\n\n2,20\n\n",
		"blank rows at the end":    head + "1,10\n2,20\n,\n , \n,,,\n",
		"unnamed columns":          "concurrency,output_tokens_per_second,,\n1,10,,\n2,20,5,6\n",
		"semicolons":               "concurrency;output_tokens_per_second\n1;10\n2;20\n",
		"tabs":                     "note\tconcurrency\toutput_tokens_per_second\n\t1\t10\nx\t2\t20\n",
		"scientific":               head + "1,1e1\n2,2.0E+1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, text); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}

// Rows of one concurrency are its windows; those that failed are left out, and
// a level of failures only is shown and not valid.
func TestRepeatedAndFailedRows(t *testing.T) {
	steps := read(t, head+"4,40\n1,10\n4,44\n2,NaN\n2,\n2,0\n2,inf\n2,-Inf\n2\n4,nan\n4,42\n")
	if len(steps) != 3 || steps[0].Concurrency != 1 || steps[1].Concurrency != 2 || steps[2].Concurrency != 4 {
		t.Fatalf("levels %+v", steps)
	}
	failed, four := steps[1], steps[2]
	if len(four.Warnings) != 1 || !strings.Contains(four.Warnings[0].Text, "1 of 4 rows") || len(steps[0].Warnings) != 0 {
		t.Errorf("warnings %+v, want the failed row of a level said", four.Warnings)
	}
	if failed.Valid || failed.InvalidReason != "no tokens" || failed.Throughput.OK || len(failed.Measurements) > 0 {
		t.Errorf("a level of failures: %+v", failed)
	}
	if !slices.Equal(four.Measurements, []float64{40, 44, 42}) || four.Throughput.V.Value != 42 || !four.Valid {
		t.Errorf("windows %v, throughput %+v", four.Measurements, four.Throughput)
	}
	// 42 ± t(0.975, 2) · s · √(1.35/3), s = 2
	if half := 4.302653 * 2 * math.Sqrt(1.35/3); math.Abs(four.Throughput.V.Hi-42-half) > 1e-5 || math.Abs(four.Throughput.V.Lo-42+half) > 1e-5 {
		t.Errorf("interval %+v, want 42 ± %g", four.Throughput.V, half)
	}
	if one := steps[0].Throughput.V; one != (load.Estimate{Value: 10, Lo: 10, Hi: 10}) {
		t.Errorf("one window: %+v", one)
	}
}

// Latencies are milliseconds in the table and seconds in a step; only a median
// can be told of them.
func TestLatencies(t *testing.T) {
	steps := read(t, "concurrency,output_tokens_per_second,ttft_ms,itl_ms\n1,10,100,\n1,10,300,NaN\n1,10,,\n2,20,,20\n")
	if d := steps[0].TTFT; d.P50 != 0.2 || d.Count != 2 || !math.IsNaN(d.P99) || !math.IsNaN(d.Mean) {
		t.Errorf("TTFT %+v, want a median of 0.2 s of 2", d)
	}
	if steps[0].ITL.Count != 0 || steps[1].TTFT.Count != 0 || steps[1].ITL.P50 != 0.02 {
		t.Errorf("ITL %+v, %+v, TTFT %+v", steps[0].ITL, steps[1].ITL, steps[1].TTFT)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "the file is empty",
		"# only a comment\n":               "the file is empty",
		head:                               "no rows below the column names",
		head + ",\n":                       "no rows below the column names",
		"a,b\n1,2\n":                       `line 1: no column "concurrency"`,
		"# c\n\nconcurrency,tps\n1,2\n":    `line 3: no column "output_tokens_per_second"`,
		"concurrency,x,Concurrency\n":      `line 1: column "concurrency" is there twice; rename or remove one`,
		head + "1,10\nx,20\n":              `line 3: concurrency: "x" is not a whole number of at least 1; write how many`,
		head + "0,10\n":                    `line 2: concurrency: "0"`,
		head + "-4,10\n":                   `line 2: concurrency: "-4"`,
		head + "1.5,10\n":                  `line 2: concurrency: "1.5"`,
		head + ",10\n":                     `line 2: concurrency: ""`,
		head + "99999999999999999999,10\n": `line 2: concurrency: "99999999999999999999"`,
		head + "2,19,5\n":                  `line 2: 3 cells in a table of 2 columns; write decimals with a point`,
		head + "\n# c\n1,fast\n":           `line 4: output_tokens_per_second: "fast" is not a number; write digits, or leave the cell empty`,
		head + "1,-3\n":                    `line 2: output_tokens_per_second: "-3" is negative; correct it, or leave the cell empty`,
		head + "1,\"19,5\"\n":              `line 2: output_tokens_per_second: "19,5" is not a number; write it with a decimal point`,
		head + "1,\"10\n":                  "line 2: a quote is not closed, or stands inside a cell; write the cell without quotes",
		head + "1,10\n2,\"20\n3,30\n":      "line 3: a quote",
		head + "1,1\"0\n":                  "line 2: a quote",
		"\"concurrency,\n1,2\n":            "line 1: a quote",
		"# c\n" + head:                     "line 2: no rows below the column names; write one",
		"concurrency,output_tokens_per_second,ttft_ms,itl_ms\n1,10,x,y\n": `line 2: ttft_ms: "x"`,
		"concurrency,output_tokens_per_second,itl_ms\n1,10,-1\n":          `line 2: itl_ms: "-1" is negative`,
	} {
		if steps, err := table.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %+v; want %q", text, err, steps, want)
		}
	}
	broken := errors.New("gone")
	if _, err := table.Read(io.MultiReader(strings.NewReader(head+"1,10\n"), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Any file is refused or gives ascending levels of finite figures.
func FuzzRead(f *testing.F) {
	f.Add(head + "1,10\n1,11\n2,NaN\n")
	f.Add("\ufeffconcurrency,output_tokens_per_second,ttft_ms,itl_ms\r\n1,1e308,3,4\r\n1,1e308,,\r\n,,,\r\n")
	f.Add("\"concurrency\",output_tokens_per_second\n1,\"0x1p-1074\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := table.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(steps) == 0 {
			t.Fatal("neither steps nor an error")
		}
		for i, s := range steps {
			if s.Concurrency < 1 || i > 0 && s.Concurrency <= steps[i-1].Concurrency {
				t.Fatalf("levels not ascending: %+v", steps)
			}
			if s.Valid != (len(s.Measurements) > 0) || s.Valid != s.Throughput.OK || s.Valid != (s.InvalidReason == "") {
				t.Fatalf("%+v", s)
			}
			for _, m := range s.Measurements {
				if !(m > 0) || math.IsInf(m, 0) {
					t.Fatalf("a window of %g", m)
				}
			}
			if s.Valid && (math.IsNaN(s.Throughput.V.Value) || math.IsInf(s.Throughput.V.Value, 0)) {
				t.Fatalf("throughput %+v", s.Throughput)
			}
		}
	})
}
