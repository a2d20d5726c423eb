package workload_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// recorder is a Sender that keeps the text of each prompt by its ID.
type recorder struct {
	sweep.Sender
	mu    sync.Mutex
	texts map[int64]string
}

func (r *recorder) Send(ctx context.Context, p load.Prompt) load.Sample {
	r.mu.Lock()
	r.texts[p.ID] = text(p)
	r.mu.Unlock()
	return r.Sender.Send(ctx, p)
}

// text is all that a prompt says.
func text(p load.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		b.WriteString(m.Role + ": " + m.Content + "\n")
	}
	return b.String()
}

// asked is what a level was asked.
type asked struct{ warmup, measured []string }

// recordSweep runs a real sweep in virtual time and returns what every visit was
// asked, in the order of the requests: by level, then by visit.
func recordSweep(t *testing.T, source workload.Source, levels ...int) map[int][]asked {
	t.Helper()
	out := map[int][]asked{}
	synctest.Test(t, func(t *testing.T) {
		e, err := sim.New(sim.Config{Slots: 3, StepBase: 5 * time.Millisecond, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		epoch := time.Now()
		e.SetEpoch(epoch)
		rec := &recorder{Sender: e, texts: map[int64]string{}}
		var mem sweep.Memory
		local, err := sweep.NewLocal(sweep.Config{
			Sender: rec, Source: source, Sink: mem.Take, Epoch: epoch, Warmup: 5, Window: 300 * time.Millisecond, MaxErrorRate: 0.05,
		})
		if err != nil {
			t.Fatal(err)
		}
		grid := sweep.Grid{Levels: levels, Measurements: 4, Passes: 2}
		for _, l := range grid.Plan() { // all passes, whatever a level shows
			if _, err := local.Hold(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		local.Close()
		visits := make([]asked, len(mem.Visits))
		for id := int64(1); id <= int64(len(rec.texts)); id++ {
			for i := range mem.Samples {
				if s := &mem.Samples[i]; s.ID == id {
					v := &visits[s.Visit]
					if s.Warmup {
						v.warmup = append(v.warmup, rec.texts[id])
					} else {
						v.measured = append(v.measured, rec.texts[id])
					}
				}
			}
		}
		for i, v := range mem.Visits {
			if len(visits[i].warmup) == 0 || len(visits[i].measured) < 10 {
				t.Fatalf("visit %d: %d warm-ups, %d measured", i, len(visits[i].warmup), len(visits[i].measured))
			}
			out[v.Level.Concurrency] = append(out[v.Level.Concurrency], visits[i])
		}
	})
	return out
}

// No prompt of a sweep begins like another, warm-ups included, however short
// prompts are: neither a cache of prefixes nor a warm-up can help a measured one.
func TestPromptsOfASweepStartDifferently(t *testing.T) {
	for _, tokens := range []int{1, 2, 3, 4, 5, 128} {
		t.Run(fmt.Sprint(tokens), func(t *testing.T) {
			seen := map[string]bool{}
			for n, visits := range recordSweep(t, workload.Synthetic{InputTokens: tokens, OutputTokens: 4, Seed: 7}, 1, 2, 4, 10) {
				for _, v := range visits {
					for _, p := range append(v.warmup, v.measured...) {
						p = strings.TrimPrefix(p, "user: ")
						if got := len(strings.Fields(p)); got != tokens {
							t.Errorf("%q has %d words, want %d", p, got, tokens)
						}
						p = p[:min(32, len(p))]
						if seen[p] {
							t.Errorf("level %d: two prompts start with %q", n, p)
						}
						seen[p] = true
					}
				}
			}
			if len(seen) < 100 {
				t.Errorf("only %d prompts were recorded", len(seen))
			}
		})
	}
}

// No warm-up asks what is measured, and no visit repeats a line before it has
// asked all that are measured.
func TestFileInASweep(t *testing.T) {
	const lines = 100
	measured, warmup := map[string]bool{}, map[string]bool{}
	for n, visits := range recordSweep(t, file(t, numbered(lines), 7), 1, 2, 4) {
		for i, v := range visits {
			for j, p := range v.measured {
				if before := v.measured[max(0, j-89):j]; contains(before, p) {
					t.Errorf("level %d, visit %d: %q is asked again after less than 90 others", n, i, p)
				}
				measured[p] = true
			}
			for _, p := range v.warmup {
				warmup[p] = true
			}
		}
		if k := min(len(visits[0].measured), len(visits[1].measured), 45); common(visits[0].measured[:k], visits[1].measured[:k]) > 0 {
			t.Errorf("level %d: the second pass asks what the first asked, although half of the file is new", n)
		}
	}
	for p := range warmup {
		if measured[p] {
			t.Errorf("%q is a warm-up and measured", p)
		}
	}
	if len(measured) < 50 || len(warmup) < 5 {
		t.Errorf("%d prompts were measured, %d in warm-ups", len(measured), len(warmup))
	}
}

// Neither the order of levels nor other levels change what a level is asked.
func TestLevelsAreIndependent(t *testing.T) {
	for name, source := range map[string]workload.Source{
		"synthetic": workload.Synthetic{InputTokens: 3, OutputTokens: 4, Seed: 7},
		"file":      file(t, numbered(30), 7),
		"drawn": workload.Synthetic{
			Input: workload.Normal{Center: 6, Sigma: 3}, Output: workload.Uniform{From: 2, To: 9}, Prefix: workload.Prefix{Tokens: 5, Hit: 0.5}, Seed: 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone, among := recordSweep(t, source, 4), recordSweep(t, source, 8, 4, 2)
			for i := range alone[4] {
				a, b := alone[4][i], among[4][i]
				for _, pair := range [][2][]string{{a.measured, b.measured}, {a.warmup, b.warmup}} {
					n := min(len(pair[0]), len(pair[1]))
					if x, y := sorted(pair[0][:n]), sorted(pair[1][:n]); x != y {
						t.Errorf("visit %d: alone %s, among others %s", i, x, y)
					}
				}
			}
		})
	}
}
