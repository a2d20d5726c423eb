package gate

import (
	"maps"
	"slices"
	"strings"

	"kneesweep/internal/spell"
)

// names lists fields in alphabetical order.
func names(f fields) string { return strings.Join(slices.Sorted(maps.Keys(f)), ", ") }

// unknown says what could stand in the place of a name that f does not have:
// members with a similar name, fields of that name elsewhere, or all members.
func unknown(f field, parent, name string) string {
	if f.members == nil {
		return "want no name here: " + parent + " has no members"
	}
	near := similar(f.members, "", name, false)
	if f.kind == counts {
		return unknownCause(f, near, name)
	}
	if near == nil {
		near = slices.Concat(similar(curve.members, "", name, true), similar(step.members, "at(N).", name, true))
	}
	switch {
	case len(near) > 0:
		return "want a known field: " + strings.Join(near[:min(3, len(near))], ", ") + "?"
	case f.kind != object:
		return "want one of its bounds: " + names(f.members)
	}
	return "want one of " + names(f.members)
}

// unknownCause says what could stand in the place of a cause that there is not.
func unknownCause(f field, near []string, name string) string {
	switch {
	case strings.HasPrefix(strings.ToLower(name), "http"):
		return "want http_ and a status from 100 to 599, such as http_429"
	case len(near) > 0:
		return "want a known cause: " + strings.Join(near[:min(3, len(near))], ", ") + "?"
	}
	return "want http_ and a status, or one of " + names(f.members)
}

// similar lists the paths whose last name is like name, the nearest first; deep
// also looks into members.
func similar(f fields, prefix, name string, deep bool) []string {
	type candidate struct {
		path     string
		distance int
	}
	var found []candidate
	var walk func(f fields, prefix string)
	walk = func(f fields, prefix string) {
		for member, m := range f {
			if d := spell.Distance(strings.ToLower(name), member); d <= len(name)/3 || strings.HasPrefix(member, name) {
				found = append(found, candidate{prefix + member, d})
			}
			if deep && !(prefix == "" && member == "steps") {
				walk(m.members, prefix+member+".")
			}
		}
	}
	walk(f, prefix)
	slices.SortFunc(found, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.path, b.path)
	})
	var paths []string
	for _, c := range found {
		paths = append(paths, c.path)
	}
	return paths
}
