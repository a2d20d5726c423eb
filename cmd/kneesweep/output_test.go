package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// What was made for a run that does not begin is removed, and nothing else.
func TestDiscardedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("mine", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, occupied, gone, left string }{
		{"n1/n2/n3", "", "n1", "."},
		{"./n1//n2/../n3/", "", "n1", "."},
		{"mine/n2/n3", "", "mine/n2", "mine"},
		{"mine", "", "", "mine"},
		{"p1/p2/p3", "p1/x", "p1/p2", "p1/x"},
		{filepath.Join(t.TempDir(), "a", "b"), "", "", "."},
	} {
		out, err := openOutput(c.dir, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if c.occupied != "" {
			if err := os.WriteFile(c.occupied, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out.discard()
		if c.gone != "" && exists(c.gone) {
			t.Errorf("%s: %s is still there", c.dir, c.gone)
		}
		if !exists(c.left) {
			t.Errorf("%s: %s is gone", c.dir, c.left)
		}
	}
	// A folder below a file cannot be made.
	if _, err := openOutput("p1/x/y/z", time.Time{}); err == nil {
		t.Error("a folder below a file is accepted")
	}
}

// A file is written without touching others, with the mode of any new file.
func TestWriteWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.part", "usual"} {
		if err := os.WriteFile(name, []byte("theirs"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeWhole("a", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "ours", "a.part": "theirs"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	ours, err := os.Stat("a")
	usual, err2 := os.Stat("usual")
	if err != nil || err2 != nil || runtime.GOOS != "windows" && ours.Mode() != usual.Mode() {
		t.Errorf("modes %v and %v; %v, %v", ours, usual, err, err2)
	}
	// What cannot be put in its place leaves nothing behind.
	if err := os.MkdirAll("d/full", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole("d", nil); err == nil {
		t.Error("a folder is replaced")
	}
	if files, err := os.ReadDir("."); len(files) != 4 || err != nil {
		t.Errorf("files %v, %v", files, err)
	}
}
