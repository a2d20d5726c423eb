package peers

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"kneesweep/analysis/stat"
	"kneesweep/internal/secret"
	"kneesweep/load"
)

const (
	maxErrorRate = 0.05 // failed share above which a level is not valid: the default of a sweep
	overfull     = 1.10 // mean in flight, in streams, from which the level cannot be what it says
	kept         = 0.98 // share of streams busy from which ramp-up and drain do not matter
	fewestWaves  = 3    // answers per stream that are enough not to be warned of
)

// step makes a level of its runs, each of which is a window.
func step(n int, runs []measured) load.Step {
	s := load.Step{Concurrency: n, Steady: true, Imported: true}
	s.Measurements = known(runs, func(m measured) load.Opt[float64] { return m.throughput })
	if len(s.Measurements) > 0 {
		s.Throughput = load.Some(stat.MedianEstimate(s.Measurements))
	}
	median := func(of func(measured) load.Opt[float64]) load.Opt[float64] {
		x := known(runs, of)
		if len(x) == 0 {
			return load.Opt[float64]{}
		}
		return load.Some(stat.Median(x))
	}
	s.Requests = median(func(m measured) load.Opt[float64] { return m.requests }).V
	s.OutputLengthMean = median(func(m measured) load.Opt[float64] { return m.output })
	s.PromptTokensMean = median(func(m measured) load.Opt[float64] { return m.prompt })
	s.TTFT, s.TPOT = pool(runs, func(m measured) load.Dist { return m.ttft }), pool(runs, func(m measured) load.Dist { return m.tpot })
	s.ICL, s.E2E = pool(runs, func(m measured) load.Dist { return m.icl }), pool(runs, func(m measured) load.Dist { return m.e2e })
	if s.Decode = pool(runs, func(m measured) load.Dist { return m.decode }); !(s.Decode.P50 > 0) {
		s.Decode = rateOf(s.TPOT)
	}
	count(&s, runs)
	judge(&s, runs)
	doubt(&s, runs)
	return s
}

// known are the values of the runs that have one.
func known(runs []measured, of func(measured) load.Opt[float64]) (all []float64) {
	for _, m := range runs {
		if x := of(m); x.OK {
			all = append(all, x.V)
		}
	}
	return all
}

// pool is the distribution of a level: of each member the median over its runs,
// since single values are not in the files.
func pool(runs []measured, of func(measured) load.Dist) load.Dist {
	var d load.Dist
	var p50, p90, p95, p99, mean []float64
	add := func(to *[]float64, x float64) {
		if !math.IsNaN(x) {
			*to = append(*to, x)
		}
	}
	for _, m := range runs {
		x := of(m)
		if x.Count == 0 {
			continue
		}
		d.Count += x.Count
		add(&p50, x.P50)
		add(&p90, x.P90)
		add(&p95, x.P95)
		add(&p99, x.P99)
		add(&mean, x.Mean)
	}
	if d.Count == 0 {
		return d
	}
	d.P50, d.P90, d.P95, d.P99, d.Mean = stat.Median(p50), stat.Median(p90), stat.Median(p95), stat.Median(p99), stat.Median(mean)
	return d
}

// count sums what finished and failed. The error rate is defined when every run
// tells both.
func count(s *load.Step, runs []measured) {
	told := true
	for _, m := range runs {
		s.Finished += m.finished.V
		s.Failed += m.failed.V
		told = told && m.finished.OK && m.failed.OK
		for cause, n := range m.failures {
			if s.Failures == nil {
				s.Failures = map[string]int{}
			}
			s.Failures[cause] += n
		}
	}
	if ended := s.Finished + s.Failed; told && ended > 0 {
		s.ErrorRate = load.Some(float64(s.Failed) / float64(ended))
	}
	s.Waves = float64(s.Finished) / float64(len(runs)) / float64(s.Concurrency)
}

// inFlight is the mean number of requests in flight: as told, or the sum of their
// times divided by the length of the run.
func (m measured) inFlight() load.Opt[float64] {
	if m.busy.OK || !(m.e2e.Mean > 0) {
		return m.busy
	}
	rate := m.requests
	if r := ratio(float(m.finished), m.seconds); r.OK {
		rate = r
	}
	return load.Opt[float64]{V: rate.V * m.e2e.Mean, OK: rate.OK}
}

// judge decides whether the level may enter the fit.
func judge(s *load.Step, runs []measured) {
	var why []string
	if !s.Throughput.OK {
		why = append(why, "no tokens")
	}
	if s.ErrorRate.V > maxErrorRate {
		why = append(why, fmt.Sprintf("error rate %.1f %% over the limit of %.1f %%", 100*s.ErrorRate.V, 100*maxErrorRate))
	}
	for _, m := range runs {
		asked := m.finished.V + m.failed.V
		busy := m.inFlight()
		switch {
		case m.finished.OK && m.span == spanWhole && asked < s.Concurrency:
			why = append(why, fmt.Sprintf("%d requests cannot keep %d streams busy", asked, s.Concurrency))
		case busy.OK && busy.V > overfull*float64(s.Concurrency):
			why = append(why, fmt.Sprintf("%.4g requests were in flight on average, more than the streams it says: its unit of time or its level is not what it seems", busy.V))
		}
	}
	s.Valid = len(why) == 0
	s.InvalidReason = strings.Join(slices.Compact(why), "; ")
}

// doubt attaches what the figures of the level leave open.
func doubt(s *load.Step, runs []measured) {
	add := func(code, format string, args ...any) {
		s.Warnings = append(s.Warnings, load.Warnf(code, format, args...))
	}
	if missing := len(runs) - len(s.Measurements); missing > 0 && s.Throughput.OK {
		add(load.WarnFewSamples, "%d of %d runs have no throughput and count as failed measurements", missing, len(runs))
	}
	if text := lost(s, runs); text != "" {
		add(load.WarnPeerDrain, "%s", text)
	}
	for _, m := range runs {
		for _, text := range m.doubts {
			if w := load.Warnf(load.WarnPeerBias, "%s", text); !slices.Contains(s.Warnings, w) {
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	if s.Finished > 0 && s.Waves < fewestWaves {
		add(load.WarnOneWave, "%.1f answers per stream: at least %d are needed", s.Waves, fewestWaves)
	}
}

// lost says how much ramp-up, drain and dropped tokens may take from the
// throughput of a level, empty if it is little or cannot be told.
func lost(s *load.Step, runs []measured) string {
	busy := stat.Median(known(runs, measured.inFlight))
	if runs[0].span == spanDecode || s.Finished == 0 || busy >= kept*float64(s.Concurrency) {
		return ""
	}
	text := fmt.Sprintf("throughput is too low: %.3g answers per stream", s.Waves)
	if runs[0].span == spanWhole {
		text += " (at the knee of a simulated server 10 read 18 % too low, 5 read 32 %, 2 read 50 %)"
	}
	if !math.IsNaN(busy) {
		text += fmt.Sprintf("; on average %.3g of %d streams were busy with an answer that counts", busy, s.Concurrency)
	}
	return text
}

// masked writes an address without what may be secret in it.
func masked(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	return secret.ShownURL(u)
}
