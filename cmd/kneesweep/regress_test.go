package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/internal/accuracy"
	"kneesweep/report"
)

// season is a history of twelve quiet nights and the files of two more: a quiet one, and one
// with a third of the knee gone.
func season(t *testing.T) (db, quiet, bad string) {
	t.Helper()
	dir := t.TempDir()
	n := accuracy.Nights{
		Levels: []int{1, 4, 8, 16, 24, 32, 48}, Rate: 100, Noise: 0.10, Nightly: 0.02, Windows: 5,
		Knee: func(night int) float64 {
			if night == 14 {
				return 16
			}
			return 24
		},
	}
	var files []string
	for night := 1; night <= 14; night++ {
		c, _ := n.Run(night, 4)
		c.Run.Tool, c.Run.Target, c.Run.Model = "kneesweep test", "http://llm/v1", "m"
		b, err := report.MarshalCurve(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%02d.json", night))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	db = filepath.Join(dir, "h.db")
	if r := command(append([]string{"history", "import", "--history", db}, files[:12]...)...); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	return db, files[12], files[13]
}

// TestCheckAgainstHistory: exit codes, the sentence, and what CI reads.
func TestCheckAgainstHistory(t *testing.T) {
	t.Parallel()
	db, quiet, bad := season(t)
	junit := filepath.Join(t.TempDir(), "junit.xml")
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	r := command("check", "--history", db, "--require", "knee.concurrency >= 20", "--junit", junit, quiet)
	if r.code != 0 || !strings.Contains(r.out, "No change: every figure lies where the 12 runs before it lead to expect it.") {
		t.Errorf("a quiet night: exit %d: %s%s", r.code, r.out, r.err)
	}
	if err := xml.Unmarshal([]byte(read(t, junit)), &suite); err != nil || suite.Tests != 2 || suite.Failures != 0 {
		t.Errorf("%v: %+v", err, suite)
	}
	r = command("check", "--history", db, "--junit", junit, bad)
	if r.code != exitMissed || !strings.Contains(r.out, "fails  no regression  Regression since 2027-03-20: ") {
		t.Errorf("a bad night: exit %d: %s%s", r.code, r.out, r.err)
	}
	suite.Cases = nil
	if err := xml.Unmarshal([]byte(read(t, junit)), &suite); err != nil || suite.Tests != 1 || suite.Failures != 1 || !strings.HasPrefix(suite.Cases[0].Failure.Message, "Regression since ") {
		t.Errorf("%v: %+v", err, suite)
	}
	doc := object(t, command("check", "--json", "--history", db, bad).out)
	if at(t, doc, "holds") != false || at(t, doc, "history.verdict") != "regression" || at(t, doc, "history.runs") != 13.0 || at(t, doc, "history.since") != "2027-03-20T02:30:00Z" {
		t.Errorf("%v", doc)
	}
	if s := at(t, doc, "history.shifts").([]any)[0]; at(t, s, "worse") != true || at(t, s, "p").(float64) > 0.01 {
		t.Errorf("%v", s)
	}
	if r := command("check", "--markdown", "--history", db, bad); r.code != exitMissed || !strings.Contains(r.out, "| **fails** | `no regression` | Regression since 2027-03-20") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if r := command("history", "import", "--history", empty, bad); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := command("check", "--history", empty, bad); r.code != 0 || !strings.Contains(r.out, "Not enough history: 1 of the 4 runs") {
		t.Errorf("no history: exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--history", filepath.Join(t.TempDir(), "none.db"), quiet}, exitFailed, "--history: "},
		{[]string{"--history", db}, exitUsage, "check needs a FILE"},
		{[]string{"--history", "", quiet}, exitUsage, "--history: "},
		{[]string{"--history", db, "--json", "--markdown", quiet}, exitUsage, "--json and --markdown: "},
		{[]string{"--history", db, "--junit", filepath.Join(t.TempDir(), "no", "x.xml"), quiet}, exitFailed, "--junit: "},
	} {
		if r := command(append([]string{"check"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// TestTrendMarksChanges in the table, in JSON and in the chart.
func TestTrendMarksChanges(t *testing.T) {
	t.Parallel()
	db, quiet, bad := season(t)
	if r := command("history", "import", "--history", db, quiet, bad); r.code != 0 {
		t.Fatal(r.err)
	}
	doc := object(t, command("history", "trend", "--json", "--history", db).out)
	events := at(t, doc, "events").([]any)
	if len(events) != 1 || at(t, events[0], "run") != "night-14" || at(t, events[0], "since") != "night-14" || at(t, events[0], "worse") != true {
		t.Fatalf("%v", events)
	}
	if r := command("history", "trend", "--history", db); !strings.Contains(r.out, "Regression since 2027-03-20: ") {
		t.Errorf("%s%s", r.out, r.err)
	}
	chart := filepath.Join(t.TempDir(), "trend.svg")
	if r := command("history", "trend", "--history", db, "-o", chart); r.code != 0 || !strings.Contains(read(t, chart), ">regression<") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestHistoryWeek draws the hours of a zone, and refuses what cannot be drawn.
func TestHistoryWeek(t *testing.T) {
	t.Parallel()
	db, _, _ := season(t)
	chart := filepath.Join(t.TempDir(), "w.svg")
	r := command("history", "week", "--history", db, "--figure", "ttft", "--at", "16", "--tz", "Europe/Berlin", "-o", chart)
	if text := read(t, chart); r.code != 0 || !strings.Contains(text, "Median time to first token at N = 16, ms") || !strings.Contains(text, "12 runs · hours of Europe/Berlin") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--figure x", exitUsage, "--figure: \"x\", need plateau, knee, rate or ttft"},
		{"--figure rate", exitUsage, "--at: --figure rate is that of one level"},
		{"--at 3", exitUsage, "--at: works with --figure rate or ttft"},
		{"-o x.gif", exitUsage, "-o: \"x.gif\" must end in one of"},
		{"--tz Mars", exitUsage, "--tz: \"Mars\" is no time zone"},
		{"--figure rate --at 99", exitNoCurve, "none of 12 runs has that figure"},
	} {
		if r := command(append([]string{"history", "week", "--history", db}, strings.Fields(c.args)...)...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
