package main

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"
)

var (
	unknownFlag = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	badValue    = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-+([^ :"]+): .*$`)
	secretFlags = []string{"api-key", "header"}
)

// flagError says in this program's words what the parser of flags refuses: the
// flag as it is written, and what kind of value it takes.
func flagError(c *cli.Context, err error) error {
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		where := "kneesweep"
		if c.Command != nil && c.Command.Name != "" && c.Command.Name != where {
			where += " " + c.Command.Name
		}
		return fmt.Errorf("%s: %s has no such flag", dashed(m[1]), where)
	}
	m := badValue.FindStringSubmatch(text)
	if m == nil || slices.Contains(secretFlags, m[2]) {
		return err
	}
	return fmt.Errorf("%s: %s is not %s", dashed(m[2]), m[1], kindOf(c, m[2]))
}

// kindOf is the kind of value that a flag takes.
func kindOf(c *cli.Context, name string) string {
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			if !slices.Contains(f.Names(), name) {
				continue
			}
			switch f.(type) {
			case *cli.BoolFlag:
				return "true or false"
			case *cli.IntFlag:
				return "a whole number"
			case *cli.Uint64Flag:
				return "a whole number of at least 0"
			case *cli.Float64Flag:
				return "a number"
			case *cli.DurationFlag:
				return "a duration such as 500ms, 30s or 5m"
			}
		}
	}
	return "a value that it takes"
}
