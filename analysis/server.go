package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// serverFigures sums up what the server said of itself inside the windows of the
// level. Counters are taken over each visit from the last reading before its
// windows to the last one inside them.
func (d *levelData) serverFigures(readings []load.Server) load.Opt[load.ServerStats] {
	var out load.ServerStats
	var running, waiting, kv, preempted, hits, queries told
	for i := range d.stays {
		span, before := d.stays[i].span, load.Server{}
		for _, r := range readings {
			switch {
			case r.At < span.From:
				before = r
				continue
			case !span.Holds(r.At):
				continue
			}
			out.Readings++
			out.Engine = r.Engine
			running.add(r.Running)
			waiting.add(r.Waiting)
			kv.add(r.KVUse)
			preempted.grew(before.Preemptions, r.Preemptions)
			hits.grew(before.PrefixHits, r.PrefixHits)
			queries.grew(before.PrefixQueries, r.PrefixQueries)
			before = r
		}
	}
	if out.Readings == 0 {
		return load.Opt[load.ServerStats]{}
	}
	out.Running, out.Waiting, out.KVUse = running.rangeOf(), waiting.rangeOf(), kv.rangeOf()
	if preempted.known {
		out.Preemptions = load.Some(preempted.sum)
	}
	if hits.known && queries.sum > 0 {
		out.PrefixHitShare = load.Some(hits.sum / queries.sum)
	}
	return load.Some(out)
}

// told gathers the readings of one figure.
type told struct {
	values []float64
	sum    float64 // by which a counter grew
	known  bool
}

func (t *told) add(v load.Opt[float64]) {
	if v.OK {
		t.values = append(t.values, v.V)
	}
}

// grew adds what a counter gained; one that fell was started anew.
func (t *told) grew(from, to load.Opt[float64]) {
	if from.OK && to.OK {
		t.known = true
		t.sum += max(0, to.V-from.V)
	}
}

func (t *told) rangeOf() load.Opt[load.Range] {
	if len(t.values) == 0 {
		return load.Opt[load.Range]{}
	}
	return load.Some(load.Range{Mean: stat.Mean(t.values), Max: slices.Max(t.values)})
}

// byTime returns the readings in the order in which they were made.
func byTime(readings []load.Server) []load.Server {
	sorted := slices.Clone(readings)
	slices.SortStableFunc(sorted, func(a, b load.Server) int { return cmp.Compare(a.At, b.At) })
	return sorted
}

// serverEvidence is what the server itself said at the levels at or above the
// knee, in words; empty without readings.
func serverEvidence(steps []load.Step, knee float64) string {
	var at []string
	var engine string
	for _, s := range steps {
		v := s.Server.V
		if !s.Server.OK || !s.Valid || !v.Running.OK || float64(s.Concurrency) < knee*(1-1e-9) {
			continue
		}
		engine = v.Engine
		text := fmt.Sprintf("at N = %d on average %.3g in work", s.Concurrency, v.Running.V.Mean)
		if v.Waiting.OK {
			text += fmt.Sprintf(" and %.3g waiting", v.Waiting.V.Mean)
		}
		if v.KVUse.OK {
			text += fmt.Sprintf(", KV cache up to %.0f %% in use", 100*v.KVUse.V.Max)
		}
		if v.Preemptions.V > 0 {
			text += fmt.Sprintf(", %.0f preemptions", v.Preemptions.V)
		}
		at = append(at, text)
	}
	switch n := len(at); {
	case n == 0:
		return ""
	case n > 2:
		at = []string{at[0], at[n-1]}
	}
	return "the server's own metrics (" + engine + ") say: " + strings.Join(at, "; ")
}
