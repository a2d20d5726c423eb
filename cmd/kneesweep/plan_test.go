package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// planned is what of the JSON of a plan the tests read.
type planned struct {
	Schema   string
	Rate     float64 `json:"rate_requests_per_second"`
	Replicas struct{ Value, Lo, Hi float64 }
	Streams  int `json:"streams_per_replica"`
	Each     struct {
		Value, Lo, Hi float64
	} `json:"requests_per_second_per_replica"`
	Expected []struct {
		Figure string
		Limit  float64  `json:"limit_ms"`
		Value  float64  `json:"value_ms"`
		Fewer  *float64 `json:"one_fewer_ms"`
	}
	Month *struct{ Value float64 } `json:"cost_per_month"`
}

// TestPlanOfASweep plans for an endpoint that completes 150 requests/s at most.
func TestPlanOfASweep(t *testing.T) {
	t.Parallel()
	run := simulatedCurve(t)
	args := []string{"plan", run, "--slo", "ttft_p95<=200ms", "--price-hour", "2", "--gpus", "4", "--json"}
	r := command(append(args, "--users", "12000", "--per-user", "2/min")...)
	var p planned
	if err := json.Unmarshal([]byte(r.out), &p); err != nil {
		t.Fatalf("exit %d, %s: %v", r.code, r.err, err)
	}
	if p.Schema != "kneesweep/capacity/v1" || p.Rate != 400 || p.Streams != 24 || p.Each.Value < 120 || p.Each.Value > 150 || p.Replicas.Value != math.Ceil(400/p.Each.Value) {
		t.Errorf("%+v", p)
	}
	if p.Month == nil || p.Month.Value != p.Replicas.Value*2*4*730 {
		t.Errorf("a month of %v replicas costs %+v", p.Replicas.Value, p.Month)
	}
	if e := p.Expected; len(e) != 1 || e[0].Figure != "ttft" || e[0].Value > 200 || e[0].Fewer != nil && *e[0].Fewer <= 200 {
		t.Errorf("expected %+v", e)
	}
	text := command("plan", run, "--slo", "ttft_p95<=200ms", "--rate", "400", "--headroom", "20%")
	if text.code != 0 || !strings.Contains(text.out, "serve 400 requests/s and 20 % to spare") || !strings.Contains(text.out, "TTFT p95") {
		t.Errorf("exit %d, %s\n%s", text.code, text.err, text.out)
	}
}

// TestPlanRefused: each error is one line that names what is wrong and the mend.
func TestPlanRefused(t *testing.T) {
	t.Parallel()
	table := write(t, "table.csv", csvOf("1,2,4,8,16", "100,200,400,400,400"))
	dir := simulatedCurve(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir}, exitUsage, "--rate: needed"},
		{[]string{dir, "--rate", "0"}, exitUsage, "--rate: 0, need a number"},
		{[]string{dir, "--rate", "1", "--users", "2"}, exitUsage, "--rate and --users: choose one"},
		{[]string{dir, "--rate", "1", "--per-user", "2/min"}, exitUsage, "--per-user: works with --users"},
		{[]string{dir, "--users", "-1"}, exitUsage, "--users: -1, need"},
		{[]string{dir, "--users", "2", "--per-user", "2"}, exitUsage, `--per-user: "2" is not a rate such as 2/min`},
		{[]string{dir, "--users", "2", "--per-user", "2/day"}, exitUsage, `--per-user: "2/day" is not a rate`},
		{[]string{dir, "--rate", "1", "--headroom", "-5%"}, exitUsage, "--headroom: "},
		{[]string{dir, "--rate", "1"}, exitUsage, "--slo: needed"},
		{[]string{dir, "--rate", "1", "--slo", "itl_p95<=1s"}, exitUsage, "limit tpot instead"},
		{[]string{dir, "--rate", "1", "--slo", "ttft<=1s"}, exitUsage, "--slo: "},
		{[]string{"--rate", "1", "--slo", "ttft_p95<=1s"}, exitUsage, "plan needs a FILE"},
		{[]string{dir, table, "--rate", "1", "--slo", "ttft_p95<=1s"}, exitUsage, "plan works with one curve, and these files make 2"},
		{[]string{dir, "--rate", "1", "--slo", "ttft_p95<=1us"}, exitMissed, "no number of replicas meets the limits: ttft_p95<=0.001ms"},
		{[]string{table, "--rate", "1", "--slo", "ttft_p95<=1s"}, exitNoCurve, "give the journal or the curve.json of a sweep"},
		{[]string{"nowhere", "--rate", "1", "--slo", "ttft_p95<=1s"}, exitFailed, "nowhere: no such file"},
	} {
		r := command(append([]string{"plan"}, c.args...)...)
		if first, _, _ := strings.Cut(r.err, "\n"); r.code != c.code || !strings.Contains(first, c.want) || r.out != "" {
			t.Errorf("%v: exit %d, want %d and %q in %s", c.args, r.code, c.code, c.want, r.err)
		}
	}
}
