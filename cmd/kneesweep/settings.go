package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/internal/secret"
)

const masked = "set (masked)"

// shownSetting is a setting that is not a default, as --dry-run shows it.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // "flag", FILE:LINE or "environment NAME"
}

type shownSettings []shownSetting

// String is a line for each setting.
func (l shownSettings) String() string {
	name, value := 0, 0
	for _, s := range l {
		name, value = max(name, len(s.Name)), max(value, len(s.Value))
	}
	var b strings.Builder
	for _, s := range l {
		fmt.Fprintf(&b, "  %-*s  %-*s  %s\n", name, s.Name, value, s.Value, s.Source)
	}
	return b.String() + "every other setting has its default\n"
}

// effective lists the settings that are not defaults, in the order of the flags. It
// shows no secret.
func effective(c *cli.Context, target client.Config) shownSettings {
	known := append(secret.FromHeader(target.Headers), append(target.Secrets, target.APIKey)...)
	if u, err := url.Parse(target.URL); err == nil {
		known = append(known, secret.FromURL(u)...)
	}
	mask := secret.NewMasker(known...)
	list := shownSettings{}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		switch {
		case name == "config" || name == "dry-run": // they ask for this list
		case c.IsSet(name):
			list = append(list, shownSetting{name, mask.Mask(shownValue(c, f)), sourcesOf(c).source(name)})
		case name == "api-key" && target.APIKey != "":
			list = append(list, shownSetting{name, masked, "environment " + c.String("api-key-env")})
		}
	}
	return list
}

// shownValue is the value of a flag as it can be shown: as it would be written.
func shownValue(c *cli.Context, f cli.Flag) string {
	name := f.Names()[0]
	value := fmt.Sprint(c.Value(name))
	switch _, repeatable := f.(*cli.StringSliceFlag); {
	case slices.Contains(secretFlags, name), name == "api-key-env" && os.Getenv(value) == "": // perhaps the key itself
		return masked
	case repeatable:
		return strings.Join(c.StringSlice(name), ", ")
	case value == "":
		return "''"
	case name == "url":
		if u, err := url.Parse(value); err == nil {
			return secret.ShownURL(u)
		}
		return masked
	}
	return value
}

// source says where the value of a flag that is set comes from.
func (s *sources) source(name string) string {
	setting, fromFile := s.file[name]
	switch {
	case fromFile && setting.Key.Name == name:
		return setting.At
	case name == "url" && s.environment:
		return "environment " + baseURLVariable
	}
	return "flag"
}
