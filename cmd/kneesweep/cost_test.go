package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pricedCurve is what of a curve's JSON concerns money.
type pricedCurve struct {
	Run struct {
		StopReason string `json:"stop_reason"`
		Settings   struct{ Prices map[string]any }
	}
	Steps []struct {
		Concurrency int
		Cost        *struct {
			Per struct{ Value, Lo, Hi float64 } `json:"per_million_output_tokens"`
		}
	}
	Used *struct {
		Requests int
		Input    int `json:"input_tokens"`
		Output   int `json:"output_tokens"`
	}
	Cost *struct {
		Cheapest *struct{ Concurrency int }
		Spent    *float64
	}
}

func readPriced(t *testing.T, text string) (c pricedCurve) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCostOfATable: 3.60 an hour at 100, 200, 400 and 400 tokens/s is 10, 5, 2.50 and
// 2.50 a million, in JSON, table, report and for other prices later.
func TestCostOfATable(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "table.csv")
	rows := "concurrency,output_tokens_per_second\n1,100\n2,200\n4,400\n8,400\n16,400\n"
	if err := os.WriteFile(table, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "run")
	r := command("analyze", table, "--price-hour", "3.6", "--json", "--out", folder)
	c := readPriced(t, r.out)
	var got []float64
	for _, s := range c.Steps {
		got = append(got, s.Cost.Per.Value)
	}
	if want := []float64{10, 5, 2.5, 2.5, 2.5}; r.code != 0 || !slices.Equal(got, want) || c.Cost.Cheapest.Concurrency != 4 || c.Cost.Spent != nil {
		t.Errorf("code %d, costs %v, %+v", r.code, got, c.Cost)
	}
	page, err := os.ReadFile(filepath.Join(folder, reportFile))
	if err != nil || !strings.Contains(string(page), "| 2 | 5.00 |") {
		t.Errorf("the report does not show the cost at 2 streams: %v", err)
	}
	for _, again := range []struct {
		args []string
		want float64
	}{{nil, 10}, {[]string{"--price-hour", "7.2", "--gpus", "2", "--duty-cycle", "50%"}, 80}} {
		r := command(append([]string{"analyze", filepath.Join(folder, curveFile), "--json"}, again.args...)...)
		if c := readPriced(t, r.out); r.code != 0 || c.Steps[0].Cost.Per.Value != again.want {
			t.Errorf("%v: code %d, %+v", again.args, r.code, c.Steps[0].Cost)
		}
	}
	if r := command("analyze", table, "--price-hour", "3.6"); !strings.Contains(r.out, "$2.5") || !strings.Contains(r.out, "$/Mtok") {
		t.Errorf("the table has no cost:\n%s", r.out)
	}
	if c := readPriced(t, command("analyze", table, "--json").out); c.Cost != nil || c.Steps[0].Cost != nil || c.Run.Settings.Prices != nil {
		t.Errorf("without prices: %+v", c)
	}
}

// TestCostOfASweep: the account of a stored run is that of its requests, whatever
// prices it is asked about, and a money budget ends a sweep by name.
func TestCostOfASweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := command(quick("--price-in", "1", "--price-out", "10", "--money-budget", "0.01", "--max-error-rate", "1", "--json", "--out", dir)...)
	c := readPriced(t, r.out)
	if c.Used == nil || c.Cost == nil || c.Cost.Spent == nil {
		t.Fatalf("no account: %d %s", r.code, r.err)
	}
	if want := (float64(c.Used.Input) + 10*float64(c.Used.Output)) / 1e6; *c.Cost.Spent < want*(1-1e-9) || *c.Cost.Spent > want*(1+1e-9) {
		t.Errorf("spent %v, want %v", *c.Cost.Spent, want)
	}
	if c.Run.StopReason != "the money budget of 0.01 is spent" {
		t.Errorf("stopped as %q", c.Run.StopReason)
	}
	r = command("analyze", filepath.Join(dir, journalFile), "--price-out", "100", "--json")
	if later := readPriced(t, r.out); later.Cost == nil || *later.Cost.Spent != float64(later.Used.Output)/1e4 {
		t.Errorf("at 100 a million: %d %s, %+v", r.code, r.err, later.Cost)
	}
}

