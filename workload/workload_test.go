package workload_test

import (
	"strings"
	"sync"
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

// The hash names what is asked: everything that changes a prompt changes it.
func TestHash(t *testing.T) {
	base := workload.Synthetic{InputTokens: 32, OutputTokens: 40, Seed: 7}
	seen := map[string]bool{base.Hash(): true}
	if !seen[(workload.Synthetic{InputTokens: 32, OutputTokens: 40, Seed: 7}).Hash()] {
		t.Error("equal sources have different hashes")
	}
	for _, s := range []workload.Synthetic{
		{InputTokens: 33, OutputTokens: 40, Seed: 7}, {InputTokens: 32, OutputTokens: 41, Seed: 7}, {InputTokens: 32, OutputTokens: 40, Seed: 8},
	} {
		if h := s.Hash(); seen[h] || !strings.HasPrefix(h, "sha256:") {
			t.Errorf("%+v: hash %s", s, h)
		}
		seen[s.Hash()] = true
	}
}

// What a worker is asked does not depend on who asks when.
func TestSyntheticIsSafeForConcurrentUse(t *testing.T) {
	s := workload.Synthetic{InputTokens: 16, OutputTokens: 40, Seed: 7}
	var wg sync.WaitGroup
	got := make([][50]string, 8)
	for w := range got {
		wg.Go(func() {
			for seq := range got[w] {
				got[w][seq] = s.Prompt(workload.Key{Concurrency: 8, Seq: seq}).Messages[0].Content
			}
		})
	}
	wg.Wait()
	for w := range got {
		if got[w] != got[0] {
			t.Fatalf("worker %d got other prompts", w)
		}
	}
	p := s.Prompt(workload.Key{Concurrency: 8})
	if p.ID != 0 || p.OutputTokens != 40 || p.InputTokens != 16 || p.Messages[0].Role != "user" {
		t.Errorf("prompt %+v", p)
	}
	if other := (workload.Synthetic{InputTokens: 16, OutputTokens: 40, Seed: 8}).Prompt(workload.Key{Concurrency: 8}); other.Messages[0].Content == p.Messages[0].Content {
		t.Error("another seed gave the same prompt")
	}
}
