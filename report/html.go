package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"kneesweep/analysis"
	"kneesweep/plots"
)

// The parts of the page. uPlot (MIT, assets/uPlot.LICENSE) draws the charts; it and
// the rest stand in the page itself, so that it can be sent and opened anywhere.
var (
	//go:embed assets/page.html
	pageHTML string
	//go:embed assets/page.css
	pageCSS string
	//go:embed assets/page.js
	pageJS string
	//go:embed assets/uPlot.iife.min.js
	uplotJS string
	//go:embed assets/uPlot.min.css
	uplotCSS string
	//go:embed assets/uPlot.LICENSE
	uplotLicense string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// pageTable is a table of the page.
type pageTable struct {
	ID, Caption string
	Heading     []string
	Rows        [][]string
	Text        bool // columns of words, aligned to the left
}

// keyFigure is one of the large figures at the top.
type keyFigure struct{ Name, Value, Unit, Note string }

// pageData is what the template shows. Everything in it that comes from a server
// or a user is a plain string, which the template escapes where it stands.
type pageData struct {
	Title, Verdict, Origin string
	Sentences              []string
	Keys                   []keyFigure
	Five                   []string
	Levels                 pageTable
	Remarks                []string
	Failures               pageTable
	Warnings               []string
	Fit, Reason            string
	Cause                  string
	Evidence               []string
	Estimates              pageTable
	Disagree               string
	Facts                  []fact
	Cost                   pageTable
	CostLines              []string
	Audits, Server         pageTable
	Lead, Tail             string
	Definitions            pageTable
	License                string
	Chart                  *chart // nil without a level
	Allowed                bool   // a number of streams is recommended
	Still                  template.HTML
	CSS                    template.CSS
	Uplot, JS              template.JS
	Policy                 string
}

// HTML writes c as one page that needs nothing else: no request leaves it, charts are
// drawn by its own script, and without scripts a still picture takes their place. A
// reader sees the verdict first. Its errors are those of w and of the picture.
func HTML(w io.Writer, c analysis.Curve) error {
	still, err := stillPicture(c)
	if err != nil {
		return err
	}
	d := pageData{
		Title: plots.Headline(c), Verdict: Verdict(c), Origin: origin(c.Run),
		Keys: keyFigures(c), Reason: sentence(c.Recommended.Reason), Facts: facts(c), Warnings: warningLines(c),
		Lead: definitionsLead, Tail: definitionsTail, License: uplotLicense,
		Chart: newChart(c), Allowed: c.Recommended.Concurrency.OK, Still: still, CSS: template.CSS(uplotCSS + pageCSS),
		Uplot: template.JS(strings.TrimSpace(uplotJS)), JS: template.JS(strings.TrimSpace(pageJS)),
	}
	d.Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src " + source(string(d.Uplot)) + " " + source(string(d.JS))
	if c.At != nil {
		d.Sentences = append(d.Sentences, AtSentence(*c.At))
	}
	if t := truthSentence(c.Run.Truth); t != "" {
		d.Sentences = append(d.Sentences, t)
	}
	if validLevels(c) > 0 {
		lines := explanation(c)
		d.Five = lines[:]
	}
	d.tables(c)
	if c.Cause != nil {
		d.Cause, d.Evidence = c.Cause.Name, c.Cause.Evidence
	}
	if f := c.Knee.Fit; f != nil {
		d.Fit = fmt.Sprintf("X(N) = %s + %s · min(N, %s) tokens/s, fitted to the levels %d to %d",
			plots.Number(f.A), plots.Number(f.B), plots.Number(f.K), f.From, f.To)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// source allows a script by its text.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// stillPicture is the capacity curve as a drawing, empty where there is none.
func stillPicture(c analysis.Curve) (template.HTML, error) {
	if len(c.Steps) == 0 {
		return "", nil
	}
	f, err := plots.Capacity(c)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		return "", err
	}
	return template.HTML(b.Bytes()[max(0, bytes.Index(b.Bytes(), []byte("<svg"))):]), nil
}

func warningLines(c analysis.Curve) (lines []string) {
	for _, d := range doubts(c) {
		lines = append(lines, d.Code+": "+d.String())
	}
	return lines
}

// facts are what was asked of the endpoint and how it was measured, as far as it is
// recorded.
func facts(c analysis.Curve) (known []fact) {
	for _, f := range append(requestFacts(c.Run), settingFacts(c.Run)...) {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}
