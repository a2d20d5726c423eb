package main

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestParseTarget(t *testing.T) {
	t.Setenv("OTHER_KEY", "sk-other-key")
	for _, c := range []struct{ value, name, url, model, key, headers, fault string }{
		{value: "a=http://h/v1", name: "a", url: "http://h/v1"},
		{value: "a-1=http://h/v1?x=1, model=org/m:8b,key-env=OTHER_KEY", name: "a-1", url: "http://h/v1?x=1", model: "org/m:8b", key: "sk-other-key"},
		{value: "a=http://h,header=X-A: 1, 2,header=X-B: p=q,model=m", name: "a", url: "http://h", model: "m", headers: "X-A: 1, 2|X-B: p=q"},
		{value: "http://h/v1", fault: "not NAME=URL"},
		{value: "a/b=http://h", fault: "names a folder"},
		{value: "..=http://h", fault: "names a folder"},
		{value: "curve.png=http://h", fault: "that of a file"},
		{value: "a=,model=m", fault: "a: no address"},
		{value: "a=http://h,model=", fault: "a: model= is empty"},
		{value: "a=http://h,modal=m", fault: "a: there is no option modal="},
		{value: "a=http://h,model=m,headers=X: hidden", fault: "a: there is no option headers="},
		{value: "a=http://h,key-env=sk-hidden", fault: "a: key-env: there is no such environment variable"},
		{value: "a=http://h,key-env=NOT_THERE", fault: "a: key-env: the environment variable NOT_THERE is empty"},
		{value: "a=http://h,header=hidden", fault: "a: header: number 1 is not 'Name: value'"},
	} {
		name, a, err := parseTarget(c.value)
		if err != nil || c.fault != "" {
			if err == nil || c.fault == "" || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%q: %v, want %q", c.value, err, c.fault)
			}
			continue
		}
		var headers []string
		for k, v := range a.headers {
			headers = append(headers, k+": "+strings.Join(v, ";"))
		}
		slices.Sort(headers)
		if name != c.name || a.url != c.url || a.model != c.model || a.key != c.key || strings.Join(headers, "|") != c.headers {
			t.Errorf("%q: %q %+v", c.value, name, a)
		}
	}
}

