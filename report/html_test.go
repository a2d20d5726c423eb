package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/load"
)

func pageOf(t *testing.T, c analysis.Curve) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLOfEveryVerdict: the sentence stands first, whatever was found, and nothing
// undefined is shown as a number.
func TestHTMLOfEveryVerdict(t *testing.T) {
	for name, c := range verdicts() {
		text := pageOf(t, c)
		plain := html.UnescapeString(text)
		if at := strings.Index(plain, Verdict(c)); at < 0 || at > strings.Index(plain, "<h2") {
			t.Errorf("%s: the verdict does not come first", name)
		}
		for _, bad := range []string{"NaN", "+Inf", "<nil>", "ZgotmplZ", "%!"} {
			if strings.Contains(withoutScripts(text), bad) {
				t.Errorf("%s: the page shows %s", name, bad)
			}
		}
		for _, tag := range []string{"section", "table", "dl", "ul", "ol", "figure", "main", "div"} {
			if open, closed := strings.Count(text, "<"+tag), strings.Count(text, "</"+tag+">"); open != closed {
				t.Errorf("%s: %d of %s are opened and %d closed", name, open, tag, closed)
			}
		}
		if n := strings.Count(text, "<h1"); n != 1 {
			t.Errorf("%s: %d headlines", name, n)
		}
		if rows := strings.Count(text, `<th scope="row">`); rows < len(c.Steps) {
			t.Errorf("%s: %d rows for %d levels", name, rows, len(c.Steps))
		}
	}
}

var script = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)

func withoutScripts(page string) string { return script.ReplaceAllString(page, "") }

// TestHTMLIsOneFile: its policy lets its own two scripts run and nothing else, and
// nothing in it points anywhere.
func TestHTMLIsOneFile(t *testing.T) {
	for name, c := range verdicts() {
		text := pageOf(t, c)
		policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
		if policy == nil || !strings.Contains(policy[1], "default-src &#39;none&#39;") {
			t.Fatalf("%s: policy %q", name, policy)
		}
		found := script.FindAllStringSubmatch(text, -1)
		if want := 3; len(c.Steps) > 0 && len(found) != want || len(c.Steps) == 0 && len(found) != 0 {
			t.Errorf("%s: %d scripts", name, len(found))
		}
		for _, s := range found {
			if strings.HasPrefix(s[0], `<script type="application/json"`) {
				continue
			}
			if !strings.Contains(html.UnescapeString(policy[1]), source(s[1])) {
				t.Errorf("%s: the policy stops a script of its own: %.40s", name, s[1])
			}
		}
		if at := regexp.MustCompile(`(src|href|action|data)="[^d#][^"]*"|url\(|@import`).FindString(withoutScripts(text)); at != "" {
			t.Errorf("%s: the page points to %s", name, at)
		}
		if len(text) > 600_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// TestHTMLEscapes: whatever a server or a user wrote is text.
func TestHTMLEscapes(t *testing.T) {
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "`{{.}}\u2028"
	c := filled(t)
	c.Run.Model, c.Run.Label, c.Run.Target, c.Run.StopReason, c.Run.Request.Source, c.Run.Request.Extra = evil, evil, evil, evil, evil, evil
	c.Recommended.Reason, c.Cause.Name, c.Cause.Evidence = evil, evil, []string{evil}
	c.Warnings = []load.Warning{{Code: evil, Text: evil}}
	for i := range c.Steps {
		c.Steps[i].Concurrency = i + 1
		c.Steps[i].Failures = map[string]int{evil: 3}
		c.Steps[i].InvalidReason, c.Steps[i].Valid = evil, i > 0
		c.Steps[i].Warnings = []load.Warning{{Code: evil, Text: evil}}
	}
	for i := range c.Estimates {
		c.Estimates[i].Method, c.Estimates[i].Note = evil, evil
	}
	text := pageOf(t, c)
	if n := strings.Count(text, "<script"); n != 3 {
		t.Errorf("%d scripts, want 3", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(1)>\"", "<script>alert"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q as it was written", bad)
		}
	}
	if n := strings.Count(text, html.EscapeString("<img src=x")); n < 5 {
		t.Errorf("the text itself is shown %d times", n)
	}
}

// TestHTMLSize holds a run of 20 levels to the limit for a page that is sent around.
func TestHTMLSize(t *testing.T) {
	c := measured(1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 96)
	c = analysis.Build(c.Run, c.Steps)
	if text := pageOf(t, c); len(text) > 600_000 || strings.Count(text, "<tr>") < 40 {
		t.Errorf("%d bytes, %d rows", len(text), strings.Count(text, "<tr>"))
	} else {
		t.Log(fmt.Sprint(len(text)/1000, " kB"))
	}
}
