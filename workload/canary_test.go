package workload_test

import (
	"strings"
	"testing"

	"kneesweep/workload"
)

func canaries(t *testing.T, text string) *workload.Canaries {
	t.Helper()
	c, err := workload.ReadCanaries(strings.NewReader(text), "dir/birds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c.Prompts, c.Share = workload.Synthetic{InputTokens: 8, OutputTokens: 40, Seed: 1}, 0.1
	return c
}

const fourBirds = `{"prompt":"2+2?","exact":"4","max_tokens":5}
{"prompt":"Capital of France?","contains":"Paris"}
{"prompt":"A date?","regex":"^\\d{4}-\\d\\d-\\d\\d$"}
{"messages":[{"role":"system","content":"Write JSON."},{"role":"user","content":"A list?"}],"json":true}
`

// TestCanariesAmongPrompts: every level asks the same questions in the same order, a
// tenth of its prompts; warm-ups and all other prompts stay as they are.
func TestCanariesAmongPrompts(t *testing.T) {
	c := canaries(t, fourBirds)
	for _, n := range []int{1, 8, 64} {
		for pass := range 2 {
			var asked []int
			for seq := range 80 {
				k := workload.Key{Concurrency: n, Pass: pass, Seq: seq}
				p := c.Prompt(k)
				if p.Canary == 0 {
					if plain := c.Prompts.Prompt(k); p.Messages[0] != plain.Messages[0] {
						t.Fatalf("%+v asks %q", k, p.Messages[0].Content)
					}
					continue
				}
				asked = append(asked, p.Canary)
				if want := map[bool]int{true: 5, false: 40}[p.Canary == 1]; p.OutputTokens != want || p.Expected == nil {
					t.Errorf("canary %d: at most %d tokens", p.Canary, p.OutputTokens)
				}
			}
			if len(asked) != 8 {
				t.Errorf("%d streams, pass %d: %d canaries in 80 prompts", n, pass, len(asked))
			}
			for i := 1; i < len(asked); i++ {
				if asked[i] != asked[i-1]%4+1 {
					t.Errorf("%d streams, pass %d: in the order %v", n, pass, asked)
				}
			}
			if p := c.Prompt(workload.Key{Concurrency: n, Pass: pass, Warmup: true}); p.Canary != 0 {
				t.Error("a warm-up asks a canary")
			}
		}
	}
	if d := c.Describe(); !strings.HasSuffix(d.Source, ", every 10th a canary of the 4 in birds.jsonl") {
		t.Errorf("source %q", d.Source)
	}
	other := canaries(t, strings.Replace(fourBirds, "Paris", "Lyon", 1))
	if h := c.Hash(); h == other.Hash() || h == c.Prompts.Hash() || h != canaries(t, fourBirds).Hash() {
		t.Error("the hash does not name the data set")
	}
}

// TestExpectations: what an answer must be, and what it must not.
func TestExpectations(t *testing.T) {
	c := canaries(t, fourBirds)
	expected := map[int]func(string) bool{}
	for seq := range 80 {
		if p := c.Prompt(workload.Key{Concurrency: 1, Seq: seq}); p.Canary > 0 {
			expected[p.Canary] = p.Expected
		}
	}
	for n, answers := range map[int]struct{ good, bad []string }{
		1: {[]string{"4", " 4\n"}, []string{"", "4.", "It is 4"}},
		2: {[]string{"It is Paris."}, []string{"", "paris"}},
		3: {[]string{"2026-12-01"}, []string{"1.12.2026", "2026-12-01."}},
		4: {[]string{"[1]", " {\"a\":[]}\n", "```json\n[1]\n```", "```\n[]```"}, []string{"", "[1", "Here: [1]"}},
	} {
		for _, a := range answers.good {
			if !expected[n](a) {
				t.Errorf("canary %d refuses %q", n, a)
			}
		}
		for _, a := range answers.bad {
			if expected[n](a) {
				t.Errorf("canary %d takes %q", n, a)
			}
		}
	}
}

// TestMalformedCanaries names file and line and the mend.
func TestMalformedCanaries(t *testing.T) {
	for line, want := range map[string]string{
		`{"prompt":"a"}`:                            `says nothing of the answer; a line is {"prompt":"…","contains":"…"}`,
		`{"prompt":"a","exact":"b","json":true}`:    `has both "exact" and "json"; remove one of them`,
		`{"prompt":"a","contains":""}`:              `"contains" is empty: any answer would do`,
		`{"prompt":"a","contains":3}`:               `"contains" is a number; write a text`,
		`{"prompt":"a","regex":"("}`:                `"regex" is no regular expression`,
		`{"prompt":"a","json":false}`:               `"json" is true or false; write true, or leave it out`,
		`{"contains":"a"}`:                          `has neither "messages" nor "prompt"`,
		`{"prompt":"","exact":"b"}`:                 `"prompt" is empty`,
		`{"prompt":"a","exact":"b","max_tokens":0}`: `"max_tokens" is 0`,
		`["a"]`: `a list`,
		`a`:     `not a JSON object`,
	} {
		_, err := workload.ReadCanaries(strings.NewReader("{\"prompt\":\"a\",\"exact\":\"b\"}\n"+line+"\n"), "x.jsonl")
		if err == nil || !strings.HasPrefix(err.Error(), "x.jsonl: line 2: ") || !strings.Contains(err.Error(), want) && line[0] != '[' {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, err := workload.ReadCanaries(strings.NewReader("\n"), "x.jsonl"); err == nil || !strings.Contains(err.Error(), "x.jsonl: no canary in the file; ") {
		t.Errorf("an empty file: %v", err)
	}
}
