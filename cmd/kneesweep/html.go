package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis/compare"
	"kneesweep/report"
)

// htmlFlags are those of analyze that write a page.
func htmlFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "html", Usage: "also write the report as one page to `FILE`.html"},
		&cli.StringFlag{Name: "baseline", Usage: "with --html: show the differences from an earlier run, `FILE`"},
	}
}

// writeHTML writes the page that --html asks for, if it does.
func writeHTML(c *cli.Context, sources []source) error {
	path := c.String("html")
	switch {
	case path == "" && c.String("baseline") != "":
		return usagef("--baseline: only the page of --html shows it; add --html FILE.html")
	case path == "":
		return nil
	case len(sources) > 1:
		return usagef("--html: works with one curve, and these files make %d", len(sources))
	}
	var against *compare.Comparison
	if old := c.String("baseline"); old != "" {
		before, err := readSources([]string{old}, c.App.ErrWriter, "", true)
		if err != nil {
			return err
		}
		x := compare.Runs([]compare.Run{{Curve: before[0].curve, Data: before[0].data}}, compare.Run{Curve: sources[0].curve, Data: sources[0].data}, compare.Options{})
		against = &x
	}
	var b bytes.Buffer
	if err := report.HTML(&b, sources[0].curve, against); err != nil {
		return failed(fmt.Errorf("--html: %w", err))
	}
	_, err := os.Lstat(path)
	existed := err == nil
	if err := writeWhole(path, b.Bytes()); err != nil {
		return failed(fmt.Errorf("--html: %w", err))
	}
	if existed {
		fmt.Fprintf(c.App.ErrWriter, "%s was there and is replaced\n", path)
	}
	return nil
}
