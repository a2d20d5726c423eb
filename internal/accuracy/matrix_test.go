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
// or not, against the one that the endpoint has for it: its KV cache holds fewer long
// requests than short ones.
func TestMatrixKnees(t *testing.T) {
	s := setting(64)
	s.Levels = []int{1, 2, 4, 8, 16, 32, 64, 128}
	var table strings.Builder
	table.WriteString("| input tokens | answers | truth | seed 1 | seed 2 | seed 3 |\n|---|---|---|---|---|---|\n")
	held, cells := 0, 0
	for _, input := range []int{64, 128, 256} {
		for _, whole := range []bool{false, true} {
			s.Input = input
			how := map[bool]string{false: "streamed", true: "whole"}[whole]
			row := fmt.Sprintf("| %d | %s |", input, how)
			for seed := uint64(1); seed <= 3; seed++ {
				cfg := s.Endpoint(seed)
				cfg.KVTokens = 4000
				d, _, _ := overPipe(t, s, cfg, func(c *client.Config) { c.NoStream = whole })
				c := analysis.Analyze(d)
				truth := cfg.Truth(int(c.Run.Request.InputTokensGot.V+0.5), s.Output)
				if seed == 1 {
					row += fmt.Sprintf(" %.4g |", truth.Knee)
				}
				k := c.Knee.Concurrency
				row += cellOf(k)
				cells++
				held += count(k.OK && k.V.Lo <= truth.Knee && truth.Knee <= k.V.Hi)
			}
			table.WriteString(row + "\n")
		}
	}
	t.Logf("\n%s%d of %d intervals hold the truth\n", table.String(), held, cells)
	if held < cells-1 { // 95 % intervals
		t.Errorf("%d of %d intervals hold the truth", held, cells)
	}
}

func cellOf(k load.Opt[load.Estimate]) string {
	if !k.OK {
		return " none |"
	}
	return fmt.Sprintf(" %.3g (%.3g–%.3g) |", k.V.Value, k.V.Lo, k.V.Hi)
}
