package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/compare"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// htmlOf is the page of c.
func htmlOf(t *testing.T, c analysis.Curve, baseline *compare.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, c, baseline); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	scriptElement = regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)
	styleElement  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	anyTag        = regexp.MustCompile(`<[a-zA-Z/][^>]*>`)
)

// markupOf is a page without its scripts and styles.
func markupOf(page string) string {
	return styleElement.ReplaceAllString(scriptElement.ReplaceAllString(page, ""), "")
}

// wordsOf is the text of a page, white space folded.
func wordsOf(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(markupOf(page), " "))), " ")
}

// The policy of the page allows its own scripts and styles by their digest, and
// nothing in the page needs anything else.
func TestHTMLNeedsNothingElse(t *testing.T) {
	page := htmlOf(t, withKnee(), nil)
	policy := html.UnescapeString(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	code := 0
	for _, m := range append(scriptElement.FindAllStringSubmatch(page, -1), []string{"", "", styleElement.FindStringSubmatch(page)[1]}) {
		if strings.Contains(m[1], "application/json") {
			continue
		}
		code++
		sum := sha256.Sum256([]byte(m[2]))
		if digest := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, digest) {
			t.Errorf("the policy forbids a part of the page that begins with %.60q", m[2])
		}
	}
	if code != 3 {
		t.Errorf("%d scripts and styles, want uPlot, the charts and one style", code)
	}
	for _, part := range []string{"src=", "href=", "url(", "@import", " style=", "onclick", "javascript:"} {
		if strings.Contains(markupOf(page), part) {
			t.Errorf("the page holds %s", part)
		}
	}
	if !strings.Contains(page, "Permission is hereby granted, free of charge") {
		t.Error("the licence of uPlot is missing")
	}
}

// Whatever servers and users write stands on the page as text.
func TestHTMLEscapes(t *testing.T) {
	const hostile = `</script><script>alert(1)</script><img src=x onerror="alert(2)">'"&--><!--` + "\u2028"
	c := withKnee()
	put(reflect.ValueOf(&c).Elem(), hostile)
	c.Run.Preflight, c.Run.Settings.SLO = nil, hostile
	c.Knee.Verdict = knee.Found
	c.Run.Status = load.StatusStopped
	for i := range c.Steps {
		c.Steps[i].Failures = map[string]int{hostile: 3}
		c.Steps[i].Warnings = []load.Warning{{Code: hostile, Text: hostile}}
		c.Steps[i].Valid = i != 2
		c.Steps[i].Server = load.Some(load.ServerStats{Engine: hostile})
	}
	x := compare.Runs([]compare.Run{{Curve: withKnee()}}, compare.Run{Curve: c}, compare.Options{})
	page := htmlOf(t, c, &x)
	scripts := scriptElement.FindAllStringSubmatch(page, -1)
	if len(scripts) != 4 {
		t.Errorf("%d scripts, want two and the data of two charts", len(scripts))
	}
	for _, m := range scripts {
		if strings.Contains(m[1], "json") && !json.Valid([]byte(m[2])) {
			t.Errorf("not JSON: %.200s", m[2])
		}
	}
	markup := markupOf(page)
	for _, tag := range anyTag.FindAllString(markup, -1) {
		if strings.HasPrefix(tag, "<img") || strings.HasPrefix(tag, "<script") || strings.Contains(tag, `onerror="`) {
			t.Errorf("the page holds the tag %s", tag)
		}
	}
	if n := strings.Count(markup, "&lt;/script&gt;&lt;script&gt;alert(1)"); n < 20 {
		t.Errorf("the text stands %d times on the page, want it wherever it was put", n)
	}
}

// put sets every text of a value.
func put(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				put(v.Field(i), text)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			put(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			put(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text)
	}
}

