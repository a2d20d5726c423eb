package page

import "kneesweep/load"

// Tone names a colour of the page; each differs from the others for colour-blind
// readers too, in light and in dark.
type Tone string

// The tones.
const (
	Blue       Tone = "blue"
	Orange     Tone = "orange"
	Grey       Tone = "grey"
	Green      Tone = "green"
	Vermillion Tone = "vermillion"
	Purple     Tone = "purple"
	Ink        Tone = "ink"
)

// Chart is one or more panels over the same numbers of streams.
type Chart struct {
	ID      string  `json:"-"`
	Alt     string  `json:"-"`      // the chart in a sentence, for those who do not see it
	Caption string  `json:"-"`      // how to read it
	SVG     []byte  `json:"-"`      // as package plots draws it; the page without scripts and on paper
	Levels  []Level `json:"levels"` // ascending in N
	Log     bool    `json:"log"`    // the axis of streams, until the reader changes it
	Bands   []Band  `json:"bands"`
	Marks   []Mark  `json:"marks"`
	Panels  []Panel `json:"panels"`
}

// Level is one number of streams.
type Level struct {
	N     int    `json:"n"`
	Valid bool   `json:"valid"`
	Scout bool   `json:"scout"` // drawn hollow
	Note  string `json:"note"`  // shown beside its figures; may be empty
}

// Band is a range of streams, such as an interval.
type Band struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Tone Tone    `json:"tone"`
}

// Mark is a number of streams that stands out.
type Mark struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
	Tone Tone    `json:"tone"`
	Dash []int   `json:"dash"` // null = a solid line
	// Point marks the place by a triangle on the axis instead of a line across.
	Point bool `json:"point"`
}

// Panel is one vertical axis.
type Panel struct {
	Title  string            `json:"title"`
	Short  string            `json:"short"` // before the figures that are read out
	Unit   string            `json:"unit"`
	Log    bool              `json:"log"`   // until the reader changes it
	Fixed  bool              `json:"fixed"` // linear from 0, whatever the reader chooses
	Level  load.Opt[float64] `json:"level"` // a horizontal line
	Series []Series          `json:"series"`
	Dots   [][]float64       `json:"dots"` // single values of each level, behind the series
	Line   [][2]float64      `json:"line"` // a fitted line, as corners (streams, value)
}

// Series is one value for each level; an undefined one is a gap.
type Series struct {
	Name   string              `json:"name"`
	Tone   Tone                `json:"tone"`
	Shape  Shape               `json:"shape"`
	Dash   []int               `json:"dash"`  // null = a solid line
	Loose  bool                `json:"loose"` // markers without a line
	Values []load.Opt[float64] `json:"values"`
	Lo     []load.Opt[float64] `json:"lo"` // null without intervals
	Hi     []load.Opt[float64] `json:"hi"`
}

// Shape is the marker of a series.
type Shape string

// The shapes.
const (
	Circle   Shape = "circle"
	Square   Shape = "square"
	Triangle Shape = "triangle"
)
