//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestDescriptors refuses a level that needs more than the process may open, and
// says the need, the limit, the highest level that is possible and the mend.
func TestDescriptors(t *testing.T) {
	for _, c := range []struct {
		streams, perStream int
		limit              uint64
		want               string // "" = enough
	}{
		{256, 1, 1024, ""},
		{224, 1, 256, ""},
		{225, 1, 256, "--levels: 225 streams need 257 file descriptors and 256 are allowed; stay at or below 224, or raise the limit (ulimit -n 257)"},
		{256, 2, 512, "--levels: 256 streams need 544 file descriptors and 512 are allowed; stay at or below 240, or raise the limit (ulimit -n 544)"},
		{1, 1, 16, "--levels: 1 streams need 33 file descriptors and 16 are allowed; stay at or below 0, or raise the limit (ulimit -n 33)"},
		{100_000, 2, 1 << 20, ""},
		{100_000, 2, ^uint64(0), ""}, // no limit
	} {
		got := ""
		if err := descriptorsFor(c.streams, c.perStream, c.limit); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d streams, limit %d:\n%s\nwant\n%s", c.streams, c.limit, got, c.want)
		}
	}
	if err := checkDescriptors(1<<40, 1); err != nil && !strings.HasPrefix(err.Error(), "--levels: ") { // nil where there is no limit
		t.Error(err)
	}
}
