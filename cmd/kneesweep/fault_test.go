package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/report"
)

// TestPreflight sends one request to endpoints that are no good: exit code 1, the
// reason and what to change, and an account of it in every file.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer served
		want   []string
	}{
		{"no key", says(401, "application/json", `{"error":{"message":"no key"}}`), []string{"(http_401): no key", "check the key (--api-key-env)"}},
		{"wrong path", says(404, "text/plain", "404 page not found"), []string{"(http_404): 404 page not found", "the path in --url and the name in --model"}},
		{"unknown field", says(422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`),
			[]string{"(http_422)", "stream_options", "--omit-field"}},
		{"throttled", says(429, "text/plain", "slow down"), []string{"(http_429): slow down", "throttling"}},
		{"broken", says(500, "text/plain", "boom\nsecond line\x1b[31m red"), []string{"(http_500): boom second line[31m red", "kneesweep ping"}},
		{"login page", says(200, "text/html", "<html>Login</html>"), []string{"(not_a_stream)", "Login"}},
		{"garbage", says(200, "application/octet-stream", "\x00\x01\xff\xfe garbage"), []string{"(not_a_stream)"}},
		{"garbage stream", says(200, "text/event-stream", "data: {\"x\n\ndata: \xff\n\n"), []string{"(malformed)"}},
		{"nothing", says(200, "text/event-stream", ""), []string{"(truncated)"}},
		{"error in 200", says(200, "application/json", `{"error":{"message":"model is loading"}}`), []string{"(stream_error): model is loading"}},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, []string{"(reset)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := endpoint(t, func(served) served { return c.answer })
			checkPreflight(t, url, "sim", c.want)
		})
	}
	checkPreflight(t, "http://127.0.0.1:1/v1", "m", []string{"(connect): --url: ", "refused", "check --url, and that the server is up"})
	url := endpoint(t, func(next served) served { return next })
	checkPreflight(t, url, "gpt-0", []string{"(http_404)", `model "gpt-0" does not exist`, "--model"})
}

func checkPreflight(t *testing.T, url, model string, want []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r := command("sweep", "--url", url, "--model", model, "--json", "--out", dir)
	if r.code != exitFailed || strings.Count(r.err, "\n") != 3 || strings.ContainsRune(r.err, '\x1b') {
		t.Errorf("exit %d, stdout %q, stderr\n%s", r.code, r.out, r.err)
	}
	for _, w := range append(want, "kneesweep: preflight: one request to "+url, "kneesweep: nothing was measured; ") {
		if !strings.Contains(r.err, w) {
			t.Errorf("no %q in\n%s", w, r.err)
		}
	}
	curve, err := report.ReadCurve(strings.NewReader(read(t, filepath.Join(dir, curveFile))))
	if err != nil {
		t.Fatal(err)
	}
	if p := curve.Run.Preflight; p == nil || curve.Run.Status != load.StatusStopped || !strings.Contains(r.err, "("+string(p.Cause)+")") {
		t.Errorf("status %s, preflight %+v", curve.Run.Status, p)
	}
	if r.out != read(t, filepath.Join(dir, curveFile)) {
		t.Errorf("stdout is not curve.json: %s", r.out)
	}
	page := read(t, filepath.Join(dir, reportFile))
	if row := "| preflight | " + strings.ReplaceAll(string(curve.Run.Preflight.Cause), "_", `\_`) + " | 1 |"; !strings.Contains(page, row) {
		t.Errorf("no %q in\n%s", row, page)
	}
	again := command("analyze", filepath.Join(dir, journalFile), "--json")
	if again.code != 0 || again.out != r.out {
		t.Errorf("the journal does not give curve.json again: exit %d\n%s%s", again.code, again.err, again.out)
	}
}

const (
	testKey    = "sk-test-0123456789abcdef"
	testHeader = "hdr-secret-42"
	testUser   = "hunter2-secret"
)

// TestSecretsStaySecret has a server that puts the secrets into everything that it
// answers, well or badly: they reach no file and neither output.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	echo := func(r *http.Request) string {
		_, password, _ := r.BasicAuth()
		return strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.URL.Query().Get("key"), password}, " ")
	}
	good := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 5 {
			time.Sleep(4 * time.Millisecond)
			fmt.Fprintf(w, "data: {\"model\":\"%[1]s\",\"system_fingerprint\":\"%[1]s\",\"choices\":[{\"delta\":{\"content\":\"%[1]s\"}}]}\n\n", echo(r))
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"%s\"}]}\n\ndata: [DONE]\n\n", echo(r))
	}
	bad := func(w http.ResponseWriter, r *http.Request) {
		says(401, "application/json", `{"error":{"message":"Incorrect API key provided: `+echo(r)+`"}}`)(w, r)
	}
	var n atomic.Int64
	var answers atomic.Pointer[[]served]
	url := endpoint(t, func(served) served {
		list := *answers.Load()
		return list[min(int(n.Add(1)), len(list))-1]
	})
	literal := write(t, "literal.yaml", "api-key: "+testKey+"\nheader:\n  X-Api-Key: "+testHeader+"\n")
	named := write(t, "named.yaml", "api-key: ${"+keyVariable+"}\nheader: ['X-Api-Key: "+testHeader+"']\n")
	withUser := strings.Replace(url, "http://", "http://bob:"+testUser+"@", 1) + "?key=" + testHeader
	for _, c := range []struct {
		name    string
		url     string
		answers []served
		code    int
		args    []string
	}{
		{"sweep", url, []served{good}, 0, quick("-v")},
		{"sweep, failing later", withUser, []served{good, bad}, exitNoCurve, quick("-v", "--json", "--levels", "8")},
		{"preflight", url, []served{bad}, exitFailed, quick("-v")},
		{"ping", withUser, []served{good}, 0, []string{"ping"}},
		{"ping --json", url, []served{good}, 0, []string{"ping", "--json"}},
		{"failing ping", url, []served{bad}, exitFailed, []string{"ping", "--json"}},
		{"key by flag", url, []served{bad}, exitFailed, []string{"ping", "--api-key", testKey}},
		{"key by config", url, []served{bad}, exitFailed, []string{"ping", "--config", literal}},
		{"sweep by config", url, []served{good}, 0, quick("-v", "--config", named)},
		{"sweep by config, failing later", url, []served{good, bad}, exitNoCurve, quick("-v", "--json", "--levels", "8", "--config", literal)},
		{"preflight by config", url, []served{bad}, exitFailed, quick("-v", "--config", named)},
		{"plan by config", url, []served{bad}, 0, quick("--dry-run", "--json", "--config", literal)},
		{"usage by config", url, []served{bad}, exitUsage, quick("--config", named, "--passes", "0")},
		{"usage", "ht!tp://bob:" + testUser, []served{good}, exitUsage, []string{"ping"}},
		{"key for its name", url, []served{good}, exitUsage, []string{"ping", "--api-key-env", testKey}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n.Store(0)
			answers.Store(&c.answers)
			dir := t.TempDir()
			args := append(slices.Clone(c.args), "--url", c.url, "--model", "m")
			if !slices.Contains(args, "--config") {
				args = append(args, "--header", "X-Api-Key: "+testHeader)
				if c.name != "key for its name" {
					args = append(args, "--api-key-env", keyVariable)
				}
			}
			if c.args[0] == "sweep" {
				args = append(args, "--out", dir)
			}
			r := command(args...)
			if r.code != c.code && !(c.code == 0 && c.args[0] == "sweep" && swept(r)) {
				t.Errorf("exit %d, want %d: %s", r.code, c.code, r.err)
			}
			if hinted := strings.Contains(r.err, "hint: --api-key is visible"); hinted != (c.name == "key by flag") {
				t.Errorf("hint on the visible key: %v", hinted)
			}
			if hinted := strings.Contains(r.err, "hint: "+literal+":1: api-key: "); hinted != slices.Contains(args, literal) {
				t.Errorf("hint on the key in a file: %v", hinted)
			}
			checkSecret(t, "stdout", r.out)
			checkSecret(t, "stderr", r.err)
			_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
				if !e.IsDir() {
					checkSecret(t, e.Name(), read(t, path))
				}
				return nil
			})
		})
	}
}

func checkSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{testKey, testHeader, testUser} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s holds %s: …%.120s", where, secret, text[max(0, i-60):])
		}
	}
}
