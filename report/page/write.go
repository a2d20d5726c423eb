package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
)

var (
	//go:embed assets/page.html
	markup string
	//go:embed assets/page.css
	pageCSS string
	//go:embed assets/chart.js
	chartJS string
	//go:embed assets/live.js
	liveJS string
	//go:embed assets/uplot.js
	plotJS string
	//go:embed assets/uplot.css
	plotCSS string
	//go:embed assets/uplot.LICENSE
	plotLicense string
)

var templates = template.Must(template.New("page").Funcs(template.FuncMap{"inline": inline}).Parse(markup))

// document is what the template sees.
type document struct {
	Page
	Live    bool
	Policy  string
	Style   template.CSS
	Scripts []template.JS
}

// scripts are those of a page, with the licence of the foreign one.
func scripts(live bool) []template.JS {
	all := []template.JS{template.JS("/*!\n" + plotLicense + "*/\n" + plotJS), template.JS(chartJS)}
	if live {
		all = append(all, template.JS(liveJS))
	}
	return all
}

func newDocument(p Page, live bool) document {
	d := document{Page: p, Live: live, Style: template.CSS("/*!\n" + plotLicense + "*/\n" + plotCSS + "\n" + pageCSS), Scripts: scripts(live)}
	allowed := make([]string, len(d.Scripts))
	for i, s := range d.Scripts {
		allowed[i] = digest(string(s))
	}
	d.Policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'", strings.Join(allowed, " "), digest(string(d.Style)))
	if live {
		d.Policy += "; connect-src 'self'"
	}
	return d
}

// digest names a script or a style in a content security policy.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes p as one HTML file. Its errors are those of w.
func Write(w io.Writer, p Page) error { return write(w, p, false) }

// Live writes p as a page that follows a running sweep: it opens the event stream
// "events" beside its own address, with its own query, whose events are made by
// [State]. Its errors are those of w.
func Live(w io.Writer, p Page) error { return write(w, p, true) }

func write(w io.Writer, p Page, live bool) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", newDocument(p, live)); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// State is the content of p as an event for a live page: what is above the sections, and each
// section, as HTML; of a section with charts their data alone, unless it is new to
// the page. One JSON document without line breaks.
func State(p Page) ([]byte, error) {
	type section struct {
		ID     string            `json:"id"`
		HTML   string            `json:"html"`
		Charts map[string]*Chart `json:"charts,omitempty"`
	}
	var b bytes.Buffer
	render := func(name string, data any) (string, error) {
		b.Reset()
		err := templates.ExecuteTemplate(&b, name, data)
		return b.String(), err
	}
	var state struct {
		Title    string    `json:"title"`
		Head     string    `json:"head"`
		Sections []section `json:"sections"`
		Footer   string    `json:"footer"`
	}
	state.Title, state.Footer = p.Title, p.Footer
	state.Sections = []section{} // not null, also of an empty page
	var err error
	if state.Head, err = render("head", p); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for _, s := range p.Sections {
		part := section{ID: s.ID}
		if part.HTML, err = render("section", s); err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		for _, block := range s.Blocks {
			if block.Chart != nil {
				if part.Charts == nil {
					part.Charts = map[string]*Chart{}
				}
				part.Charts[block.Chart.ID] = block.Chart
			}
		}
		state.Sections = append(state.Sections, part)
	}
	return json.Marshal(state)
}
