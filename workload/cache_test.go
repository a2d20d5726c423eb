package workload_test

import (
	"strings"
	"testing"

	"kneesweep/load"
	"kneesweep/workload"
)

// keys are those of a small sweep with its warm-ups.
func keys() (all []workload.Key) {
	for _, n := range []int{1, 4, 64} {
		for pass := range 2 {
			for seq := range 70 {
				for _, warm := range []bool{true, false} {
					all = append(all, workload.Key{Concurrency: n, Pass: pass, Warmup: warm, Seq: seq, Stream: seq % n, Turn: seq / n})
				}
			}
		}
	}
	return all
}

func firstWord(p load.Prompt) string { return strings.Fields(p.Messages[0].Content)[0] }

// TestColdPromptsStartDifferently, even those of a file that is asked again and again,
// conversations, and another run with the same seed.
func TestColdPromptsStartDifferently(t *testing.T) {
	file, err := workload.ReadFile(strings.NewReader("{\"prompt\":\"Same beginning, one\"}\n{\"prompt\":\"Same beginning, two\"}\n"), "two.jsonl", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]workload.Prompts{
		"file": file, "words": workload.Synthetic{InputTokens: 8, OutputTokens: 4, Seed: 1},
		"turns": workload.Synthetic{InputTokens: 8, OutputTokens: 4, Seed: 1, Turns: 3},
	} {
		seen := map[string]bool{}
		for _, run := range []string{"r1", "r2"} {
			cold := workload.Cold{Prompts: p, Run: run}
			for _, k := range append(keys(), workload.Preflight) {
				got := cold.Prompt(k)
				if word := firstWord(got); seen[word] {
					t.Fatalf("%s: two requests begin with %q", name, word)
				} else {
					seen[word] = true
				}
				plain := p.Prompt(k)
				if !strings.HasSuffix(got.Messages[0].Content, " "+plain.Messages[0].Content) || len(got.Messages) != len(plain.Messages) {
					t.Fatalf("%s: %q is not %q behind a word", name, got.Messages[0].Content, plain.Messages[0].Content)
				}
			}
		}
		if d := (workload.Cold{Prompts: p}).Describe(); d.CacheMode != load.CacheCold || d.Source != p.Describe().Source {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestWarmPromptsWereSent: every prompt of a sweep is one of those that were sent before
// it, and every level asks each of them as often.
func TestWarmPromptsWereSent(t *testing.T) {
	inner := workload.Synthetic{InputTokens: 8, OutputTokens: 40, Seed: 1}
	warm := workload.Warm{Prompts: inner}
	sent := map[string]bool{}
	for _, p := range warm.Fill() {
		if p.OutputTokens != 1 {
			t.Errorf("an answer of %d tokens, only to fill a cache", p.OutputTokens)
		}
		sent[p.Messages[0].Content] = true
	}
	if len(sent) != workload.WarmPrompts {
		t.Fatalf("%d different prompts", len(sent))
	}
	for _, visit := range []workload.Key{{Concurrency: 1}, {Concurrency: 64, Pass: 1, Warmup: true}} {
		asked := map[string]int{}
		for seq := range 3 * workload.WarmPrompts {
			visit.Seq = seq
			p := warm.Prompt(visit)
			if asked[p.Messages[0].Content]++; !sent[p.Messages[0].Content] || p.OutputTokens != 40 {
				t.Fatalf("%+v asks %q for %d tokens", visit, p.Messages[0].Content, p.OutputTokens)
			}
		}
		for text, n := range asked {
			if n != 3 {
				t.Errorf("%+v: %q is asked %d times", visit, text, n)
			}
		}
	}
	if sent[warm.Prompt(workload.Preflight).Messages[0].Content] {
		t.Error("the preflight asks a measured prompt")
	}
	if d := warm.Describe(); d.CacheMode != load.CacheWarm || warm.Hash() == inner.Hash() {
		t.Errorf("%+v, hash %s", d, warm.Hash())
	}
}
