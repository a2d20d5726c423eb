package workload_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"kneesweep/workload"
)

// asks returns all that a file asks, as text with the longest answers.
func asks(t *testing.T, content string) string {
	t.Helper()
	f := file(t, content, 1)
	var out []string
	for _, warm := range []bool{true, false} {
		for seq := range 12 {
			p := f.Prompt(workload.Key{Warmup: warm, Seq: seq})
			if s := fmt.Sprintf("%d %s", p.OutputTokens, text(p)); !contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return sorted(out)
}

// TestFormats reads each format, as its tools write it.
func TestFormats(t *testing.T) {
	const batch = `{"custom_id":"r-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt","messages":[{"role":"user","content":"Q%d"}],"max_completion_tokens":%d}}` + "\n"
	for name, c := range map[string]struct{ content, want string }{
		"a list":       {`[{"prompt":"[a\"},{"}` + ",\n\n" + `{"messages":[{"role":"user","content":"b"}],"max_tokens":7}]`, "4 user: [a\"},{\n7 user: b\n"},
		"OpenAI batch": {fmt.Sprintf(batch+batch, 1, 1, 5, 2, 2, 6), "5 user: Q1\n6 user: Q2\n"},
		"ShareGPT": {`[
  {"id": "a", "conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "Because of this."}, {"from": "human", "value": "Oh"}]},
  {"id": "b", "conversations": [{"from": "gpt", "value": "(page 2)"}, {"from": "system", "value": "Be kind."}, {"from": "user", "value": "Hm?"}]}
]`, "4 system: Be kind.\nuser: Hm?\n4 user: Why?\n"},
		"ShareGPT lines": {`{"conversations":[{"from":"human","value":"A"},{"from":"gpt","value":"123456789"}]}` + "\n" + `{"conversations":[{"from":"human","value":"B"},{"from":"gpt","value":""}]}`, "3 user: A\n4 user: B\n"},
	} {
		if got := asks(t, c.content); got != c.want {
			t.Errorf("%s: asks\n%swant\n%s", name, got, c.want)
		}
	}
	d := file(t, `[{"conversations":[{"from":"human","value":"A"},{"from":"gpt","value":"123456789"}]}]`, 1).Describe()
	if d.Source != "p.jsonl: 1 prompt (as long as the recorded ones for 1 prompt, at four bytes to a token)" || d.OutputTokensAsked != 3 {
		t.Errorf("%+v", d)
	}
}

// TestSkippedLines: what is wrong is left out and said; what is good is asked.
func TestSkippedLines(t *testing.T) {
	for _, content := range []string{
		"{\"prompt\":\"a\"}\nrubbish\n{\"prompt\":7}\n\xff\n{\"prompt\":\"b\"}\n",
		"[{\"prompt\":\"a\"}, rubbish,\n{\"prompt\":7},{\"prompt\":\"b\"}, \"c",
	} {
		f, err := workload.ReadFile(strings.NewReader(content), "p", 1, true)
		if err != nil {
			t.Fatal(err)
		}
		f.OutputTokens = 4
		n, first := f.BadLines()
		d := f.Describe()
		if n != 3 || len(first) != 3 || d.LeftOut != 3 || d.Source != "p: 2 prompts (3 bad lines left out)" {
			t.Errorf("%d bad lines: %v; %+v", n, first, d)
		}
		if _, err := workload.ReadFile(strings.NewReader(content), "p", 1, false); err == nil || strings.Count(err.Error(), "\n") != 2 {
			t.Errorf("without skipping: %v", err)
		}
	}
}

// TestFileIsHeldOnce reads 32 MiB and looks at what stays.
func TestFileIsHeldOnce(t *testing.T) {
	const size = 32 << 20
	line := `{"prompt":"%06d ` + strings.Repeat("a", 8<<10) + "\"}\n"
	r, w := io.Pipe()
	go func() {
		for i := range size / len(line) {
			fmt.Fprintf(w, line, i)
		}
		w.Close()
	}()
	before := heap()
	f, err := workload.ReadFile(r, "p", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if kept := heap() - before; kept > size*5/4 {
		t.Errorf("%d MiB are kept of %d", kept>>20, size>>20)
	}
	runtime.KeepAlive(f)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
