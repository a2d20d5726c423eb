package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSLONotMet wants exit code 3, with everything written, and the same again
// from the journal.
func TestSLONotMet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	url := endpoint(t, func(next served) served { return next })
	limits := " ttft_p50<=0.001ms , error_rate<=90%"
	r := command(quick("--url", url, "--model", "sim", "--output-tokens", "5", "--json", "--slo", limits, "--out", dir)...)
	if r.code == exitNoCurve {
		t.Skip("the machine is too busy for a valid level")
	}
	const canonical = "ttft_p50<=0.001ms,error_rate<=90%"
	if r.code != exitMissed || !strings.HasSuffix(r.err, "kneesweep: no level is shown to meet the --slo "+canonical+"\n") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	checkRun(t, r, dir)
	doc := object(t, r.out)
	if at(t, doc, "run.settings.slo") != canonical || !strings.Contains(r.out, canonical) {
		t.Errorf("settings %v", at(t, doc, "run.settings"))
	}
	undefined(t, doc, "recommended.concurrency recommended.limited_by")
	for _, s := range doc["steps"].([]any) {
		if at(t, s, "valid") == true && (at(t, s, "slo.met") != false || at(t, s, "goodput_requests_per_second") != 0.0) {
			t.Errorf("slo %v, goodput %v", at(t, s, "slo"), at(t, s, "goodput_requests_per_second"))
		}
	}
	if !strings.Contains(read(t, filepath.Join(dir, reportFile)), "is missed") {
		t.Error("the report does not say that the SLO is missed")
	}
	// Other limits: from the journal they can be judged, from a curve they cannot.
	const wide = "ttft_p50<=1h"
	if again := command("analyze", "--json", "--slo", wide, dir); again.code != 0 || !strings.Contains(again.out, `"met": true`) {
		t.Errorf("wide limits: exit %d, %s", again.code, again.err)
	}
	if again := command("analyze", "--slo", limits, filepath.Join(dir, journalFile)); again.code != exitMissed || !strings.Contains(again.out, "missed") {
		t.Errorf("the same limits: exit %d, %s\n%s", again.code, again.err, again.out)
	}
	if again := command("analyze", "--slo", limits, filepath.Join(dir, curveFile)); again.code != exitMissed {
		t.Errorf("a curve with its own limits: exit %d, %s", again.code, again.err)
	}
	if again := command("analyze", "--slo", wide, filepath.Join(dir, curveFile)); again.code != exitFailed || !strings.Contains(again.err, "--slo: a curve has no single requests") {
		t.Errorf("a curve with other limits: exit %d, %s", again.code, again.err)
	}
}

// TestSLOOfATable cannot be judged.
func TestSLOOfATable(t *testing.T) {
	t.Parallel()
	csv := write(t, "a.csv", csvOf(kneeLevels, kneeRates))
	r := command("analyze", "--slo", "ttft_p50<=1h", csv)
	if r.code != exitMissed || !strings.Contains(r.out, "unsure") || !strings.Contains(r.out, "only their medians") {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, r.out)
	}
}
