//go:build accuracy

package accuracy_test

import (
	"fmt"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/load"
)

// TestMatrixKnees holds the knee of every cell of a matrix, prompt length × streaming
// or not × cache cold or warm, against the one that the endpoint has for it: its KV
// cache holds fewer long requests than short ones, and more if a prefix cache has most
// of their prompts.
func TestMatrixKnees(t *testing.T) {
	s := setting(256)
	s.Levels = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
	var table strings.Builder
	table.WriteString("| input tokens | answers | cache | truth | seed 1 | seed 2 | seed 3 |\n|---|---|---|---|---|---|---|\n")
	held, cells := 0, 0
	for _, input := range []int{62, 120, 243} { // of which whole blocks of 16 can be cached
		for _, whole := range []bool{false, true} {
			for _, cache := range []string{load.CacheCold, load.CacheWarm} {
				s.Input, s.Cache = input, cache
				how := map[bool]string{false: "streamed", true: "whole"}[whole]
				row := fmt.Sprintf("| %d | %s | %s |", input, how, cache)
				for seed := uint64(1); seed <= 3; seed++ {
					cfg := s.Endpoint(seed)
					cfg.KVTokens, cfg.PrefixCache = 2000, 20_000
					d, _, _ := overPipe(t, s, cfg, func(c *client.Config) { c.NoStream = whole })
					c := analysis.Analyze(d)
					length := int(c.Run.Request.InputTokensGot.V + 0.5)
					truth := cfg.Truth(length, s.Output)
					if cache == load.CacheWarm {
						truth = cfg.TruthWarm(length, s.Output, min(length/16*16, length-1))
					}
					if seed == 1 {
						row += fmt.Sprintf(" %.4g |", truth.Knee)
					}
					k := c.Knee.Concurrency
					row += cellOf(k)
					cells++
					held += count(k.OK && k.V.Lo <= truth.Knee && truth.Knee <= k.V.Hi)
					if w := c.Warnings; cache == load.CacheWarm && hasCode(w, load.WarnCacheMode) {
						t.Errorf("%s seed %d: %+v", row, seed, w)
					}
				}
				table.WriteString(row + "\n")
			}
		}
	}
	t.Logf("\n%s%d of %d intervals hold the truth\n", table.String(), held, cells)
	if held < 33 {
		t.Errorf("%d of %d intervals hold the truth, want 33", held, cells)
	}
}

func cellOf(k load.Opt[load.Estimate]) string {
	if !k.OK {
		return " none |"
	}
	return fmt.Sprintf(" %.3g (%.3g–%.3g) |", k.V.Value, k.V.Lo, k.V.Hi)
}

func hasCode(all []load.Warning, code string) bool {
	for _, w := range all {
		if w.Code == code {
			return true
		}
	}
	return false
}
