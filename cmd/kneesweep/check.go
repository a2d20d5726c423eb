package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"kneesweep/gate"
	"kneesweep/report"
)

const checkSchema = "kneesweep/check/v1"

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "hold a result against gates, for CI: exit 0 if all hold, 3 if one does not, 4 if it cannot be told",
		ArgsUsage: "FILE…",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "require", Value: &expressions{}, Usage: "`EXPR` that must hold, e.g. 'knee.concurrency >= 32' or 'at(8).ttft_ms.p95 <= 500ms' (repeatable)"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: func(c *cli.Context) error {
			gates, err := parseGates(*c.Generic("require").(*expressions))
			switch {
			case err != nil:
				return usage(err)
			case c.NArg() == 0:
				return usagef("check needs a FILE, or several of another tool that make one curve")
			}
			doc, err := curveDocument(c.Args().Slice(), c.App.ErrWriter)
			if err != nil {
				return err
			}
			return check(c.App.Writer, gates, doc, c.Bool("json"))
		},
	}
}

// expressions is a repeatable flag that takes commas as they are.
type expressions []string

// Set adds an expression.
func (e *expressions) Set(s string) error {
	*e = append(*e, s)
	return nil
}

func (e *expressions) String() string { return strings.Join(*e, " and ") }

// parseGates reads the expressions; its error names each one that is wrong.
func parseGates(sources []string) ([]gate.Expr, error) {
	if len(sources) == 0 {
		return nil, errors.New("--require: needed, what must hold, e.g. --require 'knee.concurrency >= 32'")
	}
	var gates []gate.Expr
	var errs []error
	for _, s := range sources {
		g, err := gate.Parse(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("--require: not an expression that can be checked:\n%w", err))
		}
		gates = append(gates, g)
	}
	return gates, errors.Join(errs...)
}

// curveDocument reads the files of one result as the JSON document that it is or
// would be.
func curveDocument(paths []string, stderr io.Writer) (map[string]any, error) {
	curves, err := readCurves(paths, stderr, "")
	if err != nil {
		return nil, err
	}
	if len(curves) != 1 {
		return nil, usagef("check needs the files of one curve, and these make %d", len(curves))
	}
	b, err := report.MarshalCurve(curves[0])
	if err != nil {
		return nil, failed(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, failed(err)
	}
	return doc, nil
}

// verdict is what check prints as JSON.
type verdict struct {
	Schema string        `json:"schema"`
	Holds  gate.Truth    `json:"holds"`
	Gates  []gateVerdict `json:"gates"`
}

type gateVerdict struct {
	Require string     `json:"require"`
	Holds   gate.Truth `json:"holds"`
	Value   any        `json:"value"`
	Text    string     `json:"text"`
}

// check evaluates the gates and prints what became of them. One that is null
// outweighs one that does not hold.
func check(w io.Writer, gates []gate.Expr, doc map[string]any, asJSON bool) error {
	v := verdict{Schema: checkSchema, Holds: gate.True}
	unknown := 0
	for _, g := range gates {
		r := g.Eval(doc)
		v.Gates = append(v.Gates, gateVerdict{g.Source(), r.Holds, r.Value(), r.Text()})
		v.Holds = min(v.Holds, r.Holds)
		if r.Holds == gate.Null {
			unknown++
		}
	}
	valid := anyValid(doc)
	if unknown > 0 || !valid {
		v.Holds = gate.Null
	}
	if err := v.write(w, asJSON); err != nil {
		return failed(err)
	}
	switch {
	case !valid:
		return exitError{exitNoCurve, errors.New("no level is valid, so that there is nothing to check")}
	case v.Holds == gate.Null:
		return exitError{exitNoCurve, fmt.Errorf("%d of %d gates ask for a value that is null", unknown, len(gates))}
	case v.Holds == gate.False:
		return exitError{exitMissed, nil}
	}
	return nil
}

func anyValid(doc map[string]any) bool {
	steps, _ := doc["steps"].([]any)
	if rates, ok := doc["rates"].(map[string]any); ok {
		steps, _ = rates["steps"].([]any)
	}
	for _, s := range steps {
		if step, ok := s.(map[string]any); ok && step["valid"] == true {
			return true
		}
	}
	return false
}

func (v verdict) write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range v.Gates {
		word := map[gate.Truth]string{gate.True: "holds", gate.False: "fails", gate.Null: "null"}[g.Holds]
		fmt.Fprintf(tab, "%s\t%s\t%s\n", word, gate.OneLine(g.Require), g.Text)
	}
	return tab.Flush()
}
