package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/record/prom"
)

// TestNightlyMetrics: what sweeps under a context leave is served, over the loopback to
// anybody and elsewhere with the token alone.
func TestNightlyMetrics(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		var said strings.Builder
		set, stop, err := startMetrics(addr, &said)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		remember(context.WithValue(t.Context(), metricsKey{}, set), prom.New(load.Run{Target: "http://llm/v1", Model: "m"}))
		address := strings.Replace(strings.TrimSpace(strings.TrimPrefix(said.String(), "metrics: ")), "[::]", "127.0.0.1", 1)
		address = strings.Replace(address, "0.0.0.0", "127.0.0.1", 1)
		get := func(address string) (int, string) {
			resp, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			return resp.StatusCode, string(b)
		}
		if code, text := get(address); code != http.StatusOK || !strings.Contains(text, `kneesweep_streams{label="",model="m",target="http://llm/v1"} 0`) {
			t.Errorf("%s: HTTP %d: %s", address, code, text)
		}
		bare, _, token := strings.Cut(address, "?")
		if code, _ := get(bare); (code == http.StatusOK) == token {
			t.Errorf("%s: HTTP %d", bare, code)
		}
	}
	remember(t.Context(), prom.New(load.Run{})) // nobody keeps it
	if set, stop, err := startMetrics("", io.Discard); set != nil || err != nil {
		t.Error("served without an address")
	} else {
		stop()
	}
	if r := command("nightly", "--metrics", "256.1.1.1:x", "--schedule", "0 0 * * *", "--history", t.TempDir()+"/h.db"); r.code != exitFailed || !strings.Contains(r.err, "--metrics: ") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestSweepIsRemembered: a sweep of a process that keeps metrics leaves its result there.
func TestSweepIsRemembered(t *testing.T) {
	t.Parallel()
	set := &prom.Set{}
	r := commandContext(context.WithValue(t.Context(), metricsKey{}, set), quick("--quiet", "--label", "kept", "--out", filepath.Join(t.TempDir(), "run"))...)
	w := httptest.NewRecorder()
	set.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if text := w.Body.String(); !swept(r) || !strings.Contains(text, `kneesweep_success{label="kept",model="sim"`) || !strings.Contains(text, `kneesweep_level_valid{concurrency="1",label="kept"`) {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, text)
	}
}
