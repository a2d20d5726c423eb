package sim_test

import (
	"testing"
	"time"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sim"
)

// TestFaultsInEveryDialect: a fault is the same failure, whoever tells of it.
func TestFaultsInEveryDialect(t *testing.T) {
	for name, c := range map[string]struct {
		faults       sim.Faults
		stream       load.Cause
		chunks       int
		whole        load.Cause
		text, inFull string
	}{
		"reject":       {sim.Faults{Reject: 1}, "http_500", 0, "http_500", "Internal Server Error", "Internal Server Error"},
		"truncate":     {sim.Faults{Truncate: 1}, load.CauseTruncated, 2, load.CauseReset, "", ""},
		"stream error": {sim.Faults{StreamError: 1}, load.CauseStreamError, 1, load.CauseStreamError, "simulated fault", "simulated fault"},
		"stall":        {sim.Faults{Stall: 1}, load.CauseTimeoutIdle, 1, load.CauseTimeoutFirstToken, "", ""},
	} {
		for _, dialect := range client.Dialects() {
			for _, whole := range []bool{false, true} {
				bubble(t, func(t *testing.T) {
					e := start(t, sim.Config{Slots: 1, StepBase: 10 * ms, Faults: c.faults})
					s := dial(t, e, time.Now(), func(cfg *client.Config) { cfg.Dialect, cfg.NoStream = dialect, whole }).Send(t.Context(), prompt(1, 3, 4))
					cause, chunks, text := c.stream, c.chunks, c.text
					if whole {
						cause, chunks, text = c.whole, 0, c.inFull
					}
					if s.Cause != cause || len(s.Chunks) != chunks || text != "" && s.Error != text {
						t.Errorf("%s, %s, whole %v: %q with %d chunks, %q", name, dialect, whole, s.Cause, len(s.Chunks), s.Error)
					}
				})
			}
		}
	}
}

// TestWordsAreCounted: a prompt has the same length in every dialect, and no usage is
// told of where there is to be none.
func TestWordsAreCounted(t *testing.T) {
	turns := []load.Message{{Role: "system", Content: "a b"}, {Role: "user", Content: "c d e"}}
	for _, dialect := range client.Dialects() {
		for _, cfg := range []sim.Config{{}, {NoUsage: true}} {
			bubble(t, func(t *testing.T) {
				cfg.Slots, cfg.StepBase = 1, 10*ms
				c := dial(t, start(t, cfg), time.Now(), func(c *client.Config) { c.Dialect = dialect })
				s := c.Send(t.Context(), load.Prompt{ID: 1, Messages: turns, OutputTokens: 4})
				want := load.Some(5)
				source := load.SourceServer
				if cfg.NoUsage {
					want, source = load.Opt[int]{}, load.SourceEstimated
				}
				if s.Failed() || s.PromptTokens != want || s.OutputTokens != 4 || s.TokenSource != source {
					t.Errorf("%s: %s %s, %+v words, %d tokens (%s)", dialect, s.Cause, s.Error, s.PromptTokens, s.OutputTokens, s.TokenSource)
				}
				if names, err := c.Models(t.Context()); err != nil || len(names) != 1 || names[0] != "sim" {
					t.Errorf("%s: models %v, %v", dialect, names, err)
				}
			})
		}
	}
}
