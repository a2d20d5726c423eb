package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestConfirm follows a sweep with an open loop at the rate of its answer, which the
// journal gives again.
func TestConfirm(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", "", "--levels", "4,8,16,32,48,64", "--measurements", "4", "--window", "150ms", "--confirm", "--json", "--quiet", "--out", dir)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if again := command("analyze", filepath.Join(dir, journalFile), "--json"); again.out != r.out {
		t.Error("the journal does not give the curve again")
	}
	if at(t, doc, "recommended.concurrency") == nil { // a busy machine
		if at(t, doc, "confirm") != nil || !strings.Contains(r.err, "hint: --confirm") {
			t.Errorf("confirmed without a recommendation: %s", r.err)
		}
		return
	}
	arrivals, waited := at(t, doc, "confirm.arrivals").(float64), at(t, doc, "confirm.waited").(float64)
	if arrivals < 20 || waited > arrivals || at(t, doc, "confirm.concurrency") != at(t, doc, "recommended.concurrency") {
		t.Errorf("%v arrivals, %v waited at %v", arrivals, waited, at(t, doc, "confirm.concurrency"))
	}
	if text := at(t, doc, "confirm.text").(string); !strings.Contains(text, "the recommendation") {
		t.Errorf("text %q", text)
	}
	table := command("analyze", dir)
	if !strings.Contains(strings.Join(strings.Fields(table.out), " "), "An open loop at") {
		t.Errorf("no word of it in\n%s", table.out)
	}
}
