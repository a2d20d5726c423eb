package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/analysis/regress"
	"kneesweep/gate"
	"kneesweep/load"
	"kneesweep/record/history"
)

const checkSchema = "kneesweep/check/v1"

// verdict is what check finds, and what it prints as JSON. Fields are added, never
// renamed.
type verdict struct {
	Schema  string          `json:"schema"`
	Holds   gate.Truth      `json:"holds"` // agrees with the exit code
	Gates   []gateVerdict   `json:"gates"`
	History *historyVerdict `json:"history"` // null without --history

	valid   bool
	unknown int // gates that are null
}

type gateVerdict struct {
	Require string     `json:"require"`
	Holds   gate.Truth `json:"holds"`
	Value   any        `json:"value"`
	Text    string     `json:"text"`
}

// historyVerdict is what earlier runs make of this one.
type historyVerdict struct {
	Verdict  regress.Verdict `json:"verdict"`
	Sentence string          `json:"sentence"`
	Runs     int             `json:"runs"`   // of the series that were looked at, this one included
	Since    *time.Time      `json:"since"`  // start of the first run of the new level; null without a change in this run
	Shifts   []shiftJSON     `json:"shifts"` // of figures that changed in this run
	Drifts   []driftJSON     `json:"drifts"`
}

// shiftJSON is a change of level. Changes are relative: −0.12 is 12 % less.
type shiftJSON struct {
	Figure      string            `json:"figure"`
	Concurrency load.Opt[int]     `json:"concurrency"` // of a single level; null = of the whole curve
	Change      float64           `json:"change"`
	Lo          load.Opt[float64] `json:"change_lo"`
	Hi          load.Opt[float64] `json:"change_hi"`
	P           float64           `json:"p"`
	Worse       bool              `json:"worse"`
}

type driftJSON struct {
	Figure string  `json:"figure"`
	PerDay float64 `json:"change_per_day"`
	Total  float64 `json:"change"`
	Days   float64 `json:"days"`
	P      float64 `json:"p"`
	Worse  bool    `json:"worse"`
}

func shiftsOf(all []regress.Shift) []shiftJSON {
	list := []shiftJSON{}
	known := func(x float64) load.Opt[float64] {
		return load.Opt[float64]{V: x, OK: !math.IsNaN(x) && !math.IsInf(x, 0)}
	}
	for _, s := range all {
		list = append(list, shiftJSON{s.Figure, load.Opt[int]{V: s.Level, OK: s.Level > 0}, s.Change, known(s.Lo), known(s.Hi), s.P, s.Worse})
	}
	return list
}

func driftsOf(all []regress.Drift) []driftJSON {
	list := []driftJSON{}
	for _, d := range all {
		list = append(list, driftJSON{d.Figure, d.PerDay, d.Total, d.Days, d.P, d.Worse})
	}
	return list
}

// checkedHistory is the history that check looks into, if any: that of the flag, or
// that of the environment where there is nothing else to check.
func checkedHistory(c *cli.Context, gates bool) (at history.Address, given bool, err error) {
	if gates && !c.IsSet("history") {
		return at, false, nil
	}
	return historyAddress(c)
}

// evaluate holds a result against gates. One that is null outweighs one that does not hold.
func evaluate(gates []gate.Expr, doc map[string]any) verdict {
	v := verdict{Schema: checkSchema, Holds: gate.True, Gates: []gateVerdict{}, valid: anyValid(doc)}
	for _, g := range gates {
		r := g.Eval(doc)
		v.Gates = append(v.Gates, gateVerdict{g.Source(), r.Holds, r.Value(), r.Text()})
		v.Holds = min(v.Holds, r.Holds)
		if r.Holds == gate.Null {
			v.unknown++
		}
	}
	if v.unknown > 0 || !v.valid {
		v.Holds = gate.Null
	}
	return v
}

// judge holds a run against the earlier ones of its series.
func (v *verdict) judge(ctx context.Context, at history.Address, curve analysis.Curve) error {
	if curve.Run.ID == "" || curve.Run.Started.IsZero() {
		return errors.New("--history: no run of kneesweep, so that it belongs to no series")
	}
	db, err := history.Open(ctx, at, false)
	if err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	defer db.Close()
	j, err := judgeRun(ctx, db, curve)
	if err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	v.take(j)
	return nil
}

// take is what a run shows beside those before it.
func (v *verdict) take(j judged) {
	r := j.report
	h := &historyVerdict{Verdict: r.Verdict, Sentence: j.sentence(), Runs: r.Nights, Shifts: []shiftJSON{}, Drifts: driftsOf(r.Drifts)}
	if r.Verdict == regress.Regression || r.Verdict == regress.Improvement {
		e := r.Events[len(r.Events)-1]
		h.Since, h.Shifts = &j.nights[e.Since].At, shiftsOf(e.Shifts)
	}
	if v.History = h; r.Verdict == regress.Regression && v.Holds == gate.True {
		v.Holds = gate.False
	}
}

// exit is the exit code that agrees with it.
func (v *verdict) exit() error {
	switch {
	case !v.valid:
		return exitError{exitNoCurve, errors.New("no level is valid, so that there is nothing to check")}
	case v.Holds == gate.Null:
		return exitError{exitNoCurve, fmt.Errorf("%d of %d gates ask for a value that is null", v.unknown, len(v.Gates))}
	case v.Holds == gate.False:
		return exitError{exitMissed, nil}
	}
	return nil
}

func (v *verdict) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// rows are what was checked: a word, what, and why.
func (v *verdict) rows() [][3]string {
	var rows [][3]string
	for _, g := range v.Gates {
		word := map[gate.Truth]string{gate.True: "holds", gate.False: "fails", gate.Null: "null"}[g.Holds]
		rows = append(rows, [3]string{word, gate.OneLine(g.Require), g.Text})
	}
	if h := v.History; h != nil {
		word := "holds"
		if h.Verdict == regress.Regression {
			word = "fails"
		}
		rows = append(rows, [3]string{word, "no regression", h.Sentence})
	}
	return rows
}

func (v *verdict) table(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range v.rows() {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", r[0], r[1], r[2])
	}
	return tab.Flush()
}

func (v *verdict) markdown(w io.Writer) error {
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'").Replace
	var b strings.Builder
	b.WriteString("| | what must hold | |\n|---|---|---|\n")
	for _, r := range v.rows() {
		fmt.Fprintf(&b, "| **%s** | `%s` | %s |\n", r[0], strings.NewReplacer("|", "\\|", "`", "'").Replace(r[1]), cell(r[2]))
	}
	if !v.valid {
		b.WriteString("\nNo level is valid, so that there is nothing to check.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The parts of a JUnit file that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"` // could not be told
		Out     string      `xml:"system-out,omitempty"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
	}
)

// junit writes a test case for each gate and one for the history.
func (v *verdict) junit(path, subject string) error {
	s := junitSuite{Name: "kneesweep check"}
	for _, r := range v.rows() {
		c := junitCase{Class: subject, Name: r[1], Out: r[2]}
		switch r[0] {
		case "fails":
			c.Failure = &junitFault{r[2]}
			s.Failures++
		case "null":
			c.Error = &junitFault{r[2]}
			s.Errors++
		}
		s.Cases = append(s.Cases, c)
	}
	if !v.valid {
		s.Cases = append(s.Cases, junitCase{Class: subject, Name: "a level is valid", Error: &junitFault{"no level is valid, so that there is nothing to check"}})
		s.Errors++
	}
	s.Tests = len(s.Cases)
	b, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(b, '\n')...), 0o644)
}
