package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMalformedInputs gives the program every input of a collection that is wrong:
// each is refused in one clear line, which names the flag or the file with its
// line and says what is expected, before anything is sent. Of a file with several
// wrong lines each is named.
func TestMalformedInputs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "malformed")
	var cases []struct {
		Args []string // {} stands for the folder
		Code int
		Want []string // parts of the line, in order
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "cases.json"))), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 25 {
		t.Fatalf("there are %d cases", len(cases))
	}
	used := map[string]bool{"cases.json": true}
	for _, c := range cases {
		for i, a := range c.Args {
			used[filepath.Base(a)] = true
			c.Args[i] = strings.ReplaceAll(a, "{}", dir)
		}
		r := command(c.Args...)
		line, rest, _ := strings.Cut(r.err, "\n")
		if place, _, ok := strings.Cut(line, ": line "); ok {
			rest = withoutLines(rest, place+": ")
		}
		if r.code != c.Code || r.out != "" {
			t.Errorf("%q: exit %d, want %d; stdout %q", c.Args, r.code, c.Code, r.out)
		}
		if rest != "" && (c.Code != exitUsage || rest != "kneesweep: see kneesweep --help, or --help after a command\n") {
			t.Errorf("%q: after the first line stands %q", c.Args, rest)
		}
		tail := strings.TrimPrefix(line, "kneesweep: ")
		for _, want := range c.Want {
			_, after, ok := strings.Cut(tail, strings.ReplaceAll(want, "{}", dir))
			if tail = after; !ok {
				t.Errorf("%q: no %q in its place in\n%s", c.Args, want, line)
				break
			}
		}
		if len(line) > 400 || strings.Contains(line, "sk-secret") {
			t.Errorf("%q: %d bytes, or what may be a key is shown: %s", c.Args, len(line), line)
		}
		t.Log(line)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !used[f.Name()] {
			t.Errorf("no case uses %s", f.Name())
		}
	}
}

// withoutLines removes the lines that a text begins with and that have a prefix.
func withoutLines(text, prefix string) string {
	for strings.HasPrefix(text, prefix) {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