// TestCostBeforeASweep: a million tokens of requests with 30 and 10.
func TestCostBeforeASweep(t *testing.T) {
	base := []string{"sweep", "--dry-run", "--json", "--input-tokens", "30", "--output-tokens", "10", "--levels", "10", "--token-budget", "999600"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `"cost_at_most": null`},
		{[]string{"--price-in", "2", "--price-out", "10"}, `"cost_at_most": 4,`},
		{[]string{"--price-in", "2", "--price-out", "10", "--money-budget", "1"}, `"cost_at_most": 1.0016,`}, // and ten requests in flight
		{[]string{"--price-hour", "4", "--gpus", "2", "--budget", "15m"}, `"cost_at_most": 2,`},
		{[]string{"--price-hour", "4", "--budget", "15m", "--money-budget", "0.5"}, `"cost_at_most": 0.5,`},
	} {
		if r := command(append(base, c.args...)...); r.code != 0 || !strings.Contains(r.out, c.want) {
			t.Errorf("%v: code %d, want %s in\n%s%s", c.args, r.code, c.want, r.out, r.err)
		}
	}
}

// TestPricesRefused: each error is one line that names the flag.
func TestPricesRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--price-in -1", "--price-in: -1 is no price"},
		{"--price-out NaN", "--price-out: NaN is no price"},
		{"--price-hour +Inf", "--price-hour: +Inf is no price"},
		{"--price-in 1 --price-hour 2", "--price-hour and --price-in"},
		{"--price-in 1 --gpus 2", "--gpus and --duty-cycle belong to --price-hour"},
		{"--price-cached 1", "--price-cached: give --price-in"},
		{"--gpus 2", "--gpus: works with --price-hour"},
		{"--duty-cycle 50%", "--duty-cycle: works with --price-hour"},
		{"--price-hour 1 --gpus 0", "--gpus: 0, need at least 1"},
		{"--price-hour 1 --duty-cycle 0", "--duty-cycle: \"0\" is not a share"},
		{"--price-hour 1 --duty-cycle 2", "--duty-cycle: \"2\" is not a share"},
		{"--price-in 0 --price-out 0", "all are 0"},
		{"--money-budget 1", "--money-budget: no price is known"},
		{"--money-budget 0 --price-out 1", "--money-budget: 0, need an amount above 0"},
	} {
		r := command(append([]string{"sweep", "--dry-run"}, strings.Fields(c.args)...)...)
		if first, _, _ := strings.Cut(r.err, "\n"); r.code != exitUsage || !strings.Contains(first, c.want) || strings.Count(r.err, "\n") != 2 {
			t.Errorf("%s: code %d, %q; want %q", c.args, r.code, r.err, c.want)
		}
	}
}

// TestPlotCost draws the figure by prices of the flags, and says what it needs.
func TestPlotCost(t *testing.T) {
	out := filepath.Join(t.TempDir(), "cost.png")
	file := filepath.Join("..", "..", "testdata", "curves", "example.csv")
	if r := command("plot", file, "--figure", "cost", "--price-hour", "2", "-o", out); r.code != 0 || !exists(out) {
		t.Errorf("code %d: %s", r.code, r.err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--figure", "cost"}, exitUsage, "--price-hour"},
		{[]string{"--price-hour", "2"}, exitUsage, "--figure cost"},
		{[]string{"--figure", "cost", "--price-in", "2"}, exitFailed, "no figures that its prices need"},
	} {
		if r := command(append([]string{"plot", file, "-o", out}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: code %d, %s", c.args, r.code, r.err)
		}
	}
}
