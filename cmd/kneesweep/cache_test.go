package main

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/sim"
)

// caching is an endpoint whose KV cache holds six or seven whole requests of 64 + 8 tokens, and
// more if its prefix cache has their prompts: it moves the knee from seven to 24.
func caching(t *testing.T) (url string) {
	t.Helper()
	e, err := sim.New(sim.Config{Slots: 24, StepBase: 2 * time.Millisecond, KVTokens: 6*73 + 70, PrefixCache: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(e)
	t.Cleanup(func() { s.Close(); e.Close() })
	return s.URL + "/v1"
}

// TestCacheModes: the endpoint is as cold or as warm as asked, the result says so, and
// a warm curve is never held against a cold one.
func TestCacheModes(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{}
	for _, mode := range []string{"cold", "warm"} {
		dirs[mode] = filepath.Join(t.TempDir(), mode)
		r := command("sweep", "--url", caching(t), "--model", "sim", "--cache", mode, "--output-tokens", "8", "--levels", "1,2,16,32", "--measurements", "4",
			"--window", "150ms", "--quiet", "--json", "--out", dirs[mode])
		if !swept(r) {
			t.Fatalf("%s: exit %d: %s", mode, r.code, r.err)
		}
		doc := object(t, r.out)
		if got := at(t, doc, "run.request.cache_mode"); got != mode {
			t.Errorf("cache mode %v", got)
		}
		for i, s := range at(t, doc, "steps").([]any) {
			share, ok := at(t, s, "cached_share").(float64)
			if want := map[string]float64{"cold": 0, "warm": 1}[mode]; !ok || share < want-0.1 || share > want+0.1 {
				t.Errorf("%s, level %d: cached share %v", mode, i, at(t, s, "cached_share"))
			}
			hits, misses := at(t, s, "ttft_cached_ms.p50") != nil, at(t, s, "ttft_uncached_ms.p50") != nil
			if hits != (mode == "warm") || misses == hits {
				t.Errorf("%s, level %d: cached %v, uncached %v", mode, i, hits, misses)
			}
			if d := at(t, s, "decode_concurrency.mode"); at(t, s, "valid") == true && at(t, s, "concurrency") == 16.0 && (mode == "warm") != (d.(float64) > 7) {
				t.Errorf("%s: %v streams decode at once of 16", mode, d)
			}
		}
		if strings.Contains(r.out, "cache_not_as_asked") || strings.Contains(r.out, "high_cache_share") {
			t.Errorf("%s: %s", mode, r.out)
		}
	}
	if r := command("compare", dirs["cold"], dirs["warm"]); r.code != exitUsage || !strings.Contains(r.err, "request.cache") {
		t.Errorf("compare: exit %d: %s%s", r.code, r.out, r.err)
	}
	r := command("compare", "--force", dirs["cold"], dirs["warm"])
	if all := r.out + r.err; !strings.Contains(strings.Join(strings.Fields(all), " "), "cache") {
		t.Errorf("compare --force says nothing of the cache: %s", all)
	}
}

// TestCacheFlag refuses modes that are none and prompts that say themselves what a cache
// can do with them, and counts what fills a cache.
func TestCacheFlag(t *testing.T) {
	t.Parallel()
	prompts := write(t, "p.jsonl", "{\"prompt\":\"a\"}\n")
	trace := write(t, "t.csv", "timestamp,input,output\n0,1,2\n1,1,2\n")
	for _, c := range []struct{ args, want string }{
		{"--cache hot", "--cache: \"hot\", need one of natural, cold, warm"},
		{"--cache cold --shared-prefix 10", "--cache cold and --shared-prefix: "},
		{"--cache warm --shared-prefix 10", "--cache warm and --shared-prefix: "},
		{"--cache warm --turns 2", "--cache warm and --turns: "},
		{"--cache warm --replay " + trace, "--cache warm and --replay: "},
	} {
		r := command(append([]string{"sweep", "--url", "", "--out", filepath.Join(t.TempDir(), "run")}, strings.Fields(c.args)...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: "+c.want) || r.out != "" {
			t.Errorf("%s: exit %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
	for _, ok := range []string{"--cache cold --prompts " + prompts, "--cache warm --prompts " + prompts, "--cache cold --turns 2", "--cache natural"} {
		if r := command(append([]string{"sweep", "--url", "", "--dry-run"}, strings.Fields(ok)...)...); r.code != 0 {
			t.Errorf("%s: exit %d: %s", ok, r.code, r.err)
		}
	}
	plain, warm := command("sweep", "--url", "", "--dry-run", "--json"), command("sweep", "--url", "", "--dry-run", "--json", "--cache", "warm")
	if d := at(t, object(t, warm.out), "requests_at_most").(float64) - at(t, object(t, plain.out), "requests_at_most").(float64); d != 32 {
		t.Errorf("a warm sweep plans %v requests more", d)
	}
}

// TestCacheThatCannotBeFilled ends before anything is measured.
func TestCacheThatCannotBeFilled(t *testing.T) {
	t.Parallel()
	e, err := sim.New(sim.Config{Slots: 1, StepBase: time.Millisecond, RateLimit: 1, RateBurst: 5})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(e)
	t.Cleanup(func() { s.Close(); e.Close() })
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", s.URL+"/v1", "--model", "sim", "--cache", "warm", "--out", dir)
	if r.code != 1 || !strings.Contains(r.err, "--cache warm: a request to fill the cache failed (http_429)") || !strings.Contains(r.err, "nothing was measured") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if files, _ := filepath.Glob(dir); len(files) > 0 {
		t.Error(fmt.Sprint("a folder is left: ", files))
	}
}
