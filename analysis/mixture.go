package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kneesweep/load"
)

const (
	mostValues = 20 // of a recorded header that are told apart in a step
	mostNamed  = 3  // of a mixture in the text of a warning
)

// mixtures say which answers of a step did not come from where the others did.
func mixtures(st *load.Step) []load.Warning {
	var all []load.Warning
	switch {
	case len(st.Models) > 1:
		all = append(all, load.Warnf(load.WarnMixedModels, "answers came from %d models: %s", len(st.Models), shares(st.Models)))
	case len(st.Fingerprints) > 1:
		all = append(all, load.Warnf(load.WarnMixedModels, "answers came from %d fingerprints: %s", len(st.Fingerprints), shares(st.Fingerprints)))
	}
	byName := byHeader(st.Headers)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if values := byName[name]; len(values) > 1 {
			all = append(all, load.Warnf(load.WarnMixedHeaders, "answers differ in the header %s: %s", name, shares(values)))
		}
	}
	return all
}

// byHeader tells recorded headers apart: name, then value.
func byHeader(headers map[string]int) map[string]map[string]int {
	all := map[string]map[string]int{}
	for h, n := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][value] = n
	}
	return all
}

// fewValues counts all but the most frequent values of a header together: one that
// differs with each request would otherwise fill the curve.
func fewValues(headers map[string]int) map[string]int {
	kept := map[string]int{}
	for name, values := range byHeader(headers) {
		for i, v := range byCount(values) {
			if i < mostValues {
				kept[name+": "+v] += values[v]
			} else {
				kept[name+": (others)"] += values[v]
			}
		}
	}
	return kept
}

// shares names the most frequent parts of a mixture.
func shares(counts map[string]int) string {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	var parts []string
	for i, name := range byCount(counts) {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-mostNamed))
			break
		}
		parts = append(parts, fmt.Sprintf("%.40s (%d of %d)", name, counts[name], sum))
	}
	return strings.Join(parts, ", ")
}

// byCount are the names, the most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}
