package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRates sweeps over rates: the files of a run, the same document from each of
// them, a gate, and no word of streams that were never held.
func TestRates(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", "", "--rates", "20,60,300,400", "--measurements", "2", "--window", "150ms", "--max-concurrency", "48", "--json", "--quiet", "--out", dir)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	checkRun(t, r, dir)
	doc := object(t, r.out)
	steps := at(t, doc, "rates.steps").([]any)
	if len(steps) != 4 || len(doc["steps"].([]any)) != 0 || at(t, doc, "recommended.concurrency") != nil || at(t, doc, "run.settings.arrivals") != "Poisson" {
		t.Fatalf("%d rates, %d levels, %v", len(steps), len(doc["steps"].([]any)), doc["recommended"])
	}
	last := steps[3]
	if at(t, last, "unsent").(float64) == 0 || at(t, last, "ttft_from_schedule_ms.p50").(float64) <= at(t, last, "ttft_ms.p50").(float64) {
		t.Errorf("400 requests/s on 150: %v", last)
	}
	table := command("analyze", dir)
	for _, want := range []string{"offered", "req/s", "open loop", "found no free stream", "schedule"} {
		if !strings.Contains(strings.Join(strings.Fields(table.out), " "), want) {
			t.Errorf("no %q in\n%s", want, table.out)
		}
	}
	for _, line := range strings.Split(table.out, "\n") {
		if n := len([]rune(line)); n > 110 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if c := command("check", dir, "--require", "rates.streams == 48"); c.code != 0 && c.code != exitNoCurve {
		t.Errorf("check: exit %d, %s%s", c.code, c.out, c.err)
	}
}

// TestRatesUsage refuses in one line that names the flag, before the hint at --help.
func TestRatesUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--rates 0", "--rates: \"0\": 0 requests/s is not at least"},
		{"--rates NaN", "--rates: "},
		{"--rates=-2", "--rates: "},
		{"--rates 1 --levels 1,2", "--rates and --levels: "},
		{"--rates 1 --confirm", "--rates and --confirm: "},
		{"--rates 1 --slo ttft_p95<=1s", "--rates and --slo: "},
		{"--rates 1 --arrivals gamma:0", "--arrivals: "},
		{"--rates 1 --arrivals gamma:NaN", "--arrivals: "},
		{"--rates 1 --arrivals gamma", "--arrivals: "},
		{"--rates 1 --arrivals bursts", "--arrivals: "},
		{"--arrivals poisson", "--arrivals: works with --rates"},
		{"--rates 1 --max-concurrency 0", "--max-concurrency: "},
		{"--rates 1 --journal none", "--journal: "},
	} {
		r := command(append([]string{"sweep", "--url", "", "--out", filepath.Join(t.TempDir(), "run")}, strings.Fields(c.args)...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: "+c.want) || strings.Count(r.err, "\n") != 2 || r.out != "" {
			t.Errorf("%s: exit %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
}
