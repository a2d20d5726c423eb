package workload_test

import (
	"strings"
	"testing"

	"kneesweep/workload"
)

func TestSyntheticIsAFunctionOfItsKey(t *testing.T) {
	s := workload.Synthetic{InputTokens: 32, OutputTokens: 40, Seed: 7}
	k := workload.Key{Concurrency: 8, Pass: 1, Seq: 3}
	a, b := s.Prompt(k), s.Prompt(k)
	if a.Messages[0].Content != b.Messages[0].Content {
		t.Error("the same key gave two prompts")
	}
	if got := len(strings.Fields(a.Messages[0].Content)); got != 32 {
		t.Errorf("%d words, want 32", got)
	}
	seen := map[string]workload.Key{}
	for _, n := range []int{1, 2, 4, 8} {
		for pass := range 2 {
			for seq := range 50 {
				for _, warm := range []bool{false, true} {
					k := workload.Key{Concurrency: n, Pass: pass, Warmup: warm, Seq: seq}
					text := strings.Join(strings.Fields(s.Prompt(k).Messages[0].Content)[:8], " ")
					if other, ok := seen[text]; ok {
						t.Fatalf("%+v and %+v start alike: %q", k, other, text)
					}
					seen[text] = k
				}
			}
		}
	}
}

func TestCalibrateMeetsTheServersCount(t *testing.T) {
	s := workload.Synthetic{InputTokens: 128, OutputTokens: 40, Seed: 7}
	k := workload.Key{Concurrency: 1}
	const perWord = 5
	count := func(s workload.Synthetic) int { return perWord * len(strings.Fields(s.Prompt(k).Messages[0].Content)) }
	if got := count(s.Calibrate(count(s))); got < 125 || got > 131 {
		t.Errorf("after calibration the server counts %d tokens, want 128 to a word", got)
	}
	if got := s.Calibrate(0); got != s {
		t.Errorf("without a count nothing may change, got %+v", got)
	}
	if s.Hash() == s.Calibrate(640).Hash() {
		t.Error("a shorter prompt has the same hash")
	}
}

func TestSyntheticNamesTheFlag(t *testing.T) {
	err := workload.Synthetic{}.Validate()
	if err == nil || !strings.Contains(err.Error(), "--input-tokens") || !strings.Contains(err.Error(), "--output-tokens") {
		t.Errorf("got %v", err)
	}
}
