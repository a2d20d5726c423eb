package report

import (
	"io"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// ours writes a cell of what only we count.
func ours(write func(load.Step) string) func(load.Step) string {
	return func(s load.Step) string {
		if s.Imported {
			return plots.Missing
		}
		return write(s)
	}
}

// auditColumns are the checks of a step that a reader may want to see before
// believing its figures.
var auditColumns = []column{
	{"streams", "", "N", func(s load.Step) string { return whole(s.Concurrency) }},
	{"in flight", "mean / peak", "requests", func(s load.Step) string {
		if !s.InFlight.OK {
			return plots.Missing
		}
		return plots.Fixed(s.InFlight.Mean) + " / " + whole(s.InFlight.Peak)
	}},
	{"Little's law", "", "ratio", func(s load.Step) string { return defined(s.LittlesLaw, plots.Fixed) }},
	{"requests per stream", "", "waves", func(s load.Step) string {
		if s.Imported && s.Finished == 0 {
			return plots.Missing
		}
		return plots.Fixed(s.Waves)
	}},
	{"started / finished / failed / at end", "", "requests", ours(func(s load.Step) string {
		return whole(s.Started) + " / " + whole(s.Finished) + " / " + whole(s.Failed) + " / " + whole(s.InFlightAtEnd)
	})},
	{"connections opened / reused", "", "requests", ours(func(s load.Step) string {
		return whole(s.ConnectionsOpened) + " / " + whole(s.ConnectionsReused)
	})},
	{"replayed / retried", "", "requests", ours(func(s load.Step) string { return whole(s.Replayed) + " / " + whole(s.Retries) })},
	{"output length", "mean", "tokens", func(s load.Step) string { return defined(s.OutputLengthMean, plots.Fixed) }},
	{"cached prompt tokens", "", "share", func(s load.Step) string { return defined(s.CachedShare, percent) }},
	{"drift", "", "last to first pass", func(s load.Step) string { return defined(s.Drift, percent) }},
	{"client CPU", "", "share of the cores it may use", func(s load.Step) string {
		if s.Client.V.Cores == 0 {
			return plots.Missing
		}
		return percent(s.Client.V.CPU)
	}},
	{"client lag", "p99", "ms", func(s load.Step) string {
		switch {
		case !s.Client.OK:
			return plots.Missing
		case s.Client.V.Bound:
			return plots.Fixed(s.Client.V.LagP99*1e3) + " (bound)"
		}
		return plots.Fixed(s.Client.V.LagP99 * 1e3)
	}},
	{"shared stamps", "", "share of chunks", func(s load.Step) string { return defined(s.Client.V.Coalesced, percent) }},
	{"streams empty", "", "share of time", func(s load.Step) string { return defined(s.Client.V.Refill, percent) }},
}

func defined(o load.Opt[float64], write func(float64) string) string {
	if !o.OK {
		return plots.Missing
	}
	return write(o.V)
}

func markdownAudits(w io.Writer, c analysis.Curve) {
	heading, rows := columnsTable(c, auditColumns)
	markdownTable(w, heading, rows)
}
