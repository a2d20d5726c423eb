// Package page writes one account of a measurement as a self-contained HTML file,
// which opens from disk and asks nobody for anything.
//
//	Page ─ headline, lead, figures
//	     └ Section ─ Block: text, list, table, facts or chart
//	                   Chart ─ data for the script ─▶ interactive
//	                         └ SVG ─────────────────▶ without scripts, and on paper
//
// It knows sections, tables and charts, and nothing of sweeps: what stands in them
// is said by package report. All text is escaped by html/template; it may come from
// anybody. A policy in the page forbids every script and style but its own, and
// every request. Live pages, which follow a running sweep, may ask their own server
// for events, see [Live].
//
// All functions are safe for concurrent use on pages that nobody changes meanwhile.
package page

// Page is what a reader sees, from top to bottom.
type Page struct {
	Title    string   // of the window
	Origin   []string // what was measured, of whom and when
	Headline string
	Lead     string // the verdict
	Text     []string
	Tiles    []Tile
	Sections []Section
	Footer   string
}

// Tile is one figure of the result that is shown large.
type Tile struct {
	Name, Value, Unit, Note string
	Tone                    Tone
}

// Section is a part of the page with a heading.
type Section struct {
	ID     string // unique on the page: letters, digits and hyphens
	Title  string
	Blocks []Block
}

// HasChart reports whether a script draws into the section.
func (s Section) HasChart() bool {
	for _, b := range s.Blocks {
		if b.Chart != nil {
			return true
		}
	}
	return false
}

// Block is one piece of a section; exactly one field is set.
type Block struct {
	Text  string
	List  []Item
	Steps []string // numbered
	Facts []Fact
	Table *Table
	Chart *Chart

	Picture *Picture
}

// Picture is a still drawing, for what has no chart to be read off.
type Picture struct {
	Alt string // the picture in a sentence, for those who do not see it
	SVG []byte // as package plots draws it
}

// Item is a line of a list, with a short code before it that may be empty.
type Item struct{ Code, Text string }

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Table is a table whose first column names the row.
type Table struct {
	Caption string
	Folded  bool // shown on demand
	Heading []Heading
	Rows    []Row
}

// Heading is the name of a column. Columns of text are aligned to the left.
type Heading struct {
	Name, Unit string
	Text       bool
}

// Row is one line of a table.
type Row struct {
	Mark  string // before the first cell; may be empty
	Cells []string
	Muted bool
}
