package workload_test

import (
	"math"
	"strings"
	"testing"

	"kneesweep/workload"
)

// start is what a cache could know a prompt by.
func start(s string) string {
	s = strings.TrimPrefix(s, "user: ")
	return s[:min(32, len(s))]
}

// TestPrefixHits counts the prompts that begin with a common text: as many as were
// asked for, of a few, of the length that was asked for; the others differ.
func TestPrefixHits(t *testing.T) {
	const n = 4000
	for _, hit := range []float64{0, 0.3, 0.8, 1} {
		s := workload.Synthetic{InputTokens: 6, OutputTokens: 4, Prefix: workload.Prefix{Tokens: 50, Hit: hit}, Seed: 2}
		shared, starts, whole := 0, map[string]int{}, map[string]bool{}
		for seq := range n {
			p := s.Prompt(workload.Key{Concurrency: 2, Seq: seq})
			words := strings.Fields(p.Messages[0].Content)
			if len(words) != 56 || p.InputTokens != 56 {
				t.Fatalf("%d words for %d tokens", len(words), p.InputTokens)
			}
			starts[strings.Join(words[:50], " ")]++
			whole[strings.Join(words[:51], " ")] = true
			if strings.HasPrefix(words[0], "common") {
				shared++
			}
		}
		common := 0
		for _, times := range starts {
			if times > 1 {
				common++
			}
		}
		wantCommon := 4
		if hit == 0 {
			wantCommon = 0
		}
		if got := float64(shared) / n; math.Abs(got-hit) > 0.025 || common != wantCommon || len(whole) != n {
			t.Errorf("hit %v: %.3f of the prompts share %d beginnings; %d of %d differ after it", hit, got, common, len(whole), n)
		}
	}
	d := workload.Synthetic{InputTokens: 6, OutputTokens: 4, Prefix: workload.Prefix{Tokens: 50, Hit: 0.8}}.Describe()
	if !strings.HasPrefix(d.Cache, "80 % of the prompts, drawn by the seed, begin with one of 4 common prefixes of 50 tokens") || d.InputTokensAsked != 56 {
		t.Errorf("%+v", d)
	}
}

// TestConversationsGrow follows streams: each request holds the one before it, an
// answer as long as was allowed, and a question more, until a new conversation.
func TestConversationsGrow(t *testing.T) {
	const turns = 4
	s := workload.Synthetic{InputTokens: 5, Output: workload.Uniform{From: 2, To: 9}, Turns: turns, Seed: 6}
	begins, starts := map[int]int{}, map[string]bool{}
	for stream := range 200 {
		before := s.Prompt(workload.Key{Concurrency: 200, Stream: stream})
		begins[len(before.Messages)]++
		for turn := 1; turn < 3*turns; turn++ {
			p := s.Prompt(workload.Key{Concurrency: 200, Stream: stream, Turn: turn, Seq: 7, Warmup: turn < 3})
			n := 0
			for _, m := range p.Messages {
				n += len(strings.Fields(m.Content))
			}
			if n != p.InputTokens {
				t.Fatalf("%d words for %d tokens", n, p.InputTokens)
			}
			if len(before.Messages) == 2*turns-1 {
				if len(p.Messages) != 1 {
					t.Fatalf("after the last turn come %d messages", len(p.Messages))
				}
				if starts[start(text(p))] {
					t.Fatalf("two conversations start with %q", start(text(p)))
				}
				starts[start(text(p))] = true
			} else if !strings.HasPrefix(text(p), text(before)+"assistant: ") || len(p.Messages) != len(before.Messages)+2 ||
				len(strings.Fields(p.Messages[len(p.Messages)-2].Content)) != before.OutputTokens {
				t.Fatalf("after\n%scomes\n%s", text(before), text(p))
			}
			before = p
		}
	}
	for messages, n := range begins {
		if len(begins) != turns || n < 25 || n > 80 {
			t.Errorf("%d of 200 streams begin with %d messages, want about 50", n, messages)
		}
	}
	d := s.Describe()
	if d.InputTokensAsked != 0 || d.InputLengths.Mean != 5*2.5+5.5*1.5 || !strings.Contains(d.Cache, "begins with all of the one before it") {
		t.Errorf("%+v", d)
	}
}

// TestConversationsInASweep looks at what a sweep asks: no request is asked twice, and
// requests that begin alike are turns of one conversation of one stream.
func TestConversationsInASweep(t *testing.T) {
	s := workload.Synthetic{InputTokens: 5, OutputTokens: 4, Turns: 3, Seed: 6}
	seen, opening, lengths := map[string]bool{}, map[string]int{}, map[int]int{}
	for _, visits := range recordSweep(t, s, 1, 4, 8) {
		for _, v := range visits {
			for _, p := range append(v.warmup, v.measured...) {
				if seen[p] {
					t.Errorf("asked twice: %s", p)
				}
				seen[p] = true
				opening[start(p)]++
				lengths[strings.Count(p, "\n")]++
			}
		}
	}
	for s, n := range opening {
		if n > 3 {
			t.Errorf("%d prompts begin with %q", n, s)
		}
	}
	if len(seen) < 100 || len(lengths) != 3 || min(lengths[1], lengths[3], lengths[5]) < len(seen)/5 {
		t.Errorf("%d prompts, by their messages %v", len(seen), lengths)
	}
}
