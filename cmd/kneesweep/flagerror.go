package main

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"

	"kneesweep/config"
)

var (
	unknownFlag = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	badValue    = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-+([^ :"]+): .*$`)
	secretFlags = []string{"api-key", "header", "target", "history", "webhook", "pushgateway"} // never shown
	secretKeys  = append(slices.Clone(secretFlags), "body")                                    // may name an environment variable in a file
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
	return fmt.Errorf("%s: %s is not %s", dashed(m[2]), m[1], wanted(c, m[2]))
}

// wanted says what kind of value a flag takes.
func wanted(c *cli.Context, name string) string {
	if c.Command != nil {
		if f := flagNamed(c.Command.Flags, name); f != nil && kindOf(f) != config.Text {
			return kindOf(f).String()
		}
	}
	return "a value that it takes"
}
