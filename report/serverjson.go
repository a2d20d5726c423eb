package report

import (
	"fmt"
	"io"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// serverJSON is what the server said of itself; null without its metrics.
type serverJSON struct {
	Engine         string     `json:"engine"`
	Readings       int        `json:"readings"`
	Running        *rangeJSON `json:"running"`
	Waiting        *rangeJSON `json:"waiting"`
	KVUse          *rangeJSON `json:"kv_use"`
	Preemptions    number     `json:"preemptions"`
	PrefixHitShare number     `json:"prefix_hit_share"`
}

// rangeJSON is the mean and the highest of some readings.
type rangeJSON struct {
	Mean number `json:"mean"`
	Max  number `json:"max"`
}

func serverOf(s load.Opt[load.ServerStats]) *serverJSON {
	if !s.OK {
		return nil
	}
	return &serverJSON{
		Engine: s.V.Engine, Readings: s.V.Readings, Running: rangeOf(s.V.Running), Waiting: rangeOf(s.V.Waiting),
		KVUse: rangeOf(s.V.KVUse), Preemptions: finiteOpt(s.V.Preemptions), PrefixHitShare: finiteOpt(s.V.PrefixHitShare),
	}
}

func (j *serverJSON) load() load.Opt[load.ServerStats] {
	if j == nil {
		return load.Opt[load.ServerStats]{}
	}
	return load.Some(load.ServerStats{
		Engine: j.Engine, Readings: j.Readings, Running: j.Running.load(), Waiting: j.Waiting.load(),
		KVUse: j.KVUse.load(), Preemptions: j.Preemptions, PrefixHitShare: j.PrefixHitShare,
	})
}

func rangeOf(r load.Opt[load.Range]) *rangeJSON {
	if !r.OK {
		return nil
	}
	return &rangeJSON{finite(r.V.Mean), finite(r.V.Max)}
}

func (j *rangeJSON) load() load.Opt[load.Range] {
	if j == nil {
		return load.Opt[load.Range]{}
	}
	return load.Some(load.Range{Mean: orNaN(j.Mean), Max: orNaN(j.Max)})
}

var serverHeading = []string{
	"streams, N", "readings", "in work, mean / max", "waiting, mean / max", "KV cache in use, mean / max", "preemptions", "prefix cache hits",
}

// serverRows has a row for each level at which the server said something, and the
// name of its engine.
func serverRows(c analysis.Curve) (engine string, rows [][]string) {
	span := func(r load.Opt[load.Range], write func(float64) string) string {
		if !r.OK {
			return plots.Missing
		}
		return write(r.V.Mean) + " / " + write(r.V.Max)
	}
	for _, s := range c.Steps {
		if !s.Server.OK {
			continue
		}
		v := s.Server.V
		engine = v.Engine
		rows = append(rows, []string{
			whole(s.Concurrency), whole(v.Readings), span(v.Running, plots.Fixed), span(v.Waiting, plots.Fixed),
			span(v.KVUse, percent), defined(v.Preemptions, plots.Fixed), defined(v.PrefixHitShare, percent),
		})
	}
	return engine, rows
}

// markdownServer writes what the server said of itself, if it did.
func markdownServer(w io.Writer, c analysis.Curve) {
	engine, rows := serverRows(c)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "## What the server says\n\nFrom its own metrics (%s), while the windows ran:\n\n", escape(engine))
	markdownTable(w, serverHeading, rows)
}
