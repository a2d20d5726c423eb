package workload_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"kneesweep/workload"
)

func file(t *testing.T, content string, seed uint64) *workload.File {
	t.Helper()
	f, err := workload.ReadFile(strings.NewReader(content), "dir/p.jsonl", seed, false)
	if err != nil {
		t.Fatal(err)
	}
	f.OutputTokens = 4
	return f
}

// numbered is a file of n different prompts.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"prompt\":\"question %d\"}\n", i)
	}
	return b.String()
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func common(a, b []string) (n int) {
	for _, s := range a {
		if contains(b, s) {
			n++
		}
	}
	return n
}

func sorted(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, "")
}

// take asks for n prompts in a row.
func take(f workload.Source, k workload.Key, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text(f.Prompt(k))
		k.Seq++
	}
	return out
}

// TestFileWalks asks files of all sizes: every visit meets each line that is
// measured once a round, and no warm-up asks one of them.
func TestFileWalks(t *testing.T) {
	for n := 2; n <= 64; n++ {
		f := file(t, numbered(n), 3)
		warm := max(1, n/10)
		for _, level := range []int{1, 2, 3, 8, 100_000} {
			for pass := range 5 {
				k := workload.Key{Concurrency: level, Pass: pass}
				round := take(f, k, n-warm)
				k.Seq = n - warm
				if again := take(f, k, n-warm); !slices.Equal(round, again) {
					t.Errorf("%d lines: the second round has another order", n)
				}
				k = workload.Key{Concurrency: level, Pass: pass, Warmup: true}
				warmups := take(f, k, 3*warm)
				if common(round, warmups) > 0 {
					t.Errorf("%d lines: a warm-up is measured", n)
				}
				if different := len(slices.Compact(strings.SplitAfter(sorted(round)+sorted(warmups), "\n"))) - 1; different != n {
					t.Errorf("%d lines, level %d, pass %d: %d are asked", n, level, pass, different)
				}
			}
		}
		if len(f.Prompt(workload.Key{Warmup: true, Seq: -1}).Messages) == 0 {
			t.Error("no prompt before the first")
		}
	}
}

func TestFileOrders(t *testing.T) {
	f := file(t, numbered(500), 3)
	one := take(f, workload.Key{Concurrency: 1}, 450)
	if other := take(f, workload.Key{Concurrency: 2}, 450); slices.Equal(one, other) || sorted(one) != sorted(other) {
		t.Error("two levels ask other lines, or in the same order")
	}
	seed := take(file(t, numbered(500), 4), workload.Key{Concurrency: 1}, 450)
	if slices.Equal(one, seed) || sorted(one) != sorted(seed) {
		t.Error("another seed chooses other lines, or the same order")
	}
	if !slices.Equal(one, take(file(t, numbered(500), 3), workload.Key{Concurrency: 1}, 450)) {
		t.Error("the same file and seed give another order")
	}
	if first := take(f, workload.Key{Concurrency: 1}, 225); common(first, take(f, workload.Key{Concurrency: 1, Pass: 1}, 225)) > 0 {
		t.Error("the second pass begins among what the first asked")
	}
}

// Copies of a prompt stay on one side.
func TestFileWithCopies(t *testing.T) {
	f := file(t, strings.Repeat(numbered(5), 8)+`{"messages":[{"role":"user","content":"question 3"}],"max_tokens":9}`, 1)
	warm, measured := take(f, workload.Key{Warmup: true}, 100), take(f, workload.Key{}, 100)
	if common(warm, measured) > 0 {
		t.Error("a copy of a warm-up prompt is measured")
	}
	if c := f.Describe().Cache; !strings.Contains(c, "5 different ones in all") || !strings.Contains(c, "8 lines for warm-ups") && !strings.Contains(c, "9 lines for warm-ups") {
		t.Error(c)
	}
	for _, content := range []string{numbered(1), numbered(1) + numbered(1)} {
		f := file(t, content, 1)
		if a, b := text(f.Prompt(workload.Key{})), text(f.Prompt(workload.Key{Warmup: true, Seq: 7})); a != b || a != "user: question 0\n" {
			t.Errorf("got %q and %q", a, b)
		}
		if c := f.Describe().Cache; !strings.Contains(c, "every request asks it, those of the warm-ups too") {
			t.Error(c)
		}
	}
}

