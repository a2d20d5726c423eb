package analysis

import (
	"math"

	"kneesweep/analysis/stat"
	"kneesweep/load"
)

const (
	hiddenWarn   = 0.05
	scaledWarn   = 0.20
	cachedWarn   = 0.50
	burstWarn    = 0.20 // difference of the windows' median from their mean
	shortWarn    = 0.90
	replayedWarn = 0.01
	answersWarn  = 0.05 // of the answers that carry a warning of their own
	fewestForP90 = 44   // samples that bound a p90 at 99 % confidence
	fewestWaves  = 3
)

// warn attaches the doubts that the figures of a step leave.
func (d *levelData) warn(st *load.Step) {
	add := func(code, format string, args ...any) {
		st.Warnings = append(st.Warnings, load.Warnf(code, format, args...))
	}
	if st.Client.V.Bound {
		add(load.WarnClientBound, "this is no figure of the endpoint, the client was at its limit: %s", relief)
	}
	if len(st.Measurements) == 0 {
		return
	}
	switch mean := stat.Mean(st.Measurements); {
	case !st.Steady:
		add(load.WarnNotSteady, "throughput still moved during the windows")
	case math.Abs(st.Throughput.V.Value-mean) > burstWarn*mean:
		st.Steady = false
		add(load.WarnNotSteady, "the windows' median of %.4g tokens/s is far from their mean of %.4g: answers come in bursts longer than a window; use a longer --window",
			st.Throughput.V.Value, mean)
	}
	if st.TokenSource == load.SourceEstimated {
		add(load.WarnEstimatedTokens, "no usage of the server to go by: tokens are counted chunks")
	}
	if st.ScaledShare > scaledWarn {
		add(load.WarnEstimatedTokens, "%.0f %% of the tokens belong to requests without a count and are scaled by the rates of the others",
			100*st.ScaledShare)
	}
	if st.HiddenShare.V > hiddenWarn {
		add(load.WarnHiddenTokens, "%.0f %% of the tokens were billed but never streamed", 100*st.HiddenShare.V)
	}
	if st.CachedShare.V > cachedWarn && d.run.Request.CacheMode != load.CacheWarm {
		add(load.WarnHighCacheShare, "%.0f %% of the prompt tokens came from the server's cache", 100*st.CachedShare.V)
	}
	if asked := d.run.Request.OutputTokensAsked; asked > 0 && st.TokenSource != load.SourceEstimated && st.OutputLengthMean.OK && st.OutputLengthMean.V < shortWarn*float64(asked) {
		add(load.WarnShortOutput, "answers had %.0f tokens of the %d asked for", st.OutputLengthMean.V, asked)
	}
	st.Warnings = append(st.Warnings, mixtures(st)...)
	if n := len(d.superseded); n > 0 {
		add(load.WarnRemeasured, "measured again, since its earlier windows (median %.4g tokens/s) contradicted the levels beside it; those no longer count",
			stat.Median(liveRates(d.superseded)))
	}
	if !st.Scout { // its mark says already that it is a glance
		d.warnFew(st)
	}
	if float64(st.Replayed) > replayedWarn*float64(st.Started) {
		add(load.WarnReplayed, "%d of %d requests were sent again on a new connection", st.Replayed, st.Started)
	}
	st.Warnings = append(st.Warnings, d.answersSay(st.Finished)...)
	starved := 0
	for i := range d.stays {
		starved = max(starved, d.stays[i].Starved)
	}
	if starved > 0 {
		add(load.WarnStarved, "%d streams had not finished one request when measuring began", starved)
	}
}

// warnFew says that the figures of a level rest on few answers.
func (d *levelData) warnFew(st *load.Step) {
	if st.Waves < fewestWaves {
		st.Warnings = append(st.Warnings, load.Warnf(load.WarnOneWave,
			"%.1f answers per stream: at least %d are needed, so measure longer", st.Waves, fewestWaves))
	}
	if n := st.E2E.Count; n < fewestForP90 {
		st.Warnings = append(st.Warnings, load.Warnf(load.WarnFewSamples, "%d answers: too few to bound a p90 (%d needed)", n, fewestForP90))
	}
}

func liveRates(visits []load.Visit) (rates []float64) {
	for _, v := range visits {
		rates = append(rates, v.Live.Rates...)
	}
	return rates
}

// answersSay passes on what single answers warn of and the figures of the step
// do not show, when more than a few of them do.
func (d *levelData) answersSay(finished int) []load.Warning {
	var out []load.Warning
	for _, code := range []string{load.WarnBuffered, load.WarnNotStreamed, load.WarnMalformedFrames} {
		n, first := 0, ""
		d.each(func(s *load.Sample, span load.Span) {
			if s.Failed() || !span.Holds(s.End) {
				return
			}
			for _, w := range s.Warnings {
				if w.Code == code {
					if n++; n == 1 {
						first = w.Text
					}
					break
				}
			}
		})
		if float64(n) > answersWarn*float64(finished) {
			out = append(out, load.Warnf(code, "%d of %d answers; the first: %s", n, finished, first))
		}
	}
	return out
}
