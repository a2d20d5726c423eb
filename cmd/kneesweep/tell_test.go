package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kneesweep/load"
	"kneesweep/record/prom"
)

// listener keeps what is sent to it, and answers with a status.
type listener struct {
	mu     sync.Mutex
	bodies []string
	url    string
}

func listen(t *testing.T, status int, header ...string) *listener {
	t.Helper()
	l := &listener{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.bodies = append(l.bodies, r.Method+" "+r.URL.Path+" "+string(b))
		l.mu.Unlock()
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	l.url = s.URL
	return l
}

func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bodies
}

// TestTold: whoever is named hears how a sweep ended.
func TestTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hook, slack, gateway := listen(t, 200), listen(t, 204), listen(t, 202)
	file, db := filepath.Join(dir, "k.prom"), filepath.Join(dir, "h.db")
	out := filepath.Join(dir, "run")
	r := command(quick("--quiet", "--json", "--label", "tues<day>", "--out", out, "--history", db, "--webhook", hook.url+"/hook-s3cret", "--metrics-file", file, "--pushgateway", gateway.url)...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if got := hook.all(); len(got) != 1 {
		t.Fatalf("%d posts: %s", len(got), r.err)
	}
	text, ok := strings.CutPrefix(hook.all()[0], "POST /hook-s3cret ")
	said := object(t, text)
	if !ok || at(t, said, "schema") != noticeSchema || at(t, said, "run") != at(t, doc, "run.id") || at(t, said, "verdict") != at(t, doc, "knee.verdict") || at(t, said, "label") != "tues<day>" {
		t.Errorf("told %s", text)
	}
	if at(t, said, "failure") == nil {
		if sentence := at(t, said, "sentence").(string); !strings.Contains(strings.Join(strings.Fields(command("analyze", out).out), " "), strings.Join(strings.Fields(sentence), " ")) {
			t.Errorf("the sentence is not that of the table: %q", sentence)
		}
		if at(t, said, "history.verdict") != "not_enough_history" || !strings.Contains(r.err, "against the history: Not enough history: 1 of the 4 runs") {
			t.Errorf("of the history: %v; %s", at(t, said, "history"), r.err)
		}
	}
	if text := read(t, file); !strings.Contains(text, "kneesweep_success{") || !strings.Contains(text, `label="tues<day>"`) {
		t.Errorf("the file: %s", text)
	}
	if got := gateway.all(); len(got) != 1 || !strings.HasPrefix(got[0], "PUT /metrics/job/kneesweep/") {
		t.Errorf("the gateway got %d", len(got))
	}
	unwritten(t, out, r, "hook-s3cret")

	r = command(quick("--quiet", "--label", "tues<day>", "--out", filepath.Join(dir, "again"), "--webhook", slack.url, "--webhook-format", "slack")...)
	if got := slack.all(); !swept(r) || len(got) != 1 || !strings.Contains(got[0], `POST / {"text":"*embedded simulated endpoint · sim · tues\u0026lt;day\u0026gt;*\n`) {
		t.Errorf("exit %d, Slack was told %q: %s", r.code, got, r.err)
	}
}

// TestNobodyListens: who cannot be told is warned of, without the address, and neither
// the result nor the exit code changes.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	broken, gone, moved := listen(t, 500), listen(t, 404), listen(t, 307, "Location", "http://127.0.0.1:1/elsewhere")
	for _, c := range []struct {
		flag, value, want string
		heard             *listener
		times             int
	}{
		{"webhook", broken.url + "/key-s3cret", "HTTP 500", broken, postTries},
		{"webhook", gone.url + "/key-s3cret", "HTTP 404", gone, 1},
		{"webhook", moved.url + "/key-s3cret", "HTTP 307: it redirects, which is not followed", moved, 1},
		{"webhook", "http://127.0.0.1:1/key-s3cret", "connection refused", nil, 0},
		{"pushgateway", "http://u:key-s3cret@127.0.0.1:1", "connection refused", nil, 0},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		r := command(quick("--quiet", "--out", dir, "--"+c.flag, c.value)...)
		if !swept(r) || !exists(filepath.Join(dir, curveFile)) || !strings.Contains(r.err, "warning: --"+c.flag+": 127.0.0.1:") || !strings.Contains(r.err, c.want) {
			t.Errorf("%s %s: exit %d: %s", c.flag, c.want, r.code, r.err)
		}
		if c.heard != nil && len(c.heard.all()) != c.times {
			t.Errorf("%s: %d posts", c.want, len(c.heard.all()))
		}
		unwritten(t, dir, r, "key-s3cret")
	}
}

// TestDeadEndpointIsTold: a sweep that could not begin is what somebody must hear of.
func TestDeadEndpointIsTold(t *testing.T) {
	t.Parallel()
	hook := listen(t, 200)
	r := command("sweep", "--url", "http://127.0.0.1:1/v1", "--model", "m", "--quiet", "--out", filepath.Join(t.TempDir(), "run"), "--webhook", hook.url)
	got := hook.all()
	if r.code != exitFailed || len(got) != 1 || !strings.Contains(got[0], `"sentence":"The sweep has no curve: the preflight failed (connect)"`) {
		t.Errorf("exit %d, told %q", r.code, got)
	}
}

func TestTellUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--webhook s3cret", "--webhook: not an address such as https://host/path"},
		{"--webhook ftp://s3cret/x", "--webhook: not an address"},
		{"--pushgateway :s3cret", "--pushgateway: not an address"},
		{"--webhook-format slack", "--webhook-format: works with --webhook"},
		{"--webhook http://h/x --webhook-format s3cret2", "--webhook-format: \"s3cret2\", need json or slack"},
		{"--metrics-file k.txt", "--metrics-file: \"k.txt\" must end in .prom"},
		{"--metrics-file none/k.prom", "--metrics-file: none is no folder"},
	} {
		r := command(append([]string{"sweep", "--url", "", "--out", filepath.Join(t.TempDir(), "run")}, strings.Fields(c.args)...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "kneesweep: "+c.want) || strings.Contains(strings.ReplaceAll(r.err, "s3cret2", ""), "s3cret") {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
	r := command("sweep", "--url", "", "--dry-run", "--webhook", "http://h/key-s3cret", "--pushgateway", "http://u:key-s3cret@h")
	if r.code != 0 || strings.Contains(r.out+r.err, "key-s3cret") || !strings.Contains(r.out, "webhook") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// TestUIServesMetrics from the moment the sweep begins.
func TestUIServesMetrics(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	u, err := startUI("127.0.0.1:0", &said)
	if err != nil {
		t.Fatal(err)
	}
	defer u.close()
	address := strings.TrimSpace(strings.TrimPrefix(said.String(), "live view: ")) + "metrics"
	get := func() (int, string) {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	if code, _ := get(); code != http.StatusServiceUnavailable {
		t.Errorf("before the sweep: HTTP %d", code)
	}
	m := prom.New(load.Run{Target: "http://llm/v1", Model: "m"})
	u.serveMetrics(m.Handler())
	m.Sample(&load.Sample{})
	if code, text := get(); code != http.StatusOK || !strings.Contains(text, `kneesweep_requests_total{label="",model="m",outcome="ok",target="http://llm/v1"} 1`) {
		t.Errorf("HTTP %d: %s", code, text)
	}
}
