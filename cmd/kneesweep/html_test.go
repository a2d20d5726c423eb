package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAnalyzeHTML makes pages from files of every kind, and refuses what cannot be
// one.
func TestAnalyzeHTML(t *testing.T) {
	t.Parallel()
	s := shared()
	table := write(t, "table.csv", csvOf("1,2,4,8", "40,80,160,170"))
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"folder", []string{s.dir}, []string{"Capacity curve", "Audits"}},
		{"journal", []string{filepath.Join(s.dir, journalFile)}, []string{"Capacity curve", "Audits"}},
		{"table", []string{table}, []string{"Levels", "170"}},
		{"another tool's", []string{"../../testdata/peers/vllm-16.json"}, []string{"Levels", ">16<"}},
		{"baseline", []string{s.dir, "--baseline", s.dir}, []string{"Against the baseline", "new/old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "page.html")
			r := command(append([]string{"analyze", "--html", out}, c.args...)...)
			if r.code != 0 || r.err != "" {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			page := read(t, out)
			for _, w := range c.want {
				if !strings.Contains(page, w) {
					t.Errorf("%q is not on the page", w)
				}
			}
			if again := command(append([]string{"analyze", "--html", out}, c.args...)...); !strings.Contains(again.err, "was there and is replaced") {
				t.Errorf("nothing is said of the page that was there: %s", again.err)
			}
		})
	}
	for _, args := range [][]string{{"--baseline", table, table}, {"--html", filepath.Join(t.TempDir(), "x.html"), table, table}} {
		if r := command(append([]string{"analyze"}, args...)...); r.code != exitUsage {
			t.Errorf("%v: exit %d, want %d: %s", args, r.code, exitUsage, r.err)
		}
	}
}