// The page says what the table and the Markdown say.
func TestHTMLSaysAll(t *testing.T) {
	c := withKnee()
	text := wordsOf(htmlOf(t, c, nil))
	if want := Verdict(c); !strings.Contains(text, want) {
		t.Errorf("the verdict is not on the page: %s\n%s", want, text)
	}
	for _, s := range c.Steps {
		var cells []string
		for _, col := range columnsOf(c) {
			cells = append(cells, col.cell(s))
		}
		if row := strings.Join(cells, " "); !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
	for _, e := range c.Estimates {
		if !strings.Contains(text, formulas[e.Method]) || formulas[e.Method] == "" {
			t.Errorf("no formula of %s", e.Method)
		}
	}
	if strings.Contains(text, "Against the baseline") {
		t.Error("a baseline is shown that nobody gave")
	}
	x := compare.Runs([]compare.Run{{Curve: c}}, compare.Run{Curve: c}, compare.Options{})
	if text := wordsOf(htmlOf(t, c, &x)); !strings.Contains(text, "Against the baseline "+ComparisonVerdict(x)) {
		t.Errorf("the comparison is not on the page:\n%s", text)
	}
}

func TestEveryDefinitionHasItsFormula(t *testing.T) {
	for method := range looksFor {
		if formulas[method] == "" {
			t.Errorf("%s has none", method)
		}
	}
}

// Pages of little, of nothing and of values that no number is, are pages too.
func TestHTMLOfLittle(t *testing.T) {
	one := measured(4)
	one.Knee.Verdict = knee.TooFewLevels
	failed := measured(1, 2, 4)
	for i := range failed.Steps {
		failed.Steps[i] = load.Step{Concurrency: failed.Steps[i].Concurrency, InvalidReason: "all requests failed", Failed: 7, Failures: map[string]int{"http_500": 7}, ErrorRate: load.Some(1.0)}
	}
	odd := withKnee()
	odd.Steps[1].Throughput = load.Some(load.Estimate{Value: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)})
	odd.Steps[2].Measurements = []float64{math.NaN(), math.Inf(1), 0}
	odd.Knee.Concurrency = load.Some(load.Estimate{Value: 24, Lo: math.NaN(), Hi: math.NaN()})
	odd.Knee.Fit.K = math.NaN()
	for name, c := range map[string]analysis.Curve{"nothing": {}, "one level": one, "all failed": failed, "odd values": odd} {
		t.Run(name, func(t *testing.T) {
			page := htmlOf(t, c, nil)
			for _, m := range scriptElement.FindAllStringSubmatch(page, -1) {
				var chart struct {
					Levels []struct{ N int }
				}
				if !strings.Contains(m[1], "json") {
					continue
				}
				if err := json.Unmarshal([]byte(m[2]), &chart); err != nil {
					t.Errorf("%v: %.300s", err, m[2])
				}
				if len(chart.Levels) != len(c.Steps) {
					t.Errorf("the chart has %d levels, want %d", len(chart.Levels), len(c.Steps))
				}
			}
			text := wordsOf(page)
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Error("NaN or Inf stands on the page")
			}
			if name == "all failed" && !strings.Contains(text, "4 http_500 7 100 %") {
				t.Errorf("the failures are not on the page:\n%s", text)
			}
		})
	}
}

// A report of twenty levels is below 600 kB.
func TestHTMLIsSmall(t *testing.T) {
	var levels []int
	for n := 1; n <= 20; n++ {
		levels = append(levels, n*n)
	}
	c := measured(levels...)
	for i := range c.Steps {
		c.Steps[i].Measurements = nil
		for k := range 20 {
			c.Steps[i].Measurements = append(c.Steps[i].Measurements, c.Steps[i].Throughput.V.Value*(1+float64(k)/300))
		}
		c.Steps[i].Warnings = []load.Warning{{Code: fmt.Sprint("code", i), Text: strings.Repeat("words ", 40)}}
	}
	if n := len(htmlOf(t, c, nil)); n >= 600_000 {
		t.Errorf("%d bytes", n)
	}
}

// A sweep over rates has a still picture of them, and no chart of levels that were
// not held.
func TestHTMLOfRates(t *testing.T) {
	c := filled(t)
	c.Steps, c.Estimates = nil, nil
	var b bytes.Buffer
	if err := HTML(&b, c, nil); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, `<section id="rates"`) || !strings.Contains(text, `<figure class="picture"`) || !strings.Contains(text, "<svg") {
		t.Error("the rates have no table or no picture")
	}
	if strings.Contains(text, `id="capacity"`) {
		t.Error("there is a chart of levels")
	}
}
