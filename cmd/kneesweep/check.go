package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/gate"
	"kneesweep/report"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "hold a result against gates, for CI: exit 0 if all hold, 3 if one does not, 4 if it cannot be told",
		ArgsUsage: "FILE…",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "require", Value: &expressions{}, Usage: "`EXPR` that must hold, e.g. 'knee.concurrency >= 32' or 'at(8).ttft_ms.p95 <= 500ms' (repeatable)"},
			&cli.StringFlag{Name: "history", Usage: "hold it against the earlier runs of its series in a `FILE` or postgres://… (docs/history.md); without --require that of " + historyVariable},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown, for a ticket"},
			&cli.StringFlag{Name: "junit", Usage: "also write the result as JUnit XML to `FILE`, for CI"},
		},
		Action: runCheck,
	}
}

// runCheck holds a result against gates, against its history, or both.
func runCheck(c *cli.Context) error {
	sources := *c.Generic("require").(*expressions)
	at, withHistory, err := checkedHistory(c, len(sources) > 0)
	if err != nil {
		return usage(err)
	}
	var gates []gate.Expr
	if len(sources) > 0 || !withHistory {
		if gates, err = parseGates(sources); err != nil {
			return usage(err)
		}
	}
	switch {
	case c.NArg() == 0:
		return usagef("check needs a FILE, or several of another tool that make one curve")
	case c.Bool("json") && c.Bool("markdown"):
		return usagef("--json and --markdown: choose one")
	}
	curve, doc, err := curveDocument(c.Args().Slice(), c.App.ErrWriter)
	if err != nil {
		return err
	}
	v := evaluate(gates, doc)
	if withHistory && anyValid(doc) {
		if err := v.judge(c.Context, at, curve); err != nil {
			return failed(err)
		}
	}
	write := v.table
	switch {
	case c.Bool("json"):
		write = v.json
	case c.Bool("markdown"):
		write = v.markdown
	}
	if err := write(c.App.Writer); err != nil {
		return failed(err)
	}
	if c.IsSet("junit") {
		if err := v.junit(c.String("junit"), c.Args().First()); err != nil {
			return failed(fmt.Errorf("--junit: %w", err))
		}
	}
	return v.exit()
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
func curveDocument(paths []string, stderr io.Writer) (analysis.Curve, map[string]any, error) {
	curves, err := readCurves(paths, stderr, "")
	if err != nil {
		return analysis.Curve{}, nil, err
	}
	if len(curves) != 1 {
		return analysis.Curve{}, nil, usagef("check needs the files of one curve, and these make %d", len(curves))
	}
	b, err := report.MarshalCurve(curves[0])
	if err != nil {
		return curves[0], nil, failed(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return curves[0], nil, failed(err)
	}
	return curves[0], doc, nil
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
