package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/load"
)

func whereFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "where", Usage: "only the figures of requests with `WHAT`: model=NAME, fingerprint=TEXT or header.NAME=VALUE (repeatable, all must hold; needs a journal with chunks)"}
}

// condition is one --where.
type condition struct {
	text  string
	holds func(*load.Sample) bool
}

// parseWhere reads the conditions.
func parseWhere(c *cli.Context) ([]condition, error) {
	var all []condition
	for _, text := range c.StringSlice("where") {
		what, value, ok := strings.Cut(text, "=")
		header, isHeader := strings.CutPrefix(what, "header.")
		cond := condition{text: text}
		switch {
		case !ok || value == "":
			return nil, fmt.Errorf("--where: %q is not WHAT=VALUE; write model=NAME, fingerprint=TEXT or header.NAME=VALUE", text)
		case what == "model":
			cond.holds = func(s *load.Sample) bool { return s.Model == value }
		case what == "fingerprint":
			cond.holds = func(s *load.Sample) bool { return s.Fingerprint == value }
		case isHeader && header != "":
			want := http.CanonicalHeaderKey(header) + ": " + value
			cond.holds = func(s *load.Sample) bool { return slices.Contains(s.Headers, want) }
		default:
			return nil, fmt.Errorf("--where: %q is none of model, fingerprint and header.NAME", what)
		}
		all = append(all, cond)
	}
	return all, nil
}

// splitSources puts the curves of the requests that match in place of those of all.
func splitSources(sources []source, where []condition) error {
	if len(where) == 0 {
		return nil
	}
	var texts []string
	for _, w := range where {
		texts = append(texts, w.text)
	}
	match := func(s *load.Sample) bool {
		return !slices.ContainsFunc(where, func(w condition) bool { return !w.holds(s) })
	}
	for i := range sources {
		s := &sources[i]
		switch {
		case s.data == nil:
			return failed(fmt.Errorf("%s: --where: it holds no single requests; give the run's %s or its folder", s.path, journalFile))
		case s.data.Summary != nil:
			return failed(fmt.Errorf("%s: --where: its journal keeps no arrivals of tokens (--journal %s); sweep with --journal chunks", s.path, s.data.Run.Settings.Journal))
		}
		whole := s.curve
		s.curve = analysis.Split(*s.data, strings.Join(texts, " and "), match)
		tame(&s.curve)
		if !slices.ContainsFunc(s.curve.Steps, func(st load.Step) bool { return st.Finished > 0 }) {
			return failed(fmt.Errorf("%s: --where: no answer has %s; %w", s.path, strings.Join(texts, " and "), seen(whole)))
		}
	}
	return nil
}

// seen says which models and headers the answers of a curve had.
func seen(c analysis.Curve) error {
	models, headers := map[string]bool{}, map[string]bool{}
	for _, s := range c.Steps {
		for m := range s.Models {
			models[m] = true
		}
		for h := range s.Headers {
			headers[h] = true
		}
	}
	text := "the models were " + strings.Join(slices.Sorted(maps.Keys(models)), ", ")
	if len(models) == 0 {
		text = "no answer names its model"
	}
	if len(headers) > 0 {
		text += "; the headers " + strings.Join(slices.Sorted(maps.Keys(headers)), ", ")
	}
	return errors.New(text)
}
