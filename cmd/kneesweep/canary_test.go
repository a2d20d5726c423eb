package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/sim"
)

// distracted is an endpoint whose answers are of other words with more than eight
// sequences in the batch.
func distracted(t *testing.T) (url string) {
	t.Helper()
	e, err := sim.New(sim.Config{Slots: 24, StepBase: time.Millisecond, WorseAbove: 8, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(e)
	t.Cleanup(func() { s.Close(); e.Close() })
	return s.URL + "/v1"
}

// TestCanary: answers that get worse with the load are counted, said, and kept to be
// looked at; in every dialect, streaming and not.
func TestCanary(t *testing.T) {
	t.Parallel()
	birds := write(t, "birds.jsonl", "{\"prompt\":\"Where does it stop?\",\"contains\":\"knee\"}\n{\"prompt\":\"And twice?\",\"regex\":\"^(knee ?)+$\",\"max_tokens\":2}\n")
	for _, how := range [][]string{{"--dialect", "chat"}, {"--dialect", "chat", "--no-stream"}, {"--dialect", "completions"}, {"--dialect", "responses", "--no-stream"}, {"--dialect", "anthropic"}} {
		t.Run(strings.Join(how, " "), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			r := command(append([]string{"sweep", "--url", distracted(t), "--model", "sim", "--canary", birds, "--canary-share", "50%", "--output-tokens", "4", "--levels", "1,24",
				"--measurements", "4", "--window", "150ms", "--quiet", "--json", "--out", dir}, how...)...)
			if !swept(r) {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			checkRun(t, r, dir)
			doc := object(t, r.out)
			steps := at(t, doc, "steps").([]any)
			if asked, passed := at(t, steps[0], "canary.asked").(float64), at(t, steps[0], "canary.passed"); asked < 10 || passed != asked || at(t, steps[0], "canary.pass_rate_hi") != 1.0 {
				t.Errorf("one stream: %v of %v", passed, asked)
			}
			if asked, passed := at(t, steps[1], "canary.asked").(float64), at(t, steps[1], "canary.passed").(float64); asked < 20 || passed > 0.7*asked {
				t.Errorf("24 streams: %v of %v", passed, asked)
			}
			if at(t, steps[0], "valid") == true && at(t, steps[1], "valid") == true && !strings.Contains(r.out, "were answered as expected") {
				t.Errorf("no warning in %s", r.out)
			}
			if source := at(t, doc, "run.request.source").(string); !strings.HasSuffix(source, ", every 2nd a canary of the 2 in birds.jsonl") {
				t.Errorf("source %q", source)
			}
			if table := command("analyze", dir); !strings.Contains(table.out, "canaries") {
				t.Errorf("table\n%s", table.out)
			}
			if md := read(t, filepath.Join(dir, "report.md")); !strings.Contains(md, "canaries") {
				t.Error("nothing of canaries in report.md")
			}
			if journal := read(t, filepath.Join(dir, "journal.jsonl")); !strings.Contains(journal, `"text":"sway sway`) || strings.Contains(journal, `"text":"knee`) {
				t.Error("the journal does not show the answers that were not as expected, or shows others")
			}
		})
	}
}

func TestCanaryUsage(t *testing.T) {
	t.Parallel()
	good := write(t, "good.jsonl", "{\"prompt\":\"a\",\"exact\":\"b\"}\n")
	bad := write(t, "bad.jsonl", "{\"prompt\":\"a\",\"exact\":\"b\"}\n{\"prompt\":\"a\"}\n")
	trace := write(t, "t.csv", "timestamp,input,output\n0,1,2\n1,1,2\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--canary", bad}, "--canary: " + bad + ": line 2: says nothing of the answer"},
		{[]string{"--canary", "none.jsonl"}, "--canary: none.jsonl: "},
		{[]string{"--canary", good, "--canary-share", "0"}, "--canary-share: 0, need more than 0 and at most 50%"},
		{[]string{"--canary", good, "--canary-share", "60%"}, "--canary-share: 60%, need"},
		{[]string{"--canary", good, "--canary-share", "x"}, "--canary-share: \"x\" is not a share"},
		{[]string{"--canary-share", "5%"}, "--canary-share: works with --canary"},
		{[]string{"--canary", good, "--rates", "1,2"}, "--canary and --rates: "},
		{[]string{"--canary", good, "--replay", trace}, "--canary and --replay: "},
	} {
		r := command(append([]string{"sweep", "--url", "", "--out", filepath.Join(t.TempDir(), "run")}, c.args...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: "+c.want) || r.out != "" {
			t.Errorf("%q: exit %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
	if r := command("sweep", "--url", "", "--dry-run", "--canary", good, "--cache", "warm"); r.code != 0 {
		t.Errorf("with --cache warm: exit %d: %s", r.code, r.err)
	}
}
