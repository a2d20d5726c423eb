package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"kneesweep/config"
	"kneesweep/nightly"
	"kneesweep/record/history"
)

// short settings of a sweep, as a file.
const shortSettings = "levels: [1, 2, 4, 8]\nmeasurements: 2\nwindow: 100ms\nwarmup: 1\noutput-tokens: 8\n"

// TestNightlyOnce: the one-shot mode sweeps into its folder and the history, and a
// gate that does not hold is its exit code.
func TestNightlyOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, settings := filepath.Join(dir, "h.db"), write(t, "s.yaml", shortSettings)
	r := command("nightly", "--once", "--config", settings, "--history", db, "--out", dir, "--name", "tests")
	if !swept(r) || len(runsOf(t, db)) != 1 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "tests-*", curveFile)); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	r = command("nightly", "--once", "--config", settings, "--history", db, "--out", filepath.Join(dir, "b"), "--require", "knee.plateau_tokens_per_second >= 1000000")
	if r.code != exitMissed && r.code != exitNoCurve || !strings.Contains(r.err, "level=ERROR") || len(runsOf(t, db)) != 2 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestNightlyHeld: while another host sweeps the target, the one-shot mode does not.
func TestNightlyHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "h.db")
	at, err := history.ParseAddress(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := history.Open(t.Context(), at, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	settings := write(t, "s.yaml", shortSettings+"url: http://127.0.0.1:1/v1/\nmodel: m\napi-key: ${"+keyVariable+"}\n")
	lease := history.Lease{Target: "http://127.0.0.1:1/v1", Holder: "elsewhere/1", Expires: time.Now().Add(time.Hour)}
	if _, err := db.Acquire(t.Context(), lease, time.Now()); err != nil {
		t.Fatal(err)
	}
	r := command("nightly", "--once", "--config", settings, "--history", file, "--out", filepath.Join(dir, "n"))
	if r.code != exitFailed || !strings.Contains(r.err, "is being swept by elsewhere/1") || exists(filepath.Join(dir, "n")) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestHistoryStarts shows what became of starts, the newest first.
func TestHistoryStarts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "h.db")
	at, err := history.ParseAddress(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := history.Open(t.Context(), at, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	due := time.Date(2026, 11, 1, 2, 30, 0, 0, time.UTC)
	for i, outcome := range []string{"done", "missed", "failed"} {
		if _, err := db.ClaimStart(t.Context(), history.Start{Job: "j", Due: due.AddDate(0, 0, i), Host: "h/1", Outcome: outcome, Note: "why " + outcome}); err != nil {
			t.Fatal(err)
		}
	}
	r := command("history", "starts", "--history", file)
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); r.code != 0 || len(lines) != 4 || strings.Join(strings.Fields(lines[1]), " ") != "2026-11-03 02:30 j failed h/1 why failed" {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	doc := object(t, command("history", "starts", "--json", "--outcome", "missed", "--history", file).out)
	if all := doc["starts"].([]any); len(all) != 1 || doc["schema"] != startsSchema || !strings.Contains(fmt.Sprint(all[0]), "why missed") {
		t.Errorf("%v", doc)
	}
	if r := command("history", "starts", "--limit", "0", "--history", file); r.code != exitUsage || !strings.Contains(r.err, "--limit: 0, need at least 1") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestNightlyUsage(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	twice := write(t, "twice.yaml", "jobs:\n  - {name: a, schedule: '0 1 * * *'}\n  - {name: a, schedule: '0 1 * * *'}\n")
	unknown := write(t, "unknown.yaml", "jobs:\n  - {name: a, shedule: '0 1 * * *'}\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--once"}, "--history: needed"},
		{[]string{"--history", db}, "--schedule: needed"},
		{[]string{"--history", db, "--schedule", "30 2 * *"}, "write MINUTE HOUR DAY MONTH WEEKDAY"},
		{[]string{"--history", db, "--schedule", "30 2 * * *", "--tz", "Nowhere"}, "no time zone"},
		{[]string{"--history", db, "--once", "--config", "missing.yaml"}, "--config: missing.yaml"},
		{[]string{"--history", db, "--once", "--require", "knee >"}, "--require"},
		{[]string{"--history", db, "--jobs", twice, "--tz", "UTC"}, "--jobs and --tz"},
		{[]string{"--history", db, "--jobs", twice}, "that of another job"},
		{[]string{"--history", db, "--jobs", unknown}, "shedule"},
	} {
		if r := command(append([]string{"nightly"}, c.args...)...); r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit %d: %s, want %s", c.args, r.code, r.err, c.want)
		}
	}
	if exists(db) {
		t.Error("a usage error made a history")
	}
}

// calls are calls of the program in text.
var calls = regexp.MustCompile(`(?:bin/kneesweep |ENTRYPOINT \[|args: \[|\$ |# )?(?:kneesweep )?(nightly,? --[^\n]*)`)

// TestDeploy: what is under deploy/ parses, and the flags that it names exist.
func TestDeploy(t *testing.T) {
	t.Parallel()
	const folder = "../../deploy"
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, f := range files {
		text := read(t, filepath.Join(folder, f.Name()))
		for _, call := range calls.FindAllStringSubmatch(text, -1) {
			for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(call[1], -1) {
				named++
				if flagNamed(nightlyCommand().Flags, flag[1]) == nil {
					t.Errorf("%s: nightly has no --%s", f.Name(), flag[1])
				}
			}
		}
		switch {
		case f.Name() == "jobs.yaml":
			jobs, err := config.ParseJobs(f.Name(), []byte(text))
			if err != nil || len(jobs) != 2 {
				t.Errorf("%d jobs: %v", len(jobs), err)
			}
			for _, j := range jobs {
				if _, err := nightly.ParseSchedule(j.Schedule, j.TZ); err != nil {
					t.Error(err)
				}
			}
		case filepath.Ext(f.Name()) == ".yaml":
			manifest(t, text)
		case filepath.Ext(f.Name()) == ".service", filepath.Ext(f.Name()) == ".timer":
			for line := range strings.Lines(text) {
				if !regexp.MustCompile(`^(#.*|\[[A-Z][a-z]+\]|[A-Z][A-Za-z]+=.+|)\n$`).MatchString(line) {
					t.Errorf("%s: %q is no line of a unit", f.Name(), line)
				}
			}
		}
	}
	if named < 9 {
		t.Errorf("%d flags found in %d files", named, len(files))
	}
}

// manifest checks the documents of Kubernetes, and the settings inside.
func manifest(t *testing.T, text string) {
	t.Helper()
	var kinds []string
	for d := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var doc struct {
			APIVersion string            `yaml:"apiVersion"`
			Kind       string            `yaml:"kind"`
			Data       map[string]string `yaml:"data"`
			Spec       struct {
				Schedule string `yaml:"schedule"`
				TimeZone string `yaml:"timeZone"`
			} `yaml:"spec"`
		}
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, doc.APIVersion+" "+doc.Kind)
		for name, settings := range doc.Data {
			if _, err := config.Parse(name, []byte(settings), configKeys(sweepCommand().Flags)); err != nil {
				t.Error(err)
			}
		}
		if doc.Kind == "CronJob" {
			if _, err := nightly.ParseSchedule(doc.Spec.Schedule, doc.Spec.TimeZone); err != nil {
				t.Error(err)
			}
		}
	}
	if got := strings.Join(kinds, ", "); got != "v1 ConfigMap, batch/v1 CronJob" {
		t.Error(got)
	}
}