func TestFileSpellings(t *testing.T) {
	const plain = `{"prompt":"a b"}` + "\n" + `{"prompt":"c"}` + "\n"
	all := func(content string) string {
		f := file(t, content, 1)
		return sorted(append(take(f, workload.Key{}, 1), take(f, workload.Key{Warmup: true}, 1)...))
	}
	want := all(plain)
	for name, content := range map[string]string{
		"BOM":          "\ufeff" + plain,
		"CRLF":         strings.ReplaceAll(plain, "\n", "\r\n"),
		"empty lines":  "\n \n" + strings.ReplaceAll(plain, "\n", "\n\t\n\n"),
		"no last end":  strings.TrimSpace(plain),
		"other fields": strings.ReplaceAll(plain, "{", `{"id":[{"prompt":1}],"temperature":0.5,`),
		"null limit":   strings.ReplaceAll(plain, "{", `{"max_tokens":null,`),
		"messages":     strings.ReplaceAll(strings.ReplaceAll(plain, `"}`, `","name":"x","tool_calls":[]}]}`), `"prompt":`, `"messages":[{"role":"user","content":`),
	} {
		if got := all(content); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestFileSaysWhatItAsks(t *testing.T) {
	const content = `{"messages":[{"role":"system","content":"Be brief. <&>"},{"role":"user","content":"Why? é"},{"role":"assistant","content":""}],"max_tokens":9}` + "\n"
	f := file(t, content, 1)
	p := f.Prompt(workload.Key{Concurrency: 1})
	if text(p) != "system: Be brief. <&>\nuser: Why? é\nassistant: \n" || p.OutputTokens != 9 || p.InputTokens != 0 || p.ID != 0 {
		t.Errorf("got %+v", p)
	}
	sum := sha256.Sum256([]byte(content))
	if f.Hash() != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s", f.Hash())
	}
	d := f.Describe()
	if d.InputTokensAsked != 0 || d.OutputTokensAsked != 9 || d.Source != "p.jsonl: 1 prompt" {
		t.Errorf("%+v", d)
	}
	f = file(t, content+numbered(3), 1)
	if mean, most := f.Lengths(); mean != (9+4+2+3*(4+3))/4 || most != 15 {
		t.Errorf("%d tokens on average, %d at most", mean, most)
	}
	if d := f.Describe(); d.OutputTokensAsked != 0 || d.Source != "p.jsonl: 4 prompts, answers of at most 4 to 9 tokens" {
		t.Errorf("%+v", d)
	}
	if d := file(t, numbered(3), 1).Describe(); d.OutputTokensAsked != 4 {
		t.Errorf("%+v", d)
	}
	f.OutputTokens = 0
	if err := f.Validate(); err == nil || !strings.Contains(err.Error(), "--output-tokens: 0") {
		t.Error(err)
	}
}

// endless repeats a text for ever, from its beginning in every read.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || len(p)-n >= len(e)) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func TestFileBounds(t *testing.T) {
	const mib = 1 << 20
	line := func(n int) string { return `{"prompt":"` + strings.Repeat("a", n-len(`{"prompt":""}`)) + `"}` }
	for _, end := range []string{"", "\n", "\r\n"} {
		if _, err := workload.ReadFile(strings.NewReader(line(16*mib)+end), "p", 1, false); err != nil {
			t.Errorf("a line of 16 MiB that ends in %q: %v", end, err)
		}
	}
	for want, r := range map[string]io.Reader{
		"p: line 2: longer than 16 MiB": strings.NewReader("\n" + line(16*mib+3)),
		"p: line 1: longer than 16 MiB": endless("x"),
		"p: line 2: no such device":     iotest.ErrReader(errors.New("no such device")),
	} {
		if strings.Contains(want, "no such device") {
			r = io.MultiReader(strings.NewReader(`{"prompt":"a"}`+"\n"), r)
		}
		if _, err := workload.ReadFile(r, "p", 1, false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFileThatNeverEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1 GiB")
	}
	lines := bufio.NewReaderSize(endless(strings.Repeat(" ", 1023)+"\n"), 1024)
	if _, err := workload.ReadFile(lines, "p", 1, false); err == nil || !strings.HasPrefix(err.Error(), "p: larger than 1024 MiB; keep") {
		t.Errorf("got %v", err)
	}
}

// FuzzReadFile: any file is refused in one line that names it, or asked.
func FuzzReadFile(f *testing.F) {
	for _, s := range []string{numbered(3), "", "[]", "{", `{"prompt":null}`, `{"messages":[null]}`, `{"messages":[{"role":"user","content":["a"]}]}`,
		"[", `[{"prompt":"a"},]`, `[{"prompt":"a]"}] {}`, `[{"prompt":"a\"` + "\n" + `"} ,"b"]`,
		`{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}`, `{"custom_id":"1","body":{"messages":[]}}`, `{"body":{"prompt":"a"}}`,
		`{"prompt":"a","max_tokens":1e3}`, "\x1f\x8b", "null", `{"prompt":"a"}{}`, `{"prompt":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		p, err := workload.ReadFile(strings.NewReader(content), "p.jsonl", 1, false)
		if err != nil {
			lines := strings.Split(err.Error(), "\n")
			for _, line := range lines {
				if !strings.HasPrefix(line, "p.jsonl: ") || len(line) > 700 {
					t.Errorf("%q", line)
				}
			}
			if len(lines) > 11 {
				t.Errorf("%d lines", len(lines))
			}
			if p, err = workload.ReadFile(strings.NewReader(content), "p.jsonl", 1, true); err != nil {
				return
			}
			if n, first := p.BadLines(); n < 1 || n < len(first) || len(first) > 10 {
				t.Errorf("%d bad lines were left out, of which %d are told", n, len(first))
			}
		}
		for seq := -1; seq < 3; seq++ {
			for _, warm := range []bool{false, true} {
				if got := p.Prompt(workload.Key{Concurrency: 4, Pass: seq + 1, Warmup: warm, Seq: seq}); len(got.Messages) == 0 {
					t.Error("a prompt without messages")
				}
			}
		}
		_, _ = p.Lengths()
	})
}
