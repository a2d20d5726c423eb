package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

func plotCommand() *cli.Command {
	return &cli.Command{
		Name:        "plot",
		Usage:       "draw a figure as PNG, SVG or PDF; several files share one chart",
		ArgsUsage:   "FILE…",
		Description: plotDescription(),
		Flags: append(priceFlags(),
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "write to `FILE`.png, .svg or .pdf"},
			&cli.StringFlag{Name: "figure", Value: figures[0].name, Usage: "draw the figure `NAME`: " + figureNames()},
			&cli.StringFlag{Name: "x", DefaultText: "by the range of the levels", Usage: "`SCALE` of the axis of streams: --x linear or --x log"},
			&cli.IntFlag{Name: "level", DefaultText: "the level nearest to the knee", Usage: "draw the timeline of `N` parallel streams"},
		),
		Action: func(c *cli.Context) error {
			o, err := plotFlags(c)
			if err != nil {
				return err
			}
			sources, err := readSources(o.files, c.App.ErrWriter, "", o.figure.requests)
			if err != nil {
				return err
			}
			price(sources, o.prices)
			if len(sources) > 1 && !o.figure.several {
				return usagef("--figure: %s draws one curve, and these files make %d; call plot once for each", o.figure.name, len(sources))
			}
			fig, err := o.figure.draw(sources, o)
			if err != nil {
				return err
			}
			return outputError(writeFigure(o.out, o.format, fig, c.App.ErrWriter, curvesOf(sources)...))
		},
	}
}

// plotOptions are the flags of plot, checked.
type plotOptions struct {
	files       []string
	out, format string
	figure      plotFigure
	x           plots.Axis
	level       int // 0 = the one nearest to the knee
	prices      load.Prices
}

// plotFigure is a figure that plot draws.
type plotFigure struct {
	name, about string
	several     bool // files share one chart
	streams     bool // it has an axis of streams
	requests    bool // single requests make it better, or are needed
	draw        func([]source, plotOptions) (*plots.Figure, error)
}

// figures are the figures of plot, the default first.
var figures = []plotFigure{
	{"capacity", "throughput with the knee, TTFT and the speed of one stream at each level", true, true, false, drawCapacity},
	{"latency", "p50, p95 and p99 of TTFT, TPOT, ITL and E2E at each level", true, true, false, drawLatency},
	{"pareto", "tokens/s of each stream against tokens/s of all", true, false, false, drawPareto},
	{"cost", "cost of a million output tokens at each level, by the prices of the run or of the flags", true, true, false, drawCost},
	{"ttft-distribution", "quantiles of TTFT at each level, from p5 with a journal, else from p50", false, true, true, drawTTFT},
	{"itl-distribution", "the same of the gaps between tokens", false, true, true, drawITL},
	{"timeline", "one level over time: tokens/s, windows, warm-up, streams in flight; needs a journal", false, false, true, drawTimeline},
}

func figureNames() string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

func plotDescription() string {
	var b strings.Builder
	b.WriteString("FILE is a journal, a curve.json, a CSV, a result file of another tool (all of which make one curve) or the folder of a run. The figures:\n")
	for _, f := range figures {
		fmt.Fprintf(&b, "\n%-18s %s", f.name, f.about)
	}
	return b.String()
}

// plotFlags reads the flags of plot and refuses what does not go together.
func plotFlags(c *cli.Context) (plotOptions, error) {
	o := plotOptions{files: c.Args().Slice(), out: c.String("o"), x: plots.Axis(c.String("x")), level: c.Int("level")}
	o.format = strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	i := slices.IndexFunc(figures, func(f plotFigure) bool { return f.name == c.String("figure") })
	switch {
	case len(o.files) == 0:
		return o, usagef("plot needs at least one FILE")
	case o.out == "":
		return o, usagef("-o: needed, the picture to write")
	case !slices.Contains(plots.Formats(), o.format):
		return o, usagef("-o: %q must end in one of .%s", o.out, strings.Join(plots.Formats(), ", ."))
	case i < 0:
		return o, usagef("--figure: %q is none of %s", c.String("figure"), figureNames())
	}
	o.figure = figures[i]
	prices, err := parsePrices(c)
	if err != nil {
		return o, usage(err)
	}
	o.prices = prices
	switch {
	case o.prices != load.Prices{} && o.figure.name != "cost":
		return o, usagef("--price-…: only the figure cost shows prices; add --figure cost")
	case c.IsSet("x") && o.x != plots.AxisLinear && o.x != plots.AxisLog:
		return o, usagef("--x: %q is not linear or log", string(o.x))
	case c.IsSet("x") && !o.figure.streams:
		return o, usagef("--x: the figure %s has no axis of streams; leave --x out", o.figure.name)
	case c.IsSet("level") && o.figure.name != "timeline":
		return o, usagef("--level: only the figure timeline shows one level; add --figure timeline")
	case c.IsSet("level") && o.level < 1:
		return o, usagef("--level: %d, need at least 1", o.level)
	}
	return o, nil
}

