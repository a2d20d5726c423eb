package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestMetricsOfTheServer are found beside the endpoint, kept, shown and used; off
// means that they are not asked for.
func TestMetricsOfTheServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				asked.Add(1)
				if r.Header.Get("Authorization") != "" {
					t.Error("the key is sent to the metrics")
				}
			}
			next(w, r)
		}
	})
	dir := filepath.Join(t.TempDir(), "run")
	r := command(quick("--url", url, "--model", "sim", "--api-key-env", keyVariable, "--window", "300ms", "--out", dir, "--json")...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if asked.Load() < 2 || !strings.Contains(read(t, filepath.Join(dir, reportFile)), "## What the server says") {
		t.Errorf("asked %d times; the report:\n%s", asked.Load(), read(t, filepath.Join(dir, reportFile)))
	}
	if again := command("analyze", filepath.Join(dir, journalFile), "--json"); again.out != r.out {
		t.Error("the journal does not give the curve again")
	}
	asked.Store(0)
	if r := command(quick("--url", url, "--model", "sim", "--metrics", "off", "--out", filepath.Join(t.TempDir(), "run"))...); !swept(r) || asked.Load() != 0 {
		t.Errorf("exit %d, asked %d times", r.code, asked.Load())
	}
	r = command(quick("--url", url, "--model", "sim", "--metrics", url+"/nothing", "--out", filepath.Join(t.TempDir(), "run"))...)
	if !swept(r) || !strings.Contains(r.err, "hint: --metrics: no figures of the server itself (metrics: the server answers 404") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	for _, bad := range []string{"on", "h:8000/metrics", "http://bob:" + testUser + "@h/metrics", "http://h/metrics?key=" + testHeader} {
		r := command("sweep", "--metrics", bad, "--dry-run")
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: --metrics: give ") {
			t.Errorf("%s: exit %d: %s", bad, r.code, r.err)
		}
		checkSecret(t, "stderr", r.err)
	}
}
