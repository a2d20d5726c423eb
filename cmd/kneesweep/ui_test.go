package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/load"
)

// get asks a live view, under the name host unless that is empty.
func get(t *testing.T, method, address, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// view starts a live view and returns it with its address.
func view(t *testing.T, addr string) (*ui, string) {
	t.Helper()
	var stderr bytes.Buffer
	u, err := startUI(addr, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.close)
	return u, strings.TrimSpace(strings.TrimPrefix(stderr.String(), "live view: "))
}

// The live view shows, and takes nothing; other names that point here, and who has
// no token beyond the loopback, see nothing.
func TestUIGuard(t *testing.T) {
	t.Parallel()
	_, near := view(t, "127.0.0.1:0")
	_, far := view(t, "0.0.0.0:0")
	base, token, ok := strings.Cut(far, "?token=")
	if !ok || len(token) < 20 || strings.Contains(near, "token") {
		t.Fatalf("the addresses are %s and %s", near, far)
	}
	port := near[strings.LastIndex(near, ":")+1 : len(near)-1]
	reachable := strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(base)
	for _, c := range []struct {
		name, method, address, host string
		want                        int
	}{
		{"page", "GET", near, "", 200},
		{"page by name", "GET", near, "localhost:" + port, 200},
		{"another name", "GET", near, "evil.example:" + port, 403},
		{"events under another name", "GET", near + "events", "evil.example", 403},
		{"write", "POST", near, "", 405},
		{"unknown", "GET", near + "etc/passwd", "", 404},
		{"token", "GET", reachable + "?token=" + token, "", 200},
		{"no token", "GET", reachable, "", 403},
		{"wrong token", "GET", reachable + "events?token=x", "", 403},
	} {
		if got, _ := get(t, c.method, c.address, c.host); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
	if _, body := get(t, "GET", near, ""); !strings.Contains(body, "connect-src &#39;self&#39;") || !strings.Contains(body, "The sweep begins") {
		t.Errorf("the first page is %s", body)
	}
}

// Who watches gets the result, and then the end.
func TestUIEvents(t *testing.T) {
	t.Parallel()
	u, address := view(t, "127.0.0.1:0")
	r, err := http.NewRequestWithContext(t.Context(), "GET", address+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	first, err := events.ReadString('\n')
	if err != nil || first != "event: state\n" {
		t.Fatalf("the first line is %q, %v", first, err)
	}
	u.finish(analysis.Curve{Run: load.Run{Status: load.StatusComplete}}, "DIR")
	rest, err := io.ReadAll(events)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"event: state\ndata: {\"title\":\"No valid measurement", "event: end\ndata: \"The sweep has ended (complete)."} {
		if !strings.Contains(string(rest), want) {
			t.Errorf("%q is not among the events:\n%s", want, rest)
		}
	}
}

// An address that cannot be one, or is taken, is said before anything is sent.
func TestUIAddress(t *testing.T) {
	t.Parallel()
	_, taken := view(t, "127.0.0.1:0")
	for addr, code := range map[string]int{"8080": exitUsage, strings.TrimSuffix(strings.TrimPrefix(taken, "http://"), "/"): exitFailed} {
		dir := filepath.Join(t.TempDir(), "run")
		r := command(quick("--ui", addr, "--out", dir)...)
		if r.code != code || !strings.Contains(r.err, "--ui: ") {
			t.Errorf("%s: exit %d, want %d: %s", addr, r.code, code, r.err)
		}
	}
}
