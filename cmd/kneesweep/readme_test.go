package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const readme = "../../README.md"

// shellBlock is a fenced block of shell commands.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestReadme runs every command of the README that calls this program, so that no
// flag or command in it is out of date: sweeps are shortened, addresses are those
// of a simulated endpoint, files are written elsewhere.
func TestReadme(t *testing.T) {
	t.Parallel()
	lines := readmeCommands(t, readme)
	if len(lines) < 3 {
		t.Fatalf("%s shows %d commands: are they in blocks marked sh?", readme, len(lines))
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			url := endpoint(t, func(next served) served { return next })
			args := documented(t, line, url)
			if args[0] == "sim" {
				checkSimDocumented(t, args)
				return
			}
			r := command(args...)
			if r.code != 0 && !(args[0] == "sweep" && swept(r)) {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
		})
	}
}

// readmeCommands lists the arguments of the calls in a file's shell blocks. Lines
// with words to fill in, as <ADDRESS>, are left out; a backslash joins a line with the next.
func readmeCommands(t *testing.T, path string) []string {
	t.Helper()
	var calls []string
	for _, block := range shellBlock.FindAllStringSubmatch(read(t, path), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/kneesweep ")
			if ok && !strings.Contains(args, "<") {
				calls = append(calls, args)
			}
		}
	}
	return calls
}

// documented turns a documented call into one that is fast and harmless.
func documented(t *testing.T, line, url string) []string {
	t.Helper()
	args := words(line)
	for i := range args {
		if i == 0 {
			continue
		}
		switch args[i-1] {
		case "--url":
			args[i] = url
		case "--model":
			args[i] = embeddedModel
		case "--api-key-env":
			args[i] = keyVariable
		case "-o", "--out":
			args[i] = filepath.Join(t.TempDir(), filepath.Base(args[i]))
		default:
			if file := filepath.Join(filepath.Dir(readme), args[i]); exists(file) {
				args[i] = file
			}
		}
	}
	if args[0] == "sweep" {
		args = append(args, short...)
		if !slices.Contains(args, "--out") {
			args = append(args, "--out", filepath.Join(t.TempDir(), "run"))
		}
	}
	return args
}

// words splits a line as a shell does, with quotes and without anything else.
func words(line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`).FindAllString(line, -1) {
		out = append(out, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return out
}

// checkSimDocumented checks the flags of a server that would run for ever: with
// one of them wrong they are read and nothing is served.
func checkSimDocumented(t *testing.T, args []string) {
	t.Helper()
	r := command(append(args, "--slots", "0")...)
	if r.code != exitUsage || !strings.Contains(r.err, "--slots: 0") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestReadmeCommandsAreFound checks the reading of a README, and that a flag which
// does not exist is noticed.
func TestReadmeCommandsAreFound(t *testing.T) {
	path := write(t, "README.md", "text\n```sh\ngo run ./cmd/kneesweep sweep --json # why\nmake\ngo run ./cmd/kneesweep ping --url <ADDRESS>\n"+
		"go run ./cmd/kneesweep ping \\\n  --header 'K: a b'\n```\n```text\ngo run ./cmd/kneesweep no\n```\n```sh\ngo run ./cmd/kneesweep analyze x.csv --gone\n```\n")
	got := readmeCommands(t, path)
	if len(got) != 3 || got[0] != "sweep --json" || got[2] != "analyze x.csv --gone" {
		t.Fatalf("got %q", got)
	}
	if w := words(got[1]); len(w) != 3 || w[2] != "K: a b" {
		t.Errorf("got %q", w)
	}
	if r := command(words(got[2])...); r.code != exitUsage || !strings.Contains(r.err, "--gone") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if !exists(readme) {
		t.Error("there is no README")
	}
}
