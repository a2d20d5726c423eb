package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file from elsewhere cannot steer the terminal.
func TestForeignTextsAreTame(t *testing.T) {
	r := command("analyze", "../../testdata/curves/example.csv", "--json")
	if r.code != 0 {
		t.Fatal(r.err)
	}
	const evil = `\u001b[2J\u0007`
	doc := strings.Replace(r.out, `"model": null`, `"model": "m`+evil+`"`, 1)
	doc = strings.Replace(doc, `"models": {}`, `"models": {"x`+evil+`": 3}`, 1)
	if strings.Count(doc, evil) != 2 {
		t.Fatalf("the document has changed its shape:\n%.600s", doc)
	}
	path := filepath.Join(t.TempDir(), "curve.json")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"analyze", path}, {"analyze", path, "--json"}} {
		if r = command(args...); r.code != 0 || strings.ContainsAny(r.out+r.err, "\x1b\x07") || strings.Contains(r.out, evil) {
			t.Errorf("%v: exit %d, %q %q", args[2:], r.code, r.out, r.err)
		}
	}
}