// What does not go together is said at once, each line naming the flag.
func TestTargetsRefused(t *testing.T) {
	const a, b = "a=http://127.0.0.1:1/v1,model=m", "b=http://127.0.0.1:1/v1,model=m"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--target", a}, "--target: needs another one"},
		{[]string{"--target", a, "--target", "A=http://127.0.0.1:1/v1,model=m"}, "--target: A: two have this name"},
		{[]string{"--target", a, "--target", "b=http://127.0.0.1:1/v1"}, "--target: b: no model"},
		{[]string{"--target", a, "--target", "b=ftp://h,model=m"}, `--target: b: url: scheme "ftp"`},
		{[]string{"--target", a, "--target", b, "--url", "http://h"}, "--target and --url: give one"},
		{[]string{"--target", a, "--target", b, "--label", "l"}, "--target and --label:"},
		{[]string{"--target", a, "--target", b, "--confirm"}, "--target and --confirm:"},
		{[]string{"--target", a, "--target", b, "--metrics", "http://h/metrics"}, "--target and --metrics:"},
		{[]string{"--target", a, "--target", b, "--dialect", "x"}, "--dialect:"},
	} {
		r := command(append([]string{"sweep"}, c.args...)...)
		if r.code != exitUsage || strings.Count(r.err, c.want) != 1 {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// TestTargets sweeps two endpoints in turn; each gets its own key, and nobody's key
// is written.
func TestTargets(t *testing.T) {
	t.Setenv("FIRST_KEY", "sk-first-0123456789")
	t.Setenv("OPENAI_API_KEY", "sk-of-another-server")
	var mu sync.Mutex
	var keys [2]string
	serve := func(i int) string {
		return endpoint(t, func(next served) served {
			return func(w http.ResponseWriter, r *http.Request) {
				if k := r.Header.Get("Authorization") + r.Header.Get("X-Token"); k != "" && strings.HasSuffix(r.URL.Path, "/completions") {
					mu.Lock()
					keys[i] = k
					mu.Unlock()
				}
				next(w, r)
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "both")
	r := command(quick("--json", "--model", "sim", "--out", dir,
		"--target", "first="+serve(0)+",key-env=FIRST_KEY", "--target", "second="+serve(1)+",header=X-Token: second-token-42")...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if keys != [2]string{"Bearer sk-first-0123456789", "second-token-42"} {
		t.Errorf("the servers were sent %q", keys)
	}
	doc := object(t, r.out)
	if at(t, doc, "schema") != "kneesweep/targets/v1" || len(doc["targets"].([]any)) != 2 || len(doc["comparisons"].([]any)) != 1 {
		t.Errorf("the document is %s", r.out)
	}
	if r.out != read(t, filepath.Join(dir, comparisonJSONFile)) {
		t.Error("stdout and comparison.json differ")
	}
	if text := read(t, filepath.Join(dir, comparisonFile)); !strings.Contains(text, "## second against first") || !strings.Contains(text, "](<first/report.md>)") {
		t.Errorf("comparison.md: %s", text)
	}
	for _, name := range []string{figureFile, "first/" + curveFile, "first/" + journalFile, "second/" + reportFile, "second/" + figureFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	comparedAgain(t, dir, doc)
	unwritten(t, dir, r, "sk-first-0123456789", "second-token-42", "sk-of-another-server")
	if again := command(quick("--model", "sim", "--out", dir, "--target", "a="+serve(0), "--target", "b="+serve(1))...); again.code != exitFailed || !strings.Contains(again.err, "exists already") {
		t.Errorf("the same folder again: exit %d: %s", again.code, again.err)
	}
}

// comparedAgain compares the targets from what was kept of them: the same comes out.
func comparedAgain(t *testing.T, dir string, doc map[string]any) {
	t.Helper()
	again := command("compare", "--json", dir)
	if got := object(t, again.out); again.code != compareExit(t, doc) || !reflect.DeepEqual(got["comparisons"], doc["comparisons"]) {
		t.Errorf("compare: exit %d: %s%s", again.code, again.out, again.err)
	}
	if r := command("compare", filepath.Join(dir, "second")+"/", filepath.Join(dir, "first"), "-o", filepath.Join(dir, "x.svg")); !strings.Contains(r.out, "first/second") || r.code == exitUsage {
		t.Errorf("compare the other way round: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := command("compare", "--markdown", dir); !strings.Contains(r.out, "## second against first") {
		t.Errorf("compare --markdown: %s%s", r.out, r.err)
	}
	if r := command("compare", filepath.Join(dir, "first")); r.code != exitUsage || !strings.Contains(r.err, "or the folder of a sweep of several targets") {
		t.Errorf("compare of one run: exit %d: %s", r.code, r.err)
	}
}

// compareExit is the exit code of a comparison with these verdicts.
func compareExit(t *testing.T, doc map[string]any) int {
	t.Helper()
	switch at(t, doc["comparisons"].([]any)[0], "verdict") {
	case "regression":
		return exitMissed
	case "cannot_tell":
		return exitNoCurve
	}
	return 0
}

// unwritten wants secrets neither in the files below a folder nor in what was said.
func unwritten(t *testing.T, dir string, r result, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(r.out+r.err, s) {
			t.Errorf("%s is said", s)
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(read(t, path), s) {
				t.Errorf("%s is in %s", s, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// With one target dead nothing is measured: its folder says why, and may be used
// again.
func TestTargetsOneDead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "both")
	args := quick("--model", "sim", "--out", dir, "--target", "alive="+endpoint(t, func(next served) served { return next }), "--target", "dead=http://127.0.0.1:1/v1")
	for range 2 {
		r := command(args...)
		if r.code != exitFailed || !strings.Contains(r.err, "dead: preflight:") || !strings.Contains(r.err, "check the address in --target") {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
		if _, err := os.Stat(filepath.Join(dir, "alive")); err == nil {
			t.Error("the folder of the target that is alive was kept")
		}
		if text := read(t, filepath.Join(dir, "dead", reportFile)); !strings.Contains(text, "connect") {
			t.Errorf("the report: %s", text)
		}
	}
}
