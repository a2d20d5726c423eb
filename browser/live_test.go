//go:build browser

package browser

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// content is all that a page says: its texts, and the data of its charts.
const content = `JSON.stringify([
	[...document.querySelectorAll("#head, main section:not(.charts), section.charts h2, section.charts table, footer")].map((e) => (e.id || e.tagName) + ": " + e.textContent.replace(/\s+/g, " ").trim()),
	[...kneesweep.figures].map(([id, f]) => [id, f.data])])`

const rowsOfLevels = `document.querySelectorAll("#levels tbody tr").length`

// TestLiveView follows a sweep: levels appear, and in the end the page says what the
// saved report says.
func TestLiveView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	sweep := exec.CommandContext(t.Context(), program, "sweep", "--ui", "127.0.0.1:0", "--levels", "1,2,4,8,16,32", "--measurements", "4", "--window", "300ms",
		"--max-error-rate", "1", "--out", dir, "--quiet")
	stderr, err := sweep.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	lines := bufio.NewReader(stderr)
	for address == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the sweep does not say where its page is: %v", err)
		}
		if after, ok := strings.CutPrefix(line, "live view: "); ok {
			address = strings.TrimSpace(after)
		}
	}
	said := make(chan string)
	go func() {
		rest, _ := io.ReadAll(lines)
		said <- string(rest)
	}()
	p := open(t, address, 1200, address)
	p.wait(`/parallel, /.test(document.getElementById("status").textContent)`)
	p.wait(rowsOfLevels + ` >= 1`)
	early := eval[int](p, rowsOfLevels)
	if early >= 6 {
		t.Errorf("the first state has all %d levels", early)
	}
	p.wait(rowsOfLevels + ` >= 6`)
	if n := eval[int](p, painted("capacity-chart")); n != 3 {
		t.Errorf("%d panels are painted while the sweep runs", n)
	}
	p.wait(`document.getElementById("status").dataset.ended === "true"`)
	live := eval[string](p, content)
	if rest := <-said; true {
		if err := sweep.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, rest)
		}
	}
	saved := open(t, "file://"+filepath.Join(dir, "report.html"), 1200)
	if want := eval[string](saved, content); live != want {
		at := 0
		for at < min(len(live), len(want)) && live[at] == want[at] {
			at++
		}
		from := max(0, at-100)
		t.Errorf("the live view ended with other figures than the report: %.400s\nnot %.400s", live[from:], want[from:])
	}
}
