package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestWhoAnswered records a header that tells two replicas apart, and splits the run
// by it.
func TestWhoAnswered(t *testing.T) {
	var n atomic.Int64
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Region", []string{"eu", "us"}[n.Add(1)%2])
			next(w, r)
		}
	})
	dir := filepath.Join(t.TempDir(), "run")
	if r := command(quick("--quiet", "--url", url, "--model", "sim", "--record-header", "x-region", "--out", dir)...); !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	answers := func(args ...string) (eu, us float64, text string) {
		r := command(append([]string{"analyze", "--json", dir}, args...)...)
		if r.code != 0 {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		for _, s := range object(t, r.out)["steps"].([]any) {
			headers := at(t, s, "headers").(map[string]any)
			x, _ := headers["X-Region: eu"].(float64)
			y, _ := headers["X-Region: us"].(float64)
			eu, us = eu+x, us+y
		}
		return eu, us, r.out
	}
	eu, us, text := answers()
	if eu == 0 || us == 0 || !strings.Contains(text, "mixed_headers") {
		t.Errorf("%g answers from eu, %g from us", eu, us)
	}
	if x, y, text := answers("--where", "header.x-region=eu", "--where", "model=sim"); x != eu || y != 0 || strings.Contains(text, "mixed_headers") || !strings.Contains(text, `"split"`) {
		t.Errorf("of %g answers from eu there are %g, and %g from us", eu, x, y)
	}
	if r := command("analyze", dir, "--where", "model=other"); r.code != exitFailed || !strings.Contains(r.err, "no answer has model=other; the models were sim; the headers X-Region: eu, X-Region: us") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("analyze", filepath.Join(dir, curveFile), "--where", "model=sim"); r.code != exitFailed || !strings.Contains(r.err, journalFile) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestWhoAnsweredRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"analyze", "x", "--where", "model"}, "--where: "},
		{[]string{"analyze", "x", "--where", "region=eu"}, "--where: "},
		{[]string{"analyze", "x", "--where", "model=m", "--at", "3"}, "--where: "},
		{[]string{"sweep", "--record-header", "Set-Cookie"}, "--record-header: Set-Cookie holds a secret"},
		{[]string{"sweep", "--record-header", "X-Auth-Token"}, "--record-header: X-Auth-Token holds a secret"},
		{[]string{"sweep", "--record-header", "X-Region: eu"}, "--record-header: "},
	} {
		if r := command(c.args...); r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
