package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves the flags of a command in front of its positional arguments:
// urfave/cli stops reading flags at the first positional.
func permute(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args, nil
	}
	words := 2 // the program and its command
	if len(args) > words {
		for _, sub := range cmd.Subcommands {
			if sub.HasName(args[words]) {
				cmd, words = sub, words+1
				break
			}
		}
	}
	takesValue := map[string]bool{"h": false, "help": false}
	for _, f := range cmd.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			takesValue[name] = !isBool
		}
	}
	var flags, positional []string
	rest := args[words:]
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		if a == "--" {
			positional = append(positional, rest[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			positional = append(positional, a)
			continue
		}
		flags = append(flags, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name == "h" || name == "help" {
			return append(slices.Clone(args[:words]), "--help"), nil // a topic of its own needs no other words
		}
		if !takesValue[name] || hasValue {
			continue
		}
		if i+1 == len(rest) {
			return nil, usagef("%s needs a value", dashed(name))
		}
		next, _, _ := strings.Cut(strings.TrimLeft(rest[i+1], "-"), "=")
		if _, known := takesValue[next]; known && strings.HasPrefix(rest[i+1], "--") {
			return nil, usagef("%s needs a value, but %s follows", dashed(name), dashed(next))
		}
		i++
		flags = append(flags, rest[i])
	}
	out := append(slices.Clone(args[:words]), flags...)
	if len(positional) > 0 {
		out = append(append(out, "--"), positional...)
	}
	return out, nil
}

// dashed is a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