func drawCapacity(sources []source, o plotOptions) (*plots.Figure, error) {
	fig, err := plots.Overlay(curvesOf(sources), o.x)
	return fig, outputError(err)
}

func drawLatency(sources []source, o plotOptions) (*plots.Figure, error) {
	err := o.need(sources, "no latencies", func(s load.Step) bool { return s.TTFT.Count+s.TPOT.Count+s.ITL.Count+s.E2E.Count > 0 })
	if err != nil {
		return nil, err
	}
	fig, err := plots.Latency(curvesOf(sources), o.x)
	return fig, outputError(err)
}

func drawPareto(sources []source, o plotOptions) (*plots.Figure, error) {
	if err := o.need(sources, "no throughput", func(s load.Step) bool { return s.Throughput.OK }); err != nil {
		return nil, err
	}
	fig, err := plots.Pareto(curvesOf(sources))
	return fig, outputError(err)
}

func drawTTFT(sources []source, o plotOptions) (*plots.Figure, error) {
	if err := o.need(sources, "no times to first token", func(s load.Step) bool { return s.TTFT.Count > 0 }); err != nil {
		return nil, err
	}
	c := sources[0].curve
	fig, err := plots.TTFTDistribution(c, analysis.Spreads(c, sources[0].data, analysis.LatencyTTFT), o.x)
	return fig, outputError(err)
}

func drawITL(sources []source, o plotOptions) (*plots.Figure, error) {
	if err := o.need(sources, "no inter-token latencies", func(s load.Step) bool { return s.ITL.Count > 0 }); err != nil {
		return nil, err
	}
	c, d := sources[0].curve, sources[0].data
	if d != nil && d.Summary != nil { // it keeps no arrivals between first and last token, and its levels the quantiles
		d = nil
	}
	fig, err := plots.ITLDistribution(c, analysis.Spreads(c, d, analysis.LatencyITL), o.x)
	return fig, outputError(err)
}

// need is an error for the first file without any level that has what is drawn.
func (o plotOptions) need(sources []source, missing string, has func(load.Step) bool) error {
	for _, s := range sources {
		if !slices.ContainsFunc(s.curve.Steps, has) {
			return o.lacks(s, "it holds "+missing+"; give the journal or the curve.json of a run that has some")
		}
	}
	return nil
}

// lacks says that a figure cannot be drawn from a file, and what can be done.
func (o plotOptions) lacks(s source, text string) error {
	return failed(fmt.Errorf("%s: --figure %s: %s", s.path, o.figure.name, text))
}

func drawTimeline(sources []source, o plotOptions) (*plots.Figure, error) {
	s, level := sources[0], o.level
	if s.data == nil {
		return nil, o.lacks(s, "it holds no single requests; give the run's "+journalFile+" or its folder")
	}
	if s.data.Run.Settings.Journal == load.KeepRequests {
		return nil, o.lacks(s, "its journal keeps no arrivals of tokens (--journal requests); sweep with --journal chunks")
	}
	if level == 0 {
		level, _ = analysis.NearKnee(s.curve)
	}
	t, ok := analysis.NewTimeline(*s.data, level)
	switch {
	case !ok && len(s.curve.Steps) == 0:
		return nil, o.lacks(s, "no level was visited; give the journal of a run that measured something")
	case !ok:
		var levels []string
		for _, step := range s.curve.Steps {
			levels = append(levels, fmt.Sprint(step.Concurrency))
		}
		return nil, usagef("--level: %d was not measured; the levels of %s are %s", level, s.path, strings.Join(levels, ", "))
	}
	return plots.Timeline(s.curve, t), nil
}

// writeFigure writes a figure that is there whole or not at all; one of a single
// curve names its run.
func writeFigure(path, format string, fig *plots.Figure, stderr io.Writer, of ...analysis.Curve) error {
	var picture bytes.Buffer
	if err := fig.Write(&picture, format); err != nil {
		return err
	}
	if format == "png" && len(of) == 1 {
		if err := nameRun(&picture, of[0].Run); err != nil {
			return err
		}
	}
	_, err := os.Lstat(path)
	existed := err == nil
	if err := writeWhole(path, picture.Bytes()); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if existed {
		fmt.Fprintf(stderr, "%s was there and is replaced\n", path)
	}
	return nil
}
