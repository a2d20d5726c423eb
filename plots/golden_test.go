package plots

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCapacityGolden compares the SVG of one curve with the stored one.
func TestCapacityGolden(t *testing.T) {
	got := render(t, "coincident", "svg")
	if again := render(t, "coincident", "svg"); !bytes.Equal(got, again) {
		t.Error("the same curve gives two pictures")
	}
	path := filepath.Join("..", "testdata", "golden", "capacity.svg")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the picture differs from %s (%d bytes, want %d); look at it, then run go test ./plots -update", path, len(got), len(want))
	}
}
