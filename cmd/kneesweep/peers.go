package main

import (
	"fmt"
	"slices"

	"kneesweep/analysis"
	"kneesweep/record/peers"
)

// joinPeers makes one curve of all result files of another tool, in the place of
// the first: such tools write a file for each level. Other sources stay as they are.
func joinPeers(sources []source, limits string) ([]source, error) {
	var files []peers.File
	for _, s := range sources {
		if s.peer != nil {
			files = append(files, *s.peer)
		}
	}
	if len(files) == 0 {
		return sources, nil
	}
	result, err := peers.Join(files)
	if err != nil {
		return nil, err
	}
	result.Run.Settings.SLO = limits
	curve := analysis.Build(result.Run, result.Steps)
	curve.Warnings = append(curve.Warnings, result.Warnings...)

	first := slices.IndexFunc(sources, func(s source) bool { return s.peer != nil })
	joined := source{path: sources[first].path, curve: curve}
	if more := len(files) - 1; more > 0 {
		joined.path += fmt.Sprintf(" and %d more", more)
	}
	sources[first] = joined
	return slices.DeleteFunc(sources, func(s source) bool { return s.peer != nil }), nil
}
